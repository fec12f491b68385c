/* SPDX-License-Identifier: MIT */
/* BLAS with one thread: shards are the parallelism, and OpenBLAS threads inside them would fight.
 * OpenBLAS keeps its thread count for the whole process, so the first begin() sets it to 1 and the
 * last end() puts it back. Beside the lock of libnetcdf (io/draws/netcdf_posterior.h) and the free
 * threads (core/threads/threads.c), the number of users and the saved count are the library's only
 * mutable globals. */
#ifndef SALI_BLAS_H
#define SALI_BLAS_H

#include <cblas.h>

void sali_blas_single_thread_begin(void);
void sali_blas_single_thread_end(void);

/* The same for a new thread that starts between begin() and end() of its maker, for good: an
 * OpenBLAS that is built on OpenMP keeps a count for each thread. */
void sali_blas_single_thread_here(void);

#endif
