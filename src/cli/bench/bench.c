/* SPDX-License-Identifier: MIT */
/* saltus bench: steps of the whole batch a second, as JSON lines. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/bench/bench.h"

static const sal_train_options conv_training = { .sampler = "gwg",
                                                 .steps = 50,
                                                 .learning_rate = 3e-4 };

/* K = 5 of Rhodes & Gutmann 2022, table 1, whose authors' code makes K + 1 steps. */
static const sal_train_options ising_training = {
    .sampler = "ncg",
    .steps = 6,
    .step_size = 2,
    .buffer = { .chains = 5000, .start = SAL_BUFFER_UNIFORM },
    .optimiser = { .method = SAL_ADAMW, .epsilon = 1e-7 },
    .learning_rate = 3e-4,
    .couplings.l1 = 0.01,
    .fixed = "b"
};

static const bench_case cases[] = {
    { .name = "ising-dense",
      .specification = "ising-dense:dim=%lld",
      .size = 100,
      .size_option = "dim",
      .samplers = "gwg,ncg,avg,pavg,gibbs",
      .step_size = 0.5,
      .peer_has_it = true,
      .measure = bench_samplers },
    { .name = "ising-lattice",
      .specification = "ising:side=%lld,theta=0.2",
      .size = 40,
      .size_option = "side",
      .samplers = "gwg,ncg,gibbs",
      .step_size = 0.5,
      .peer_has_it = true,
      .measure = bench_samplers },
    { .name = "rbm",
      .specification = "rbm:visible=784,hidden=500",
      .samplers = "gwg,ncg,avg,gibbs",
      .step_size = 0.2,
      .peer_has_it = true,
      .measure = bench_samplers },
    { .name = "potts",
      .specification = "potts-dense:dim=%lld,states=%lld",
      .size = 48,
      .size_option = "dim",
      .states = 20,
      .samplers = "gwg",
      .peer_has_it = true,
      .measure = bench_samplers },
    { .name = "potts-gibbs",
      .specification = "potts-dense:dim=%lld,states=%lld",
      .size = 136,
      .size_option = "dim",
      .states = 5,
      .samplers = "gibbs,gibbs:scan=random",
      .sweeps = true,
      .peer_has_it = true,
      .measure = bench_samplers },
    { .name = "ordinal",
      .specification = "ordinal-poly2:dim=%lld",
      .size = 20,
      .size_option = "dim",
      .samplers = "ncg,gwg",
      .step_size = 0.05,
      .dtype = SAL_F32, /* the peer's */
      .peer_has_it = true,
      .measure = bench_samplers },
    { .name = "ordinal-grad",
      .specification = "ordinal-poly2:dim=%lld",
      .size = 20,
      .size_option = "dim",
      .value_too = true,
      .measure = bench_gradient },
    { .name = "conv",
      .specification = "usps-conv:quadratic=1",
      .samplers = "gwg,ncg,avg,pavg,gibbs",
      .step_size = 0.2,
      .preconditioner = 0.2,
      .peer_has_it = true,
      .measure = bench_samplers },
    { .name = "conv-grad",
      .specification = "usps-conv:quadratic=1",
      .peer_has_it = true,
      .mflops = 11.42, /* of its convolutions, the padding counted */
      .measure = bench_gradient },
    { .name = "mnist-conv-grad", .specification = "mnist-conv", .measure = bench_gradient },
    { .name = "mnist-resnet-grad",
      .specification = "mnist-resnet:channels=64",
      .measure = bench_gradient },
    { .name = "conv-train",
      .specification = "usps-conv:quadratic=1",
      .peer_has_it = true,
      .training = &conv_training,
      .measure = bench_training },
    { .name = "ising-train",
      .specification = "ising-dense:dim=%lld,scale=0.01",
      .size = 100,
      .size_option = "dim",
      .training = &ising_training,
      .rows = 10000,
      .measure = bench_training },
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

double bench_time(void (*work)(void *context, int64_t calls), void *context, double seconds)
{
    double times[1000], spent = 0;
    int64_t n = 0, calls = 1;
    while (n < 1000 && (spent < seconds || n < 5)) {
        double start = bench_clock();
        work(context, calls);
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

int64_t bench_size(const bench_case *c, const bench_options *o)
{
    int64_t given = !c->size_option ? 0 : strcmp(c->size_option, "side") == 0 ? o->side : o->dim;
    return given ? given : c->size;
}

int64_t bench_states(const bench_case *c, const bench_options *o)
{
    return o->states && c->states ? o->states : c->states;
}

int64_t bench_steps(const bench_case *c, const bench_options *o)
{
    return o->steps ? o->steps : c->training ? c->training->steps : 50;
}

static int run_case(const bench_case *c, const bench_options *o)
{
    char specification[128];
    sal_error err = { 0 };
    sal_model *model = NULL;
    snprintf(specification, sizeof specification, c->specification, (long long)bench_size(c, o),
             (long long)bench_states(c, o));
    sal_status status = sal_model_open(specification, c->dtype, &model, &err);
    int code = status == SAL_OK ? c->measure(c, o, model) : cli_fail(status, &err);
    sal_model_destroy(model);
    return code;
}

static int unknown_case(const char *name)
{
    char names[300] = "all";
    for (size_t k = 0; k < N_CASES; k++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", cases[k].name);
    }
    return cli_usage("bench: unknown case '%s'; there are: %s", name, names);
}

/* A case, or all, in a table: ours and the peer's alternate case by case. */
static int run_table(const char *name, bench_options *o, bool json)
{
    bench_lines lines = { 0 };
    int code = CLI_OK;
    o->lines = &lines;
    if (!json) {
        bench_print_head(o);
    }
    for (size_t k = 0; code == CLI_OK && k < N_CASES; k++) {
        if (strcmp(name, "all") == 0 || strcmp(name, cases[k].name) == 0) {
            code = run_case(&cases[k], o);
            code = code ? code : bench_ask_peer(&cases[k], o);
            code = code ? code : bench_print_lines(o, json);
        }
    }
    free(lines.lines);
    return code;
}

static int run_bench(const cli_command *command, int argc, char **argv)
{
    bench_options o = { .batch = 50, .threads = 2, .seconds = 3 };
    bool json = false;
    const cli_option table[] = {
        { "batch", CLI_INT, &o.batch, "N", "number of chains [50]" },
        { "threads", CLI_INT, &o.threads, "N", "number of threads [2]" },
        { "dim", CLI_INT, &o.dim, "N", "number of variables [the case's]" },
        { "side", CLI_INT, &o.side, "N", "side of a lattice [the case's]" },
        { "states", CLI_INT, &o.states, "N", "states of a variable [the case's]" },
        { "samplers", CLI_TEXT, &o.samplers, "A,B:key=value",
          "samplers, with step-size=X [the case's]" },
        { "steps", CLI_INT, &o.steps, "K",
          "sampler steps in each training iteration [the case's]" },
        { "seconds", CLI_REAL, &o.seconds, "X", "time for each line [3]" },
        { "peer", CLI_TEXT, &o.peer, "COMMAND",
          "run COMMAND CASE --batch N .. after each case; a table with ratios" },
        { "json", CLI_FLAG, &json, NULL, "JSON lines instead of a table" },
        { 0 },
    };
    const char *name = NULL;
    int code = cli_parse(command, argc, argv, table, 1, &name);
    if (code != CLI_OK) {
        return code;
    }
    if (!(o.seconds > 0)) {
        return cli_usage("bench: --seconds must be positive");
    }
    if (o.batch < 1 || o.threads < 1 || o.steps < 0 || o.dim < 0 || o.side < 0 || o.states < 0) {
        return cli_usage("bench: --batch and --threads must be at least 1, sizes and --steps at "
                         "least 0");
    }
    bool all = strcmp(name, "all") == 0;
    const bench_case *chosen = NULL;
    for (size_t k = 0; k < N_CASES; k++) {
        chosen = strcmp(cases[k].name, name) == 0 ? &cases[k] : chosen;
    }
    if (!chosen && !all) {
        return unknown_case(name);
    }
    return all || o.peer ? run_table(name, &o, json) : run_case(chosen, &o);
}

const cli_command cli_bench = { "bench", "CASE|all",
                                "measure steps per second, as JSON lines or a table", run_bench };
