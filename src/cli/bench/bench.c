/* SPDX-License-Identifier: MIT */
/* saltus bench: steps of the whole batch per second, as JSON lines or a table. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench.h"

#define MOST_THREADS 4096

/* Open the case's model and measure it. Returns an exit code. */
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

/* Report an unknown case, with a list of all. Returns CLI_USAGE. */
static int unknown_case(const char *name)
{
    char names[300] = "all";
    for (size_t k = 0; k < bench_n_cases; k++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", bench_cases[k].name);
    }
    return cli_usage("bench: unknown case '%s'; there are: %s", name, names);
}

/* Run one case or all as a table; our measurements and the peer's alternate case by case. */
static int run_table(const char *name, bench_options *o, bool json)
{
    bench_lines lines = { 0 };
    int code = CLI_OK;
    o->lines = &lines;
    if (!json) {
        bench_print_head(o);
    }
    for (size_t k = 0; code == CLI_OK && k < bench_n_cases; k++) {
        if (strcmp(name, "all") == 0 || strcmp(name, bench_cases[k].name) == 0) {
            code = run_case(&bench_cases[k], o);
            code = code ? code : bench_ask_peer(&bench_cases[k], o);
            code = code ? code : bench_print_lines(o, json);
        }
    }
    free(lines.lines);
    return code;
}

/* The command `saltus bench`. Returns an exit code. */
static int run_bench(const cli_command *command, int argc, char **argv)
{
    bench_options o = { .threads = 2, .seconds = 3 };
    bool json = false, bound = false;
    bench_work rates;
    const cli_option table[] = {
        { "batch", CLI_INT, &o.batch, "N", "number of chains [the case's, 50]" },
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
        { "bound", CLI_FLAG, &bound, NULL,
          "how long the work of a step takes at the machine's rates (products of matrices, "
          "arithmetic, "
          "memory), which are measured first" },
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
    if (o.batch < 0 || o.threads < 1 || o.threads > MOST_THREADS || o.steps < 0 || o.dim < 0 ||
        o.side < 0 || o.states < 0) {
        return cli_usage("bench: --threads must be 1 to 4096, --batch, sizes and --steps at "
                         "least 0");
    }
    bool all = strcmp(name, "all") == 0;
    const bench_case *chosen = NULL;
    for (size_t k = 0; k < bench_n_cases; k++) {
        chosen = strcmp(bench_cases[k].name, name) == 0 ? &bench_cases[k] : chosen;
    }
    if (!chosen && !all) {
        return unknown_case(name);
    }
    if (bound) {
        code = bench_rates(&o, &rates);
        if (code != CLI_OK) {
            return code;
        }
        o.rates = &rates;
    }
    return all || o.peer || (bound && !json) ? run_table(name, &o, json) : run_case(chosen, &o);
}

const cli_command cli_bench = { "bench", "CASE|all",
                                "measure steps per second, as JSON lines or a table", run_bench };
