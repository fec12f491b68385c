/* Locally balanced samplers on Bayesian networks: table 3 and figures 5 and 8 of Sansone (2022),
 * which take two networks of the 2006 UAI competition, of 100 variables each.
 *
 *     bayes [--quick | --full] [--svg FIGURE.svg] [NETWORK.uai ..]
 *
 * Without a file: a network of its own, of 100 two-level variables that are the exclusive or of two
 * earlier ones with probability .95. 5 chains, 500 iterations of burn-in and 10,000 after it, as in
 * the paper; --full has 30 chains, for the paper's figures of 5 vary much. No evidence is set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../program.h"
#include "trace.h"

/* Variable v with tables over (parent, parent, v), the parents v - 1 and v - 3; the first three are
 * free. */
static sal_status made_network(int variables, sal_model **model, sal_error *err)
{
    enum { MOST = 100 };
    int32_t states[MOST];
    int64_t begin[MOST], scope[3 * MOST];
    double table[8 * MOST];
    for (int v = 0; v < variables; v++) {
        states[v] = 2;
    }
    for (int k = 0; k <= variables - 3; k++) {
        begin[k] = 3 * k;
    }
    for (int v = 3; v < variables; v++) {
        const int k = v - 3;
        scope[3 * k] = v - 3;
        scope[3 * k + 1] = v - 1;
        scope[3 * k + 2] = v;
        for (int cell = 0; cell < 8; cell++) {
            bool odd = (cell ^ cell >> 1 ^ cell >> 2) & 1;
            table[8 * k + cell] = log(odd ? 0.05 : 0.95);
        }
    }
    return sal_model_from_factors(variables, states, variables - 3, begin, scope, table, SAL_F64,
                                  model, err);
}

/* A path without its folders. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* `path` NULL: the program's own network. */
static sal_status run_network(const char *path, size scale, sal_figure *figure, sal_error *err)
{
    sal_model *model = NULL;
    trace traces[METHODS] = { 0 };
    const char *title = path ? base_name(path) : "exclusive or";
    const trace_options o = { .chains = scale == FULL ? 30 : 5,
                              .burn_in = scale == QUICK ? 200 : 500,
                              .iterations = scale == QUICK ? 2000 : 10000,
                              .lag = 20 };
    sal_status status = path ? sal_model_open(path, 0, &model, err)
                             : made_network(scale == QUICK ? 30 : 100, &model, err);
    status = status ? status : trace_all(model, &o, traces, err);
    if (status == SAL_OK) {
        trace_print(title, traces, NULL);
        for (int view = 0; view < VIEWS; view++) {
            trace_draw(view, title, &o, traces, figure);
        }
    }
    trace_free(traces);
    sal_model_destroy(model);
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    sal_status status = a->files[0] ? SAL_OK : run_network(NULL, a->size, figure, err);
    for (char **path = a->files; *path && status == SAL_OK; path++) {
        status = run_network(*path, a->size, figure, err);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const program p = { .title = "Sansone 2022, figures 5 and 8: Bayesian networks",
                               .columns = VIEWS,
                               .panel_width = 260,
                               .caption = "A row a network: burn-in and autocorrelation (figure "
                                          "5), a chain (figure 8), balancing functions.",
                               .files = true,
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
