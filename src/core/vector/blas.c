/* SPDX-License-Identifier: MIT */
#include "core/vector/blas.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users, saved_threads;

void sali_blas_single_thread_begin(void)
{
    pthread_mutex_lock(&lock);
    if (users++ == 0) {
        saved_threads = openblas_get_num_threads();
        if (saved_threads != 1) {
            openblas_set_num_threads(1);
        }
    }
    pthread_mutex_unlock(&lock);
}

void sali_blas_single_thread_end(void)
{
    pthread_mutex_lock(&lock);
    if (--users == 0 && saved_threads != 1) {
        openblas_set_num_threads(saved_threads);
    }
    pthread_mutex_unlock(&lock);
}

void sali_blas_single_thread_here(void)
{
    pthread_mutex_lock(&lock);
    openblas_set_num_threads(1);
    pthread_mutex_unlock(&lock);
}
