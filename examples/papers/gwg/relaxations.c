/* Samplers on continuous relaxations against GWG: figure 2 (left) of Grathwohl et al. (2021), the
 * log10 MMD^2 between the states of a sampler and those of block Gibbs, for RBMs of rising
 * dimension.
 *
 *     relaxations [--quick | --full] [--svg FIGURE.svg] [as-run]
 *
 * The RBMs, the relaxation and the step sizes are in an appendix that is not public with the paper.
 * With `as-run` they are those of the authors' program (svgd_sample.py of their repository
 * GWG_release): 25 hidden units, weights N(0, .05), biases N(0, 1), 3 models, 5000 steps of gwg and
 * r-mala, 500 true states, 100 more as the target, temperature .1, of d-svgd 2; but step sizes are
 * adapted. --full has its 5000 steps of the other samplers, and 10,000 of block Gibbs for 2000.
 *
 * Without it they are ours: as many hidden as visible units, weights N(0, 4 / dimension), biases 0;
 * every sampler has the same number of gradients for each of 100 chains from random starts. r-mala
 * and r-hmc adapt their step size to an acceptance of .574 in the first half; d-svgd, which has no
 * acceptance, has the best of three step sizes and a quarter of the gradients, for its steps cost
 * more. MMD is over the last states and 1000 of block Gibbs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../panel.h"
#include "../program.h"
#include "states.h"

enum { CHAINS = 100, MOST_RUNS = 3 };

static const char *const names[] = { "Target", "GWG", "R-MALA", "R-HMC", "D-SVGD" };
enum { TARGET, GWG, R_MALA, R_HMC, D_SVGD, METHODS };

typedef struct settings {
    const char *r_mala, *r_hmc, *d_svgd;
    int64_t runs, truths;
    int64_t hidden;         /* units; 0: as many as visible ones */
    int64_t steps[METHODS]; /* by 400 gradients for each sampler, if it is `printed` */
} settings;

static const settings printed = {
    "r-mala", "r-hmc", "d-svgd", 2, 1000, 0, { 300, 400, 400, 400 / 5, 400 / 4 }
};
static const settings by_authors = {
    "r-mala:temperature=0.1",        "r-hmc:temperature=0.1", "d-svgd:temperature=2", 3, 500, 25,
    { 2000, 5000, 5000, 1000, 1000 }
};
static const int64_t all_steps[METHODS] = { 10000, 5000, 5000, 5000, 5000 };

typedef struct experiment {
    settings how;
    sal_model *model;
    int64_t V;
    uint8_t *truth, *states; /* [truths x V], [CHAINS x V] */
} experiment;

/* log10 MMD^2 of the states after `steps` steps, half of them warm-up. */
static sal_status run(experiment *x, const char *sampler, double step_size, int64_t steps,
                      uint64_t seed, double out[ESTIMATORS], sal_error *err)
{
    const sal_run_options o = { .sampler = sampler,
                                .chains = CHAINS,
                                .warmup = steps / 2,
                                .draws = 1,
                                .thin = steps - steps / 2,
                                .step_size = step_size,
                                .seed = seed,
                                .threads = 1 };
    sal_status status = states_at_end(x->model, &o, x->states, err);
    return status ? status : log10_mmd2(x->V, CHAINS, x->states, x->how.truths, x->truth, out, err);
}

static sal_status run_svgd(experiment *x, uint64_t seed, double out[ESTIMATORS], sal_error *err)
{
    static const double step_sizes[] = { 0.1, 1, 10 };
    double one[ESTIMATORS];
    sal_status status = SAL_OK;
    out[U_STATISTIC] = out[V_STATISTIC] = INFINITY;
    for (int k = 0; k < 3 && status == SAL_OK; k++) {
        status = run(x, x->how.d_svgd, step_sizes[k], x->how.steps[D_SVGD], seed, one, err);
        for (int e = 0; e < ESTIMATORS; e++) {
            out[e] = fmin(out[e], one[e]);
        }
    }
    return status;
}

static sal_status run_method(experiment *x, int method, uint64_t seed, double out[ESTIMATORS],
                             sal_error *err)
{
    switch (method) {
    case TARGET:
        return run(x, "block-gibbs", 0, x->how.steps[TARGET], seed, out, err);
    case GWG:
        return run(x, "gwg", 0, x->how.steps[GWG], seed, out, err);
    case R_MALA:
        return run(x, x->how.r_mala, 0, x->how.steps[R_MALA], seed, out, err);
    case R_HMC:
        return run(x, x->how.r_hmc, 0, x->how.steps[R_HMC], seed, out, err);
    default:
        return run_svgd(x, seed, out, err);
    }
}

