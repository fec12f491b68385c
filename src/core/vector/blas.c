/* SPDX-License-Identifier: MIT */
#include "core/vector/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

/* Whether this thread is between begin() and end(), and how often. */
static _Thread_local int depth;

/* ---- OpenBLAS with threads of its own: one count for the process */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users, saved_threads;

static bool owed; /* a child was forked when the count was 1: it is put back by the next end() */

static void begin_process(void)
{
    pthread_mutex_lock(&lock);
    if (users++ == 0) {
        saved_threads = owed ? saved_threads : openblas_get_num_threads();
        owed = false;
        if (saved_threads != 1) {
            openblas_set_num_threads(1);
        }
    }
    pthread_mutex_unlock(&lock);
}

static void end_process(void)
{
    pthread_mutex_lock(&lock);
    if (--users == 0 && saved_threads != 1) {
        openblas_set_num_threads(saved_threads);
    }
    pthread_mutex_unlock(&lock);
}

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&lock);
}

/* A child has no threads that will call end(), but its own. */
static void in_child(void)
{
    if (users > 0) {
        users = depth > 0;
        owed = users == 0;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- OpenBLAS on OpenMP: a count for each thread */

/* OpenMP's functions, of the library that OpenBLAS was linked with; NULL: OpenBLAS is another. */
static int (*openmp_threads)(void);
static void (*set_openmp_threads)(int);
static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Not 0: mold 1.10 gives a program whose thread-local variables are all 0 a misplaced segment, and
 * the program may not start. */
static _Thread_local int saved_here = 1;

static void prepare(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
#ifdef OPENBLAS_OPENMP /* the playground has neither */
    if (openblas_get_parallel() == OPENBLAS_OPENMP) {
        *(void **)&openmp_threads = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
        *(void **)&set_openmp_threads = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    }
#endif
}

static bool is_on_openmp(void)
{
    pthread_once(&once, prepare);
    return openmp_threads && set_openmp_threads;
}

/* ---- either */

void sali_blas_single_thread_begin(void)
{
    if (depth++ > 0) {
        return;
    }
    if (is_on_openmp()) {
        saved_here = openmp_threads();
        set_openmp_threads(1);
    } else {
        begin_process();
    }
}

void sali_blas_single_thread_end(void)
{
    if (--depth > 0) {
        return;
    }
    if (is_on_openmp()) {
        set_openmp_threads(saved_here);
    } else {
        end_process();
    }
}

void sali_blas_single_thread_here(void)
{
    depth = 1;
    if (is_on_openmp()) {
        set_openmp_threads(1);
    }
}
