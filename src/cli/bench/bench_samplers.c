/* SPDX-License-Identifier: MIT */
/* Steps of samplers. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench.h"

/* A sampler to measure. */
typedef struct contender {
    const char *name;
    double step_size;             /* 0: its default */
    const double *preconditioner; /* or NULL */
    int64_t unit;                 /* steps that count as one */
    int64_t chains;
} contender;

/* Run a sampler for `steps` steps; *rate is steps per second. */
static sal_status measure_once(sal_model *model, const bench_options *o, const contender *k,
                               int64_t steps, double *rate, double *seconds, sal_error *err)
{
    sal_run_options run_options = {
        .sampler = k->name,
        .chains = k->chains,
        .warmup = -1,
        .draws = 1,
        .thin = steps,
        .threads = (int)o->threads,
        .seed = 1,
        .step_size = k->step_size,
        .preconditioner = k->preconditioner,
    };
    sal_run *run = NULL;
    sal_run_summary summary;
    sal_status status = sal_sample(model, &run_options, &run, err);
    if (status == SAL_OK) {
        status = sal_run_summarise(run, &summary, err);
    }
    sal_run_destroy(run);
    if (status == SAL_OK) {
        *rate = summary.steps_per_second / (double)k->unit;
        *seconds = summary.seconds;
    }
    return status;
}

/* The median rate over runs of at least 20 ms that together take o->seconds. */
static sal_status measure_sampler(sal_model *model, const bench_options *o, const contender *k,
                                  double *median, sal_error *err)
{
    double rates[1000], spent = 0, seconds = 0;
    int64_t n = 0, steps = 16 * k->unit;
    sal_status status = SAL_OK;
    while (status == SAL_OK && n < 1000 && (spent < o->seconds || n < 5)) {
        status = measure_once(model, o, k, steps, &rates[n], &seconds, err);
        spent += seconds;
        if (seconds < 0.02) {
            steps *= 2;
        } else {
            n++;
        }
    }
    if (status == SAL_OK) {
        *median = bench_median(rates, n);
    }
    return status;
}

/* `factor` times the identity, [N x N], to be freed; NULL when out of memory. */
static double *scaled_identity(const sal_model *model, double factor)
{
    int64_t N = sal_space_width(sal_model_space(model));
    double *M = calloc((size_t)(N * N), sizeof *M);
    for (int64_t i = 0; M && i < N; i++) {
        M[i * N + i] = factor;
    }
    return M;
}

/* Measure a sampler and print its line. Returns an exit code. */
static int measure_named(const bench_case *c, const bench_options *o, sal_model *model,
                         const char *specification, double step_size)
{
    sal_error err = { 0 };
    bool with = strcmp(specification, "pavg") == 0 && c->preconditioner != 0;
    double *M = with ? scaled_identity(model, c->preconditioner) : NULL, rate = 0;
    contender k = { .name = specification,
                    .step_size = step_size,
                    .preconditioner = M,
                    .chains = bench_batch(c, o),
                    .unit = c->sweeps ? sal_space_variables(sal_model_space(model)) : 1 };
    sal_status status = with && !M ? SAL_ERR_MEMORY : measure_sampler(model, o, &k, &rate, &err);
    free(M);
    return status == SAL_OK ? bench_print(c, o, specification, rate) : cli_fail(status, &err);
}

int bench_samplers(const bench_case *c, const bench_options *o, sal_model *model)
{
    const char *names = o->samplers ? o->samplers : c->samplers;
    cli_sampler_item item;
    int code = CLI_OK;
    do {
        code = cli_next_sampler(&names, &item);
        sal_sampler_info info = { 0 };
        bool known =
            code == CLI_OK && sal_sampler_find(item.specification, NULL, 0, &info, NULL) == SAL_OK;
        if (code != CLI_OK || (!known && !o->samplers)) {
            continue;
        }
        if (info.has_step_size && item.step_size == 0) {
            item.step_size = c->step_size;
        }
        code = measure_named(c, o, model, item.specification, item.step_size);
    } while (code == CLI_OK && *names);
    return code;
}
