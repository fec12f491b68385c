/* SPDX-License-Identifier: MIT */
/* BLAS with one thread: shards are the parallelism, and OpenBLAS threads inside them would fight.
 * An OpenBLAS with threads of its own keeps their number for the whole process, so the first
 * begin() sets it to 1 and the last end() puts it back; one on OpenMP keeps it for each thread. The
 * library's mutable globals are what this takes, the free threads (core/threads/threads.c), and the
 * lock of libnetcdf (io/draws/netcdf_posterior.h). */
#ifndef SALI_BLAS_H
#define SALI_BLAS_H

#include <cblas.h>

/* May be nested. */
void sali_blas_single_thread_begin(void);
void sali_blas_single_thread_end(void);

/* For good, of a thread that only works between another thread's begin() and end(). */
void sali_blas_single_thread_here(void);

#endif
