/* saltus bench: steps of the whole batch a second, as JSON lines. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/bench.h"
#include "cli/json.h"

static const bench_case cases[] = {
    { .name = "ising-dense",
      .specification = "ising-dense:dim=%lld",
      .dim = 100,
      .samplers = "gwg,ncg,avg,pavg,gibbs",
      .step_size = 0.5,
      .measure = bench_samplers },
    { .name = "ordinal",
      .specification = "ordinal-poly2:dim=%lld",
      .dim = 20,
      .samplers = "ncg,gwg",
      .step_size = 0.05,
      .measure = bench_samplers },
    { .name = "ordinal-grad",
      .specification = "ordinal-poly2:dim=%lld",
      .dim = 20,
      .value_too = true,
      .measure = bench_gradient },
    { .name = "conv",
      .specification = "usps-conv:quadratic=1",
      .samplers = "gwg,ncg,avg,pavg",
      .step_size = 0.2,
      .preconditioner = 0.2,
      .measure = bench_samplers },
    { .name = "conv-grad",
      .specification = "usps-conv:quadratic=1",
      .mflops = 11.42, /* of its convolutions, the padding counted */
      .measure = bench_gradient },
    { .name = "mnist-conv-grad", .specification = "mnist-conv", .measure = bench_gradient },
    { .name = "mnist-resnet-grad",
      .specification = "mnist-resnet:channels=64",
      .measure = bench_gradient },
    { .name = "conv-train", .specification = "usps-conv:quadratic=1", .measure = bench_training },
};

#define N_CASES (sizeof cases / sizeof *cases)

double bench_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *numbers, int64_t n)
{
    qsort(numbers, (size_t)n, sizeof *numbers, ascending);
    return numbers[n / 2];
}

double bench_time(void (*work)(void *context), void *context, double seconds)
{
    double times[1000], spent = 0;
    int64_t n = 0, calls = 1;
    while (n < 1000 && (spent < seconds || n < 5)) {
        double start = bench_clock();
        for (int64_t k = 0; k < calls; k++) {
            work(context);
        }
        double taken = bench_clock() - start;
        spent += taken;
        if (taken < 0.02) {
            calls *= 2;
        } else {
            times[n++] = taken / (double)calls;
        }
    }
    return bench_median(times, n);
}

int bench_print(const bench_case *c, const bench_options *o, const char *sampler, double rate,
                double gemm_fraction)
{
    json_t *line = json_pack("{s:s, s:s, s:I, s:I}", "case", c->name, "sampler", sampler, "batch",
                             (json_int_t)o->batch, "threads", (json_int_t)o->threads);
    cli_json_number(line, "steps_per_s", rate);
    cli_json_number(line, "ms_per_step", 1e3 / rate);
    if (gemm_fraction > 0) {
        cli_json_number(line, "gemm_fraction", gemm_fraction);
    }
    return cli_json_print(line);
}

static int run_case(const bench_case *c, const bench_options *o)
{
    char specification[128];
    sal_error err = { 0 };
    sal_model *model = NULL;
    snprintf(specification, sizeof specification, c->specification,
             (long long)(o->dim ? o->dim : c->dim));
    sal_status status = sal_model_builtin(specification, 0, &model, &err);
    int code = status == SAL_OK ? c->measure(c, o, model) : cli_fail(status, &err);
    sal_model_destroy(model);
    return code;
}

static int unknown_case(const char *name)
{
    char names[256] = "";
    for (size_t k = 0; k < N_CASES; k++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", k ? ", " : "", cases[k].name);
    }
    return cli_usage("bench: unknown case '%s'; there are: %s", name, names);
}

static int run_bench(const cli_command *command, int argc, char **argv)
{
    bench_options o = { .batch = 50, .threads = 2, .steps = 50, .seconds = 3 };
    const cli_option table[] = {
        { "batch", CLI_INT, &o.batch, "N", "chains [50]" },
        { "threads", CLI_INT, &o.threads, "N", "[2]" },
        { "dim", CLI_INT, &o.dim, "N", "variables [the case's]" },
        { "samplers", CLI_TEXT, &o.samplers, "A,B", "[the case's]" },
        { "steps", CLI_INT, &o.steps, "K", "sampler steps a training iteration [50]" },
        { "seconds", CLI_REAL, &o.seconds, "X", "for each line [3]" },
        { 0 },
    };
    const char *name = NULL;
    int code = cli_parse(command, argc, argv, table, 1, &name);
    if (code != CLI_OK) {
        return code;
    }
    if (o.batch < 1 || o.threads < 1 || o.steps < 1 || o.dim < 0) {
        return cli_usage("bench: --batch, --threads and --steps must be at least 1");
    }
    for (size_t k = 0; k < N_CASES; k++) {
        if (strcmp(cases[k].name, name) == 0) {
            return run_case(&cases[k], &o);
        }
    }
    return unknown_case(name);
}

const cli_command cli_bench = { "bench", "CASE", "steps a second, as JSON lines", run_bench };
