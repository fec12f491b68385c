/* SPDX-License-Identifier: MIT */
/* The value and the gradient of the whole batch, and how close that comes to matrix products. */
#include <stdlib.h>

#include "cli/bench/bench.h"
#include "core/vector/blas.h"
#include "core/shard.h"
#include "models/model.h"

/* Shards and threads as the run loop has them. */
typedef struct batch {
    const bench_options *options;
    int64_t shards, width;
    size_t element;
    sali_evaluator **evaluators; /* one a shard */
    char *x, *gradient;          /* real [batch x width] */
    double *f;
} batch;

static void evaluate_shard(void *context, int64_t shard)
{
    batch *b = context;
    int64_t first = sali_shard_first(b->options->batch, b->shards, shard);
    int64_t end = sali_shard_first(b->options->batch, b->shards, shard + 1);
    size_t offset = (size_t)(first * b->width) * b->element;
    sali_gradient(b->evaluators[shard], end - first, NULL, b->x + offset, b->f + first,
                  b->gradient + offset);
}

static void value_shard(void *context, int64_t shard)
{
    batch *b = context;
    int64_t first = sali_shard_first(b->options->batch, b->shards, shard);
    int64_t end = sali_shard_first(b->options->batch, b->shards, shard + 1);
    sali_value(b->evaluators[shard], end - first, NULL,
               b->x + (size_t)(first * b->width) * b->element, b->f + first);
}

static void evaluate_values(void *context)
{
    batch *b = context;
    sali_shard_run(b->shards, (int)b->options->threads, value_shard, b);
}

static void evaluate(void *context)
{
    batch *b = context;
    sali_shard_run(b->shards, (int)b->options->threads, evaluate_shard, b);
}

static void destroy(batch *b)
{
    for (int64_t k = 0; b->evaluators && k < b->shards; k++) {
        sali_evaluator_destroy(b->evaluators[k]);
    }
    free(b->evaluators);
    free(b->x);
    free(b->gradient);
    free(b->f);
}

/* Half of the coordinates 1, the others 0. */
static void fill_states(batch *b, sal_dtype dtype)
{
    uint32_t bits = 1;
    for (int64_t i = 0; i < b->options->batch * b->width; i++) {
        bits = bits * 1664525 + 1013904223;
        if (dtype == SAL_F32) {
            ((float *)(void *)b->x)[i] = (float)(bits >> 31);
        } else {
            ((double *)(void *)b->x)[i] = (double)(bits >> 31);
        }
    }
}

static sal_status create(batch *b, const bench_options *o, const sal_model *model, sal_error *err)
{
    *b = (batch){ .options = o,
                  .shards = sali_shard_count(o->batch),
                  .width = sal_space_width(sal_model_space(model)),
                  .element = model->dtype == SAL_F32 ? sizeof(float) : sizeof(double) };
    size_t numbers = (size_t)(o->batch * b->width);
    b->evaluators = calloc((size_t)b->shards, sizeof(sali_evaluator *));
    b->x = calloc(numbers, b->element);
    b->gradient = calloc(numbers, b->element);
    b->f = calloc((size_t)o->batch, sizeof *b->f);
    if (!b->evaluators || !b->x || !b->gradient || !b->f) {
        return SAL_ERR_MEMORY;
    }
    fill_states(b, model->dtype);
    sal_status status = SAL_OK;
    for (int64_t k = 0; status == SAL_OK && k < b->shards; k++) {
        int64_t chains =
            sali_shard_first(o->batch, b->shards, k + 1) - sali_shard_first(o->batch, b->shards, k);
        status = sali_evaluator_create(model, chains, SALI_WANT_GRADIENT, &b->evaluators[k], err);
    }
    return status;
}

/* ---- the rate of matrix products in single precision */

enum { SIDE = 512 };

static void multiply_one(void *context, int64_t thread)
{
    float *A = (float *)context + 3 * thread * SIDE * SIDE, *B = A + SIDE * SIDE;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, A, SIDE, B, SIDE, 0,
                B + SIDE * SIDE, SIDE);
}

typedef struct products {
    float *matrices;
    int64_t threads;
} products;

static void multiply(void *context)
{
    products *p = context;
    sali_shard_run(p->threads, (int)p->threads, multiply_one, p->matrices);
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
    sal_error err = { 0 };
    sal_status status = create(&b, o, model, &err);
    if (status != SAL_OK) {
        destroy(&b);
        return cli_fail(status, &err);
    }
    int code = CLI_OK;
    if (c->value_too) {
        code = bench_print(c, o, "value", 1 / bench_time(evaluate_values, &b, o->seconds), 0);
    }
    double seconds = bench_time(evaluate, &b, 0.8 * o->seconds),
           rate = c->mflops > 0 ? gemm_rate(o) : 0;
    destroy(&b);
    double operations = 1e6 * c->mflops * (double)o->batch / seconds;
    return code ? code
                : bench_print(c, o, "value+grad", 1 / seconds, rate > 0 ? operations / rate : 0);
}
