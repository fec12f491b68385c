/* Samplers on continuous relaxations against GWG: figure 2 (left) of Grathwohl et al. (2021), the
 * log MMD between the states of a sampler and those of block Gibbs, for RBMs of rising dimension.
 *
 *     relaxations [--quick | --full] [--svg FIGURE.svg]
 *
 * The RBMs, the relaxation and the step sizes are in an appendix that is not public with the paper;
 * ours: as many hidden as visible units, weights N(0, 4 / dimension), biases 0; every sampler has
 * the same number of gradients for each of 100 chains from random starts. r-mala and r-hmc adapt
 * their step size to an acceptance of .574 in the first half; d-svgd, which has no acceptance, has
 * the best of three step sizes and a quarter of the gradients, for its steps cost more. MMD is over
 * the last states and 1000 of block Gibbs. */
#include <math.h>
#include <stdlib.h>
#include "../panel.h"
#include "../program.h"
#include "states.h"

enum { CHAINS = 100, TRUTHS = 1000, RUNS = 2, LEAPFROG = 5, BLOCK_STEPS = 300 };

static const char *const names[] = { "Target", "GWG", "R-MALA", "R-HMC", "D-SVGD" };
enum { TARGET, GWG, R_MALA, R_HMC, D_SVGD, METHODS };

typedef struct experiment {
    sal_model *model;
    int64_t V, gradients;
    uint8_t *truth, *states; /* [TRUTHS x V], [CHAINS x V] */
} experiment;

/* MMD^2 of the states after `steps` steps, half of them warm-up. */
static sal_status run(experiment *x, const char *sampler, double step_size, int64_t steps,
                      uint64_t seed, double *mmd2, sal_error *err)
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
    return status ? status : sal_stats_mmd(x->V, CHAINS, x->states, TRUTHS, x->truth, mmd2, err);
}

static sal_status run_svgd(experiment *x, uint64_t seed, double *mmd2, sal_error *err)
{
    static const double step_sizes[] = { 0.1, 1, 10 };
    double one;
    sal_status status = SAL_OK;
    *mmd2 = INFINITY;
    for (int k = 0; k < 3 && status == SAL_OK; k++) {
        status = run(x, "d-svgd", step_sizes[k], x->gradients / 4, seed, &one, err);
        *mmd2 = fmin(*mmd2, one);
    }
    return status;
}

static sal_status run_method(experiment *x, int method, uint64_t seed, double *mmd2, sal_error *err)
{
    switch (method) {
    case TARGET:
        return run(x, "block-gibbs", 0, BLOCK_STEPS, seed, mmd2, err);
    case GWG:
        return run(x, "gwg", 0, x->gradients, seed, mmd2, err);
    case R_MALA:
        return run(x, "r-mala", 0, x->gradients, seed, mmd2, err);
    case R_HMC:
        return run(x, "r-hmc", 0, x->gradients / LEAPFROG, seed, mmd2, err);
    default:
        return run_svgd(x, seed, mmd2, err);
    }
}

static sal_status begin(int64_t dim, uint64_t seed, experiment *x, sal_error *err)
{
    char text[100];
    const sal_run_options truth = { .sampler = "block-gibbs",
                                    .chains = TRUTHS,
                                    .warmup = BLOCK_STEPS,
                                    .draws = 1,
                                    .seed = 1000 + seed,
                                    .threads = 1 };
    x->V = dim;
    x->truth = malloc((size_t)(TRUTHS * dim));
    x->states = malloc((size_t)(CHAINS * dim));
    snprintf(text, sizeof text, "rbm:visible=%d,hidden=%d,scale=%g,seed=%d", (int)dim, (int)dim,
             2 / sqrt((double)dim), (int)seed);
    sal_status status = x->truth && x->states ? SAL_OK : SAL_ERR_MEMORY;
    status = status ? status : sal_model_open(text, 0, &x->model, err);
    return status ? status : states_at_end(x->model, &truth, x->truth, err);
}

static void end(experiment *x)
{
    sal_model_destroy(x->model);
    free(x->truth);
    free(x->states);
}

/* One dimension: point k of the panel, from RUNS models. */
static sal_status dimension(panel *p, int k, int runs, int64_t gradients, sal_error *err)
{
    double value[METHODS][RUNS], mmd2;
    sal_status status = SAL_OK;
    for (int r = 0; r < runs && status == SAL_OK; r++) {
        experiment x = { .gradients = gradients };
        status = begin((int64_t)p->x[k], (uint64_t)r, &x, err);
        for (int m = 0; m < METHODS && status == SAL_OK; m++) {
            status = run_method(&x, m, (uint64_t)r, &mmd2, err);
            value[m][r] = log_mmd(mmd2);
        }
        end(&x);
    }
    for (int m = 0; m < METHODS && status == SAL_OK; m++) {
        p->y[m][k] = mean_of(runs, value[m], &p->sd[m][k]);
    }
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    static const double dimensions[] = { 25, 50, 100, 200, 400, 1000 };
    static panel p = { .title = "RBMs of rising dimension",
                       .x_label = "dimension",
                       .y_label = "log MMD",
                       .curves = METHODS };
    const int runs = a->size == QUICK ? 1 : RUNS;
    const int64_t gradients = a->size == QUICK ? 400 : a->size == USUAL ? 1000 : 10000;
    sal_status status = SAL_OK;
    p.points = a->size == QUICK ? 2 : a->size == USUAL ? 4 : 6;
    for (int m = 0; m < METHODS; m++) {
        p.name[m] = names[m];
    }
    for (int k = 0; k < p.points && status == SAL_OK; k++) {
        p.x[k] = dimensions[k];
        status = dimension(&p, k, runs, gradients, err);
    }
    if (status == SAL_OK) {
        panel_print(&p);
        panel_draw(&p, figure);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const program p = { .title =
                                   "Grathwohl et al. 2021, figure 2, left: continuous relaxations",
                               .caption =
                                   "Log MMD to block Gibbs, lower is better; mean and standard "
                                   "deviation over models. Target: of block Gibbs itself.",
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
