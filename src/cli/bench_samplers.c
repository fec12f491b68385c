/* Steps of samplers. */
#include <string.h>

#include "cli/bench.h"

/* Steps a second of a run of `steps` steps. */
static sal_status measure_once(sal_model *model, const bench_options *o, const char *sampler,
                               double step_size, int64_t steps, double *rate, double *seconds,
                               sal_error *err)
{
    sal_run_options run_options = {
        .sampler = sampler,
        .chains = o->batch,
        .warmup = -1,
        .draws = 1,
        .thin = steps,
        .threads = (int)o->threads,
        .seed = 1,
        .step_size = step_size,
    };
    sal_run *run = NULL;
    sal_run_summary summary;
    sal_status status = sal_sample(model, &run_options, &run, err);
    if (status == SAL_OK) {
        status = sal_run_summarise(run, &summary, err);
    }
    sal_run_destroy(run);
    if (status == SAL_OK) {
        *rate = summary.steps_per_second;
        *seconds = summary.seconds;
    }
    return status;
}

/* The median over runs of at least 20 ms that together take o->seconds. */
static sal_status measure(sal_model *model, const bench_options *o, const char *sampler,
                          double step_size, double *median, sal_error *err)
{
    double rates[1000], spent = 0, seconds = 0;
    int64_t n = 0, steps = 16;
    sal_status status = SAL_OK;
    while (status == SAL_OK && n < 1000 && (spent < o->seconds || n < 5)) {
        status = measure_once(model, o, sampler, step_size, steps, &rates[n], &seconds, err);
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

int bench_samplers(const bench_case *c, const bench_options *o, sal_model *model)
{
    char sampler[64];
    int code = CLI_OK;
    const char *names = o->samplers ? o->samplers : c->samplers;
    while (code == CLI_OK && *names) {
        size_t length = strcspn(names, ",");
        snprintf(sampler, sizeof sampler, "%.*s", (int)length, names);
        double step_size = strcmp(sampler, "ncg") == 0 ? c->step_size : 0, rate = 0;
        sal_error err = { 0 };
        sal_status status = measure(model, o, sampler, step_size, &rate, &err);
        code = status == SAL_OK ? bench_print(c, o, sampler, rate, 0) : cli_fail(status, &err);
        names += length + (names[length] == ',');
    }
    return code;
}
