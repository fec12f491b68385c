/* Locally balanced samplers on Bayesian networks: table 3 and figures 5 and 8 of Sansone (2022),
 * which take two networks of the 2006 UAI competition, of 100 variables each.
 *
 *     bayes [--quick | --full] [--svg FIGURE.svg] [NETWORK.uai ..]
 *
 * Without a file: a network of its own, of 100 two-level variables that are the exclusive or of two
 * earlier ones with probability .95. 5 chains, 500 iterations of burn-in and 10,000 after it, as in
 * the paper; --full has 30 chains, for the paper's figures of 5 vary much. Each network in four
 * forms, those with evidence if NETWORK.uai.evid is there:
 *
 * printed: no evidence, random starts; learning by SGD with rate 1e-4 after every iteration.
 * run:     as the author's program (github.com/emsansone/LSB) has it: all chains start at codes 0
 *          and the evidence, which stays fixed for LSB only; LSB 2 starts from max(1, t).
 * clamped: the same with the evidence fixed for all.
 * library: as printed, learning as the library does by default.
 *
 * The figure is of the first form. */
#include <stdlib.h>
#include <string.h>
#include "../program.h"
#include "network.h"
#include "trace.h"

/* A path without its folders. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- a network in its forms */

static const struct form {
    const char *name, *lsb1, *lsb2;
    bool evidence, all_clamped;
} forms[] = {
    { "printed", "lsb1:optimiser=sgd,rate=1e-4,updates=25,objective=density",
      "lsb2:optimiser=sgd,rate=1e-4,updates=25,objective=density", false, false },
    { "run", "lsb1:optimiser=sgd,rate=1e-4,updates=25,objective=density",
      "lsb2:lines=share,start=max,optimiser=sgd,rate=1e-4,updates=25,objective=density", true,
      false },
    { "clamped", "lsb1:optimiser=sgd,rate=1e-4,updates=25,objective=density",
      "lsb2:lines=share,start=max,optimiser=sgd,rate=1e-4,updates=25,objective=density", true,
      true },
    { "library", "lsb1", "lsb2", false, false },
};
enum { FORMS = sizeof forms / sizeof *forms };

/* ESS, table 3; the paper's second network is BN_8. */
static const struct {
    const char *file;
    double ess[LSB2 + 1];
} papers[] = {
    { "BN_1.uai", { 2.90, 3.41, 2.54, 2.70, 3.19, 3.22 } },
    { "BN_8.uai", { 3.43, 3.92, 3.78, 3.63, 3.52, 3.44 } },
};

static const double *paper_of(const char *file)
{
    for (size_t i = 0; i < sizeof papers / sizeof *papers; i++) {
        if (strcmp(papers[i].file, file) == 0) {
            return papers[i].ess;
        }
    }
    return NULL;
}

typedef struct network {
    const char *path; /* NULL: the program's own */
    int variables;    /* of that */
    int64_t n;        /* observed variables */
    int64_t *observed;
    int32_t *codes, *init;
    bool has_evidence;
} network;

static sal_status open_network(const void *data, int k, sal_model **model, sal_error *err)
{
    const network *net = data;
    (void)k;
    return net->path ? sal_model_open(net->path, 0, model, err)
                     : made_network(net->variables, model, err);
}

/* What was observed, if there is such a file, and the program's start. */
static sal_status read_evidence(network *net, sal_error *err)
{
    char path[4096];
    sal_model *model = NULL;
    snprintf(path, sizeof path, "%s.evid", net->path ? net->path : "");
    sal_status status = open_network(net, 0, &model, err);
    if (status == SAL_OK && net->path) {
        status =
            sal_model_evidence(path, model, 0, &net->n, &net->observed, &net->codes, NULL, err);
        net->has_evidence = status == SAL_OK;
        status = status == SAL_ERR_NOT_FOUND ? SAL_OK : status;
    }
    if (status == SAL_OK && net->has_evidence) {
        net->init = calloc((size_t)sal_space_variables(sal_model_space(model)), sizeof *net->init);
        status = net->init ? SAL_OK : SAL_ERR_MEMORY;
    }
    for (int64_t k = 0; status == SAL_OK && k < net->n; k++) {
        net->init[net->observed[k]] = net->codes[k];
    }
    sal_model_destroy(model);
    return status;
}

static sal_status run_form(const network *net, const struct form *form, size scale,
                           sal_figure *figure, sal_error *err)
{
    trace traces[METHODS] = { 0 };
    char title[200];
    trace_options o = { .open = open_network,
                        .data = net,
                        .models = 1,
                        .chains = scale == FULL ? 30 : 5,
                        .lsb1 = form->lsb1,
                        .lsb2 = form->lsb2,
                        .burn_in = scale == QUICK ? 200 : 500,
                        .iterations = scale == QUICK ? 2000 : 10000,
                        .lags = 400,
                        .lag = 20,
                        .statistic = OF_SUM };
    if (form->evidence) {
        o.init = net->init;
        o.evidence = (sal_clamps){ net->n, net->observed, net->codes };
        o.all_clamped = form->all_clamped;
    }
    snprintf(title, sizeof title, "%s (%s)", net->path ? base_name(net->path) : "exclusive or",
             form->name);
    sal_status status = trace_all(&o, traces, err);
    if (status == SAL_OK) {
        trace_print(title, traces, net->path ? paper_of(base_name(net->path)) : NULL);
        for (int view = 0; form == forms && view < VIEWS; view++) {
            trace_draw(view, title, &o, traces, figure);
        }
    }
    trace_free(traces);
    return status;
}

/* `path` NULL: the program's own network. */
static sal_status run_network(const char *path, size scale, sal_figure *figure, sal_error *err)
{
    network net = { .path = path, .variables = scale == QUICK ? 30 : 100 };
    sal_status status = read_evidence(&net, err);
    for (int i = 0; i < FORMS && status == SAL_OK; i++) {
        if (net.has_evidence || !forms[i].evidence) {
            status = run_form(&net, &forms[i], scale, figure, err);
        }
    }
    sal_free(net.observed);
    sal_free(net.codes);
    free(net.init);
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
