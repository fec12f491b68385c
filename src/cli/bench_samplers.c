/* Steps of samplers. */
#include "cli/bench.h"
#include "samplers/sampler.h"

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
    const char *names = o->samplers ? o->samplers : c->samplers;
    cli_sampler_item item;
    int code = CLI_OK;
    do {
        code = cli_next_sampler(&names, &item);
        const sali_sampler *sampler = code ? NULL : sali_sampler_find(item.specification);
        if (code != CLI_OK || (!sampler && !o->samplers)) {
            continue;
        }
        if (sampler && sampler->flags & SALI_SAMPLER_STEP_SIZE && item.step_size == 0) {
            item.step_size = c->step_size;
        }
        double rate = 0;
        sal_error err = { 0 };
        sal_status status = measure(model, o, item.specification, item.step_size, &rate, &err);
        code = status == SAL_OK ? bench_print(c, o, item.specification, rate, 0)
                                : cli_fail(status, &err);
    } while (code == CLI_OK && *names);
    return code;
}
