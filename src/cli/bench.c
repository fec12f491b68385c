/* saltus bench: steps of the whole batch a second, as JSON lines. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/json.h"

typedef struct options {
    int64_t batch, threads, dim;
    double seconds;
    const char *samplers;
} options;

/* A case: the model, the samplers and the step size that go with it. */
typedef struct bench_case {
    const char *name;
    const char *specification; /* with %lld for --dim */
    int64_t dim;
    const char *samplers;
    double step_size;
} bench_case;

static const bench_case cases[] = {
    { "ising-dense", "ising-dense:dim=%lld", 100, "gwg,ncg,gibbs", 0.5 },
};

#define N_CASES (sizeof cases / sizeof *cases)

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Steps a second of runs of `steps` steps. */
static sal_status measure_once(sal_model *model, const options *o, const char *sampler,
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
static sal_status measure(sal_model *model, const options *o, const char *sampler, double step_size,
                          double *median, sal_error *err)
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
        qsort(rates, (size_t)n, sizeof *rates, ascending);
        *median = rates[n / 2];
    }
    return status;
}

static int bench_sampler(const bench_case *c, const options *o, sal_model *model,
                         const char *sampler)
{
    double rate = 0;
    sal_error err = { 0 };
    bool has_step_size = strcmp(sampler, "ncg") == 0;
    sal_status status = measure(model, o, sampler, has_step_size ? c->step_size : 0, &rate, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    json_t *line = json_pack("{s:s, s:s, s:I, s:I}", "case", c->name, "sampler", sampler, "batch",
                             (json_int_t)o->batch, "threads", (json_int_t)o->threads);
    cli_json_number(line, "steps_per_s", rate);
    cli_json_number(line, "ms_per_step", 1e3 / rate);
    return cli_json_print(line);
}

static int run_case(const bench_case *c, const options *o)
{
    char specification[128], sampler[64];
    sal_error err = { 0 };
    sal_model *model = NULL;
    snprintf(specification, sizeof specification, c->specification,
             (long long)(o->dim ? o->dim : c->dim));
    sal_status status = sal_model_builtin(specification, 0, &model, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    int code = CLI_OK;
    const char *names = o->samplers ? o->samplers : c->samplers;
    while (code == CLI_OK && *names) {
        size_t length = strcspn(names, ",");
        snprintf(sampler, sizeof sampler, "%.*s", (int)length, names);
        code = bench_sampler(c, o, model, sampler);
        names += length + (names[length] == ',');
    }
    sal_model_destroy(model);
    return code;
}

static int run_bench(const cli_command *command, int argc, char **argv)
{
    options o = { .batch = 50, .threads = 2, .seconds = 3 };
    const cli_option table[] = {
        { "batch", CLI_INT, &o.batch, "N", "chains [50]" },
        { "threads", CLI_INT, &o.threads, "N", "[2]" },
        { "dim", CLI_INT, &o.dim, "N", "variables [the case's]" },
        { "samplers", CLI_TEXT, &o.samplers, "A,B", "[the case's]" },
        { "seconds", CLI_REAL, &o.seconds, "X", "for each sampler [3]" },
        { 0 },
    };
    const char *name = NULL;
    int code = cli_parse(command, argc, argv, table, 1, &name);
    if (code != CLI_OK) {
        return code;
    }
    for (size_t k = 0; k < N_CASES; k++) {
        if (strcmp(cases[k].name, name) == 0) {
            return run_case(&cases[k], &o);
        }
    }
    return cli_usage("bench: unknown case '%s'; there is: ising-dense", name);
}

const cli_command cli_bench = { "bench", "CASE", "steps a second, as JSON lines", run_bench };
