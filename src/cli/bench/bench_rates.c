/* SPDX-License-Identifier: MIT */
/* Measuring the most that the machine can do: matrix products, arithmetic in registers, and memory,
 * by all threads at once, in single precision. */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#include "cli/bench/bench.h"

enum {
    SIDE = 512,     /* of the matrices */
    LANES = 128,    /* numbers in registers */
    ROUNDS = 10000, /* of operations on them */
    FAR = 1 << 23 /* numbers of a thread; with those of the other threads too many for any cache */
};

typedef struct work {
    float *numbers; /* [threads x share] */
    int64_t threads, share, calls;
} work;

/* `calls` times what piece() does, by each thread. */
static void by_all(work *w, int64_t calls, void (*piece)(void *context, int64_t k))
{
    w->calls = calls;
    sal_threads_run(w->threads, (int)w->threads, piece, w);
}

static void multiply_piece(void *context, int64_t k)
{
    const work *w = context;
    float *A = w->numbers + k * w->share, *B = A + SIDE * SIDE;
    for (int64_t call = 0; call < w->calls; call++) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, A, SIDE, B,
                    SIDE, 0, B + SIDE * SIDE, SIDE);
    }
}

/* `calls` matrix products by each thread: the work of bench_time. */
static void multiply_matrices(void *context, int64_t calls)
{
    by_all(context, calls, multiply_piece);
}

/* A copy for each instruction set; clang has none, and sanitizers are not ready when one is chosen.
 */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define MULTIPLY_ADD fmaf
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c)) /* fmaf may be a call */
#endif
static void
accumulate(int64_t rounds, const float *from, float *to)
{
    float sum[LANES];
    for (int k = 0; k < LANES; k++) {
        sum[k] = from[k];
    }
    for (int64_t r = 0; r < rounds; r++) {
#pragma omp simd
        for (int k = 0; k < LANES; k++) {
            sum[k] = MULTIPLY_ADD(sum[k], 0.999f, 0.001f);
        }
    }
    for (int k = 0; k < LANES; k++) {
        to[k] = sum[k];
    }
}

static void multiply_add_piece(void *context, int64_t k)
{
    const work *w = context;
    float *numbers = w->numbers + k * w->share;
    for (int64_t call = 0; call < w->calls; call++) {
        accumulate(ROUNDS, numbers, numbers);
    }
}

/* `calls` times ROUNDS multiply-adds of LANES numbers by each thread. */
static void multiply_add(void *context, int64_t calls)
{
    by_all(context, calls, multiply_add_piece);
}

static void stream_piece(void *context, int64_t k)
{
    const work *w = context;
    float *a = w->numbers + k * w->share, *b = a + FAR / 2;
    for (int64_t call = 0; call < w->calls; call++) {
#pragma omp simd
        for (int64_t i = 0; i < FAR / 2; i++) {
            a[i] += 3 * b[i];
        }
    }
}

/* a[i] += 3 b[i] over FAR / 2 numbers by each thread: two numbers are read, one is written. */
static void stream_memory(void *context, int64_t calls)
{
    by_all(context, calls, stream_piece);
}

/* Work per second of all threads, if one call of one thread does `amount`; 0: out of memory. Each
 * thread has `share` floats. */
static double measure_rate(void (*call)(void *context, int64_t calls), const bench_options *o,
                           int64_t share, double amount)
{
    work w = { .numbers = malloc((size_t)(o->threads * share) * sizeof(float)),
               .threads = o->threads,
               .share = share };
    if (!w.numbers) {
        return 0;
    }
    for (int64_t i = 0; i < o->threads * share; i++) {
        w.numbers[i] = (float)(i % 7);
    }
    double seconds = bench_time(call, &w, 0.2 * o->seconds);
    free(w.numbers);
    return amount * (double)o->threads / seconds;
}

int bench_rates(const bench_options *o, bench_work *rates)
{
    openblas_set_num_threads(1); /* of each of our threads */
    rates->products =
        measure_rate(multiply_matrices, o, INT64_C(3) * SIDE * SIDE, 2.0 * SIDE * SIDE * SIDE);
    rates->arithmetic = measure_rate(multiply_add, o, LANES, 2.0 * LANES * ROUNDS);
    rates->bytes = measure_rate(stream_memory, o, FAR, 1.5 * FAR * sizeof(float));
    bool measured = rates->products > 0 && rates->arithmetic > 0 && rates->bytes > 0;
    return measured ? CLI_OK : cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
}

double bench_bound(const bench_case *c, const bench_options *o, const char *sampler)
{
    if (!o->rates || !c->work) {
        return 0;
    }
    bench_work w = c->work(c, o, sampler);
    double busy = w.products / o->rates->products + w.arithmetic / o->rates->arithmetic;
    return (double)bench_batch(c, o) * fmax(busy, w.bytes / o->rates->bytes);
}
