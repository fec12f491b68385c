/* OpenBLAS picks its kernels by the processor's model number, and takes SSE3 ones for processors
 * that are newer than itself (0.3.21 of Debian 12 does so on recent Xeons), at half the speed or
 * less. The choice can only be made by the environment before it is loaded; so the program sets it
 * and starts itself again, once. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cblas.h>

#include "cli/cli.h"

#define VARIABLE "OPENBLAS_CORETYPE"

static const char *better_kernels(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
        return "SkylakeX";
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return "Haswell";
    }
#endif
    return NULL;
}

void cli_choose_blas_kernels(char **argv)
{
    const char *better = better_kernels();
    char program[4096];
    if (better && !getenv(VARIABLE) && strcmp(openblas_get_corename(), "Prescott") == 0) {
        ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
        if (length > 0 && setenv(VARIABLE, better, 1) == 0) {
            program[length] = '\0';
            execv(program, argv); /* on failure: go on with the slow ones */
        }
    }
}
