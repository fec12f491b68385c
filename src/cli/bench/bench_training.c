/* SPDX-License-Identifier: MIT */
/* Iterations of a training, on data without structure. */
#include <stdlib.h>

#include "cli/bench/bench.h"

enum { MOST = 10000, FEWEST = 5 };

typedef struct clocked {
    double times[MOST]; /* of iterations */
    double start, last, seconds;
    double sampling, gradient; /* seconds of all iterations but the first */
    double first_sampling, first_gradient;
    int64_t n;
} clocked;

/* Callback of progress: record the time of an iteration; not 0 once there are enough. */
static int note(const sal_train_report *report, void *data)
{
    clocked *t = data;
    double now = cli_clock();
    if (t->last > 0) {
        t->times[t->n++] = now - t->last;
    } else { /* the first iteration sets up */
        t->start = now;
        t->first_sampling = report->sampling_seconds;
        t->first_gradient = report->gradient_seconds;
    }
    t->sampling = report->sampling_seconds - t->first_sampling;
    t->gradient = report->gradient_seconds - t->first_gradient;
    t->last = now;
    return t->n == MOST || (t->n >= FEWEST && now - t->start > t->seconds);
}

/* Print the median rate of iterations. Returns an exit code. */
static int print_rate(const bench_case *c, const bench_options *o, clocked *t)
{
    double n = (double)t->n;
    bench_line line = { .bench = c,
                        .rate = 1 / bench_median(t->times, t->n),
                        .sampling_ms = 1e3 * t->sampling / n,
                        .gradient_ms = 1e3 * t->gradient / n };
    snprintf(line.sampler, sizeof line.sampler, "%s-%s-K%lld",
             c->training->objective == SAL_DENOISING ? "denoising" : "pcd", c->training->sampler,
             (long long)bench_steps(c, o));
    line.bound = bench_bound(c, o, line.sampler);
    return bench_print_line(o, &line);
}

int bench_training(const bench_case *c, const bench_options *o, sal_model *model)
{
    sal_error err = { 0 };
    int64_t variables = sal_space_variables(sal_model_space(model)), batch = bench_batch(c, o);
    variables -= sal_model_levels(model) > 0; /* rows have no level */
    sal_data data = { .rows = c->rows > batch ? c->rows : batch, .variables = variables };
    clocked *t = calloc(1, sizeof *t);
    data.codes = malloc((size_t)(data.rows * variables));
    if (!t || !data.codes) {
        free(t);
        free(data.codes);
        return cli_fail(SAL_ERR_MEMORY, &err);
    }
    for (int64_t i = 0; i < data.rows * variables; i++) {
        data.codes[i] = (uint8_t)(i * 7 / 3 % 2);
    }
    t->seconds = o->seconds;
    sal_train_options options = *c->training;
    options.steps = bench_steps(c, o);
    options.iterations = MOST + 1;
    options.batch = batch;
    if (options.objective == SAL_PCD) {
        options.buffer.chains = options.buffer.chains > batch ? options.buffer.chains : batch;
    }
    options.seed = 1;
    options.threads = (int)o->threads;
    options.callbacks.progress = note;
    options.callbacks.progress_data = t;
    sal_status status = sal_train(model, &data, &options, &err);
    int code = status == SAL_OK ? print_rate(c, o, t) : cli_fail(status, &err);
    free(t);
    free(data.codes);
    return code;
}
