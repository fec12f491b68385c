/* SPDX-License-Identifier: MIT */
/* The value and the gradient of the whole batch, and how close that comes to matrix products. */
#include <cblas.h>
#include <stdlib.h>

#include "cli/bench/bench.h"

/* Numbers of the states that a thread evaluates in one call: many batches, so that what a call
 * allocates does not count. */
#define NUMBERS (INT64_C(1) << 20)

/* Each thread evaluates states of its own. */
typedef struct batch {
    const sal_model *model;
    const bench_options *options;
    int64_t most, width; /* states of a call */
    double *x, *f;       /* [threads x most x width], [threads x most] */
    double *gradient;    /* as x; NULL: values only */
    sal_status status;   /* of a call that failed */
    sal_error error;
} batch;

/* The share of `states` that thread k has, in calls of at most b->most. */
static void evaluate_share(batch *b, int64_t k, int64_t states)
{
    const int64_t threads = b->options->threads;
    const int64_t at = k * b->most * b->width;
    int64_t left = states / threads + (k < states % threads);
    while (left > 0) {
        const int64_t n = left < b->most ? left : b->most;
        sal_error err = { 0 };
        sal_status status = sal_model_evaluate_at(b->model, n, b->x + at, b->f + k * b->most,
                                                  b->gradient ? b->gradient + at : NULL, &err);
        if (status != SAL_OK) {
#pragma omp critical
            {
                b->status = status;
                b->error = err;
            }
        }
        left -= n;
    }
}

static void evaluate(void *context, int64_t calls)
{
    batch *b = context;
    const int64_t threads = b->options->threads;
#pragma omp parallel for num_threads((int)threads) schedule(static, 1)
    for (int64_t k = 0; k < threads; k++) {
        evaluate_share(b, k, calls * b->options->batch);
    }
}

static void destroy(batch *b)
{
    free(b->x);
    free(b->gradient);
    free(b->f);
}

/* Half of the coordinates 1, the others 0. */
static bool create(batch *b, const bench_options *o, const sal_model *model)
{
    *b = (batch){ .model = model, .options = o, .width = sal_space_width(sal_model_space(model)) };
    b->most = b->width < NUMBERS ? NUMBERS / b->width : 1;
    const size_t numbers = (size_t)(o->threads * b->most * b->width);
    uint32_t bits = 1;
    b->x = malloc(numbers * sizeof *b->x);
    b->gradient = calloc(numbers, sizeof *b->gradient);
    b->f = calloc((size_t)(o->threads * b->most), sizeof *b->f);
    for (size_t i = 0; b->x && i < numbers; i++) {
        bits = bits * 1664525 + 1013904223;
        b->x[i] = (double)(bits >> 31);
    }
    return b->x && b->gradient && b->f;
}

/* ---- the rate of matrix products in single precision */

enum { SIDE = 512 };

typedef struct products {
    float *matrices;
    int64_t threads;
} products;

static void multiply(void *context, int64_t calls)
{
    products *p = context;
    const int64_t square = (int64_t)SIDE * SIDE;
#pragma omp parallel for num_threads((int)p->threads) schedule(static, 1)
    for (int64_t k = 0; k < p->threads; k++) {
        float *A = p->matrices + 3 * k * square, *B = A + square;
        for (int64_t call = 0; call < calls; call++) {
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, A, SIDE, B,
                        SIDE, 0, B + square, SIDE);
        }
    }
}

/* Operations a second of one product a thread, 0 when out of memory. */
static double gemm_rate(const bench_options *o)
{
    products p = { .threads = o->threads };
    p.matrices = calloc((size_t)o->threads * 3 * SIDE * SIDE, sizeof(float));
    if (!p.matrices) {
        return 0;
    }
    for (int64_t i = 0; i < o->threads * 3 * SIDE * SIDE; i++) {
        p.matrices[i] = (float)(i % 7);
    }
    double seconds = bench_time(multiply, &p, 0.2 * o->seconds);
    free(p.matrices);
    return 2.0 * SIDE * SIDE * SIDE * (double)o->threads / seconds;
}

int bench_gradient(const bench_case *c, const bench_options *o, sal_model *model)
{
    batch b;
    if (!create(&b, o, model)) {
        destroy(&b);
        return cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
    }
    int code = CLI_OK;
    openblas_set_num_threads(1); /* of each of our threads */
    if (c->value_too) {
        double *gradient = b.gradient;
        b.gradient = NULL;
        code = bench_print(c, o, "value", 1 / bench_time(evaluate, &b, o->seconds), 0);
        b.gradient = gradient;
    }
    double seconds = bench_time(evaluate, &b, 0.8 * o->seconds),
           rate = c->mflops > 0 ? gemm_rate(o) : 0;
    destroy(&b);
    if (b.status != SAL_OK) {
        return cli_fail(b.status, &b.error);
    }
    double operations = 1e6 * c->mflops * (double)o->batch / seconds;
    return code ? code
                : bench_print(c, o, "value+grad", 1 / seconds, rate > 0 ? operations / rate : 0);
}
