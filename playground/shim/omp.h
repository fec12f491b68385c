/* SPDX-License-Identifier: MIT */
/* OpenMP of one thread. */
#ifndef SHIM_OMP_H
#define SHIM_OMP_H

#include <time.h>

static inline int omp_get_max_threads(void)
{
    return 1;
}
static inline int omp_get_thread_num(void)
{
    return 0;
}
static inline double omp_get_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