/* The RBM of the program: biases N(0, 1). */
static sal_status draw_biases(sal_model *model, int64_t dim, int64_t hidden, uint64_t seed,
                              sal_error *err)
{
    double *values = malloc((size_t)(dim + hidden) * sizeof *values);
    if (!values) {
        return SAL_ERR_MEMORY;
    }
    states_normals(dim + hidden, seed, values);
    sal_status status = sal_model_set_params(model, "b", values, err);
    status = status ? status : sal_model_set_params(model, "c", values + dim, err);
    free(values);
    return status;
}

static sal_status begin(int64_t dim, uint64_t seed, experiment *x, sal_error *err)
{
    char text[100];
    const sal_run_options truth = { .sampler = "block-gibbs",
                                    .chains = x->how.truths,
                                    .warmup = x->how.steps[TARGET],
                                    .draws = 1,
                                    .seed = 1000 + seed,
                                    .threads = 1 };
    x->V = dim;
    const bool theirs = x->how.hidden > 0;
    const int64_t hidden = theirs ? x->how.hidden : dim;
    x->truth = malloc((size_t)(x->how.truths * dim));
    x->states = malloc((size_t)(CHAINS * dim));
    snprintf(text, sizeof text, "rbm:visible=%d,hidden=%d,scale=%g,seed=%d", (int)dim, (int)hidden,
             theirs ? sqrt(0.05) : 2 / sqrt((double)dim), (int)seed);
    sal_status status = x->truth && x->states ? SAL_OK : SAL_ERR_MEMORY;
    status = status ? status : sal_model_open(text, 0, &x->model, err);
    if (status == SAL_OK && theirs) {
        status = draw_biases(x->model, dim, hidden, 1000003 * (seed + 1), err);
    }
    return status ? status : states_at_end(x->model, &truth, x->truth, err);
}

static void end(experiment *x)
{
    sal_model_destroy(x->model);
    free(x->truth);
    free(x->states);
}

/* One dimension: point k of the panels, from some models. */
static sal_status dimension(panel p[ESTIMATORS], int k, const settings *how, sal_error *err)
{
    double value[ESTIMATORS][METHODS][MOST_RUNS];
    sal_status status = SAL_OK;
    for (int r = 0; r < how->runs && status == SAL_OK; r++) {
        experiment x = { .how = *how };
        status = begin((int64_t)p[0].x[k], (uint64_t)r, &x, err);
        for (int m = 0; m < METHODS && status == SAL_OK; m++) {
            double both[ESTIMATORS] = { 0 };
            status = run_method(&x, m, (uint64_t)r, both, err);
            for (int e = 0; e < ESTIMATORS; e++) {
                value[e][m][r] = both[e];
            }
        }
        end(&x);
    }
    for (int m = 0; m < METHODS * ESTIMATORS && status == SAL_OK; m++) {
        int e = m / METHODS, c = m % METHODS;
        p[e].y[c][k] = mean_of(how->runs, value[e][c], &p[e].sd[c][k]);
    }
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    static const double dimensions[] = { 25, 50, 100, 200, 400, 1000 };
    static panel p[ESTIMATORS];
    panel common = { .title = "RBMs of rising dimension",
                     .x_label = "dimension",
                     .points = a->size == QUICK   ? 2
                               : a->size == USUAL ? 4
                                                  : 6,
                     .curves = METHODS };
    arguments rest = *a;
    settings how = as_run(&rest) ? by_authors : printed;
    if (a->size == QUICK) { /* one MMD^2 of 100 states is little more than noise */
        how.runs = MOST_RUNS;
    }
    for (int m = 0; m < METHODS; m++) {
        const bool gradients = how.hidden == 0 && m != TARGET;
        how.steps[m] = !gradients || a->size == QUICK ? how.steps[m]
                       : a->size == USUAL             ? how.steps[m] * 5 / 2
                                                      : how.steps[m] * 25;
        how.steps[m] = how.hidden > 0 && a->size == FULL ? all_steps[m] : how.steps[m];
    }
    for (int m = 0; m < METHODS; m++) {
        common.name[m] = names[m];
    }
    memcpy(common.x, dimensions, sizeof dimensions);
    panels_make(&common, p);
    sal_status status = SAL_OK;
    for (int k = 0; k < common.points && status == SAL_OK; k++) {
        status = dimension(p, k, &how, err);
    }
    if (status == SAL_OK) {
        panels_show(p, figure);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const char *const words[] = { "as-run", NULL };
    static const program p = { .title =
                                   "Grathwohl et al. 2021, figure 2, left: continuous relaxations",
                               .caption =
                                   "log10 MMD^2 to block Gibbs, lower is better; mean and standard "
                                   "deviation over models. Target: of block Gibbs itself.",
                               .words = words,
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
