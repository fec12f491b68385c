/* SPDX-License-Identifier: MIT */
/* What libraries read of the environment when they are loaded, before main. The program sets what
 * the user has not and starts itself again, once. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cblas.h>

#include "cli/cli.h"

/* OpenBLAS picks its kernels by the processor's model number, and takes SSE3 ones for processors
 * that are newer than itself (0.3.21 of Debian 12 does so on recent Xeons), at half the speed or
 * less. */
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

/* Whether the variable is set now, and was not. */
static bool set(const char *variable, const char *value)
{
    return value && !getenv(variable) && setenv(variable, value, 1) == 0;
}

void cli_set_environment(char **argv)
{
    bool slow = strcmp(openblas_get_corename(), "Prescott") == 0;
    bool again = set("OPENBLAS_CORETYPE", slow ? better_kernels() : NULL);
    /* threads that wait for others sleep: on a busy machine they would take the others' time */
    again |= set("OMP_WAIT_POLICY", "passive");
    char program[4096];
    ssize_t length = again ? readlink("/proc/self/exe", program, sizeof program - 1) : 0;
    if (length > 0) {
        program[length] = '\0';
        execv(program, argv); /* on failure: go on as it is */
    }
}
