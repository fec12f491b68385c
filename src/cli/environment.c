/* SPDX-License-Identifier: MIT */
/* Variables of the environment that libraries read when they are loaded, before main. The program
 * sets those that the user has not set, and starts itself again: once, and once more if OpenBLAS
 * chose badly. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cblas.h>

#include "cli/cli.h"

/* The kernels that OpenBLAS should use on this processor; NULL: its own choice. OpenBLAS chooses by
 * the processor's model number, and takes kernels for SSE3 on processors that are newer than itself
 * (0.3.21 of Debian 12 does so on recent Xeons), at half the speed or less. */
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

/* Start the program again with this environment. Returns if that fails, and the program
 * continues. */
static void start_again(char **argv, char **environment)
{
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = '\0';
        execve(program, argv, environment);
    }
}

/* Runs before libraries read the environment: nothing is set up yet, so this works on what the
 * kernel passed, and without sanitizers. It sets what the user has not set, and starts the program
 * again: OpenBLAS would begin threads, which the program does not use, and try for ever where a
 * limit on memory refuses them. */
__attribute__((no_sanitize("address", "undefined"))) static void
before_libraries(int argc, char **argv, char **given)
{
    static char usual[] = "OPENBLAS_NUM_THREADS=1";
    enum { MOST = 4096 };
    static char *environment[MOST + 2];
    int n = 0;
    (void)argc;
    for (; given[n] && n < MOST; n++) {
        environment[n] = given[n];
        if (strncmp(given[n], usual, sizeof "OPENBLAS_NUM_THREADS=" - 1) == 0) {
            return;
        }
    }
    environment[n] = usual;
    if (n < MOST) {
        start_again(argv, environment);
    }
}

__attribute__((section(".preinit_array"),
               used)) static void (*const first)(int, char **, char **) = before_libraries;

void cli_set_environment(char **argv)
{
    const char *kernels =
        strcmp(openblas_get_corename(), "Prescott") == 0 ? better_kernels() : NULL;
    if (kernels && !getenv("OPENBLAS_CORETYPE") && setenv("OPENBLAS_CORETYPE", kernels, 1) == 0) {
        start_again(argv, environ);
    }
}
