/* SPDX-License-Identifier: MIT */
/* The value and the gradient of the whole batch. */
#include <cblas.h>
#include <stdlib.h>

#include "cli/bench/bench.h"

/* Reals in the states that a thread evaluates in one call: many batches, so that what a call
 * allocates does not matter. */
#define NUMBERS (INT64_C(1) << 20)

/* What the threads evaluate; each has states of its own. */
typedef struct batch {
    const sal_model *model;
    const bench_options *options;
    int64_t chains;
    int64_t most, width; /* states of a call, reals of a state */
    double *x, *f;       /* [threads x most x width], [threads x most] */
    double *gradient;    /* as x; NULL: values only */
    int64_t states;      /* to evaluate by all threads together */
    sal_error *errors;   /* [threads] of failed calls */
} batch;

/* Evaluate thread k's share of the states, in calls of at most b->most. */
static void evaluate_share(void *context, int64_t k)
{
    batch *b = context;
    const int64_t threads = b->options->threads, states = b->states;
    const int64_t at = k * b->most * b->width;
    int64_t left = states / threads + (k < states % threads);
    while (left > 0) {
        const int64_t n = left < b->most ? left : b->most;
        sal_model_evaluate_at(b->model, n, b->x + at, b->f + k * b->most,
                              b->gradient ? b->gradient + at : NULL, &b->errors[k]);
        left -= n;
    }
}

/* Evaluate `calls` batches, shared by all threads: the work of bench_time. */
static void evaluate_batches(void *context, int64_t calls)
{
    batch *b = context;
    b->states = calls * b->chains;
    sal_threads_run(b->options->threads, (int)b->options->threads, evaluate_share, b);
}

static void destroy_batch(batch *b)
{
    free(b->x);
    free(b->gradient);
    free(b->f);
    free(b->errors);
}

/* Allocate a batch, with random coordinates 0 and 1; false: out of memory. */
static bool create_batch(batch *b, const bench_case *c, const bench_options *o,
                         const sal_model *model)
{
    *b = (batch){ .model = model,
                  .options = o,
                  .chains = bench_batch(c, o),
                  .width = sal_space_width(sal_model_space(model)) };
    b->most = b->width < NUMBERS ? NUMBERS / b->width : 1;
    const size_t numbers = (size_t)(o->threads * b->most * b->width);
    uint32_t bits = 1;
    b->x = malloc(numbers * sizeof *b->x);
    b->gradient = calloc(numbers, sizeof *b->gradient);
    b->f = calloc((size_t)(o->threads * b->most), sizeof *b->f);
    b->errors = calloc((size_t)o->threads, sizeof *b->errors);
    for (size_t i = 0; b->x && i < numbers; i++) {
        bits = bits * 1664525 + 1013904223;
        b->x[i] = (double)(bits >> 31);
    }
    return b->x && b->gradient && b->f && b->errors;
}

int bench_gradient(const bench_case *c, const bench_options *o, sal_model *model)
{
    batch b;
    if (!create_batch(&b, c, o, model)) {
        destroy_batch(&b);
        return cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
    }
    int code = CLI_OK;
    openblas_set_num_threads(1); /* of each of our threads */
    if (c->value_too) {
        double *gradient = b.gradient;
        b.gradient = NULL;
        code = bench_print(c, o, "value", 1 / bench_time(evaluate_batches, &b, o->seconds));
        b.gradient = gradient;
    }
    double seconds = bench_time(evaluate_batches, &b, o->seconds);
    for (int64_t k = 0; k < o->threads && code == CLI_OK; k++) {
        code = b.errors[k].status ? cli_fail(b.errors[k].status, &b.errors[k]) : CLI_OK;
    }
    destroy_batch(&b);
    return code ? code : bench_print(c, o, "value+grad", 1 / seconds);
}
