/* What the measurements of saltus bench share. */
#ifndef BENCH_H
#define BENCH_H

#include "cli/cli.h"

typedef struct bench_options {
    int64_t batch, threads, dim, steps;
    double seconds;
    const char *samplers;
} bench_options;

/* A case: a model, and what is measured of it. */
typedef struct bench_case {
    const char *name;
    const char *specification; /* with %lld for --dim */
    int64_t dim;
    const char *samplers;
    double step_size;      /* of samplers that have one */
    double preconditioner; /* of pavg: this times the identity; 0: its own choice */
    bool value_too;        /* measure the value alone as well */
    double mflops;         /* of a value and gradient of one state, for gemm_fraction */
    int (*measure)(const struct bench_case *c, const bench_options *o, sal_model *model);
} bench_case;

int bench_samplers(const bench_case *c, const bench_options *o, sal_model *model);
int bench_gradient(const bench_case *c, const bench_options *o, sal_model *model);
int bench_training(const bench_case *c, const bench_options *o, sal_model *model);

/* Seconds of some monotonic clock. */
double bench_clock(void);

/* The median of n >= 1 numbers, which are sorted by it. */
double bench_median(double *numbers, int64_t n);

/* The median time of one call of `work`, from runs of at least 20 ms that together take `seconds`.
 */
double bench_time(void (*work)(void *context), void *context, double seconds);

/* Print one line; gemm_fraction is left out if it is not positive. */
int bench_print(const bench_case *c, const bench_options *o, const char *sampler, double rate,
                double gemm_fraction);

#endif
