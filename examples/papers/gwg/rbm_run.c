/* Sampling from a trained RBM, figures 3 and 2 (right) of Grathwohl et al. (2021), with the
 * settings of the authors' programs (rbm_sample.py, svgd_sample.py of their repository
 * GWG_release):
 *
 *     784 x 500 units; contrastive divergence of 10 steps, Adam of rate 1e-3, 600 batches of 100:
 *     one pass through MNIST's 60,000 digits; here six through the 10,000 of its test set;
 *     truth: 500 states, and 100 more for the target, by block Gibbs, and of its 10,000 steps 2000;
 *     100 chains a sampler from independent pixels with the data's means (within .01 and .99);
 *     variables and blocks reshuffled in every sweep, relaxations at temperature .1 and 2;
 *     MMD^2 as a V-statistic, decimal logarithm; ESS of one chain's distances to true states,
 *     without the first tenth of the steps.
 *
 *     rbm_run [--quick | --full] [--svg FIGURE.svg] [t10k-images-idx3-ubyte.gz]
 *
 * The default makes the 100,000 steps, but fewer of block Gibbs, HB-10-1 and relaxed samplers;
 * --full makes all, --quick is small. Step sizes of relaxed samplers are adapted in half as many
 * steps as are then made. Without a file, digits are drawn by the library. ESS is the mean over 50
 * of the true states, scaled to 100,000 steps. */
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include "../panel.h"
#include "../program.h"
#include "states.h"

enum { CHAINS = 100, TRUTHS = 500, ALL_TRUTHS = TRUTHS + CHAINS, REFERENCES = 50, POINTS = 10 };

static const struct {
    const char *name, *sampler;
    int64_t share; /* of the steps by default */
    int evaluations;
} methods[] = { { "Block-Gibbs", "block-gibbs", 10, 2 },
                { "Gibbs-1", "gibbs:scan=shuffled", 1, 2 },
                { "Gibbs-2", "gibbs:block=2,blocks=random", 1, 4 },
                { "HB-10-1", "hamming-ball:blocks=random", 5, 11 },
                { "GWG", "gwg", 1, 2 },
                { "R-MALA", "r-mala:temperature=0.1", 20, 2 },
                { "R-HMC", "r-hmc:temperature=0.1", 100, 2 },
                { "D-SVGD", "d-svgd:temperature=2", 20, 2 } };
enum { EXACT = 5, METHODS = 8 };

typedef struct experiment {
    sal_model *model;
    sal_data data;
    int64_t V, steps;
    bool all;                  /* steps of all samplers */
    double *p;                 /* [V] the data's means, within .01 and .99 */
    int32_t *starts;           /* [ALL_TRUTHS x V] */
    uint8_t *truth;            /* [ALL_TRUTHS x V] */
    uint8_t *states;           /* [CHAINS x V] */
    uint8_t *first;            /* [steps x V] the states of chain 0 */
    double *series;            /* [steps] */
    int64_t draws, made, next; /* draws so far, of `made`; the next point */
    double mmd[ESTIMATORS][POINTS];
    sal_error *err;
} experiment;

/* ---- data, training, truth */

static sal_status allocate(experiment *x)
{
    const int64_t V = x->V = x->data.variables;
    x->p = calloc((size_t)V, sizeof *x->p);
    x->starts = malloc((size_t)(ALL_TRUTHS * V) * sizeof *x->starts);
    x->truth = malloc((size_t)(ALL_TRUTHS * V));
    x->states = malloc((size_t)(CHAINS * V));
    x->first = malloc((size_t)(x->steps * V));
    x->series = malloc((size_t)x->steps * sizeof *x->series);
    if (!x->p || !x->starts || !x->truth || !x->states || !x->first || !x->series) {
        return SAL_ERR_MEMORY;
    }
    for (int64_t k = 0; k < x->data.rows * V; k++) {
        x->p[k % V] += x->data.codes[k] / (double)x->data.rows;
    }
    for (int64_t v = 0; v < V; v++) {
        x->p[v] = fmin(fmax(x->p[v], 0.01), 0.99);
    }
    return SAL_OK;
}

static sal_status train(experiment *x, size scale, const char *file, sal_error *err)
{
    char text[80];
    const sal_train_options o = { .objective = SAL_CD,
                                  .centring = SAL_CENTRING_OFF,
                                  .sampler = "block-gibbs",
                                  .steps = 10,
                                  .iterations = 600,
                                  .batch = 100,
                                  .learning_rate = 1e-3,
                                  .threads = 1 };
    sal_status status = file ? sal_data_read(file, NULL, &x->data, err)
                             : sal_data_digits(2000, scale == QUICK ? 8 : 28, 0, &x->data, err);
    snprintf(text, sizeof text, "rbm:visible=%d,hidden=%d", (int)x->data.variables,
             scale == QUICK ? 32 : 500);
    status = status ? status : sal_model_open(text, 0, &x->model, err);
    status = status ? status : sal_model_train_start(x->model, text, &x->data, 0, err);
    return status ? status : sal_train(x->model, &x->data, &o, err);
}

static sal_status draw_truth(experiment *x, int64_t steps, sal_error *err)
{
    const sal_run_options o = { .sampler = "block-gibbs",
                                .chains = ALL_TRUTHS,
                                .warmup = steps,
                                .draws = 1,
                                .seed = 1,
                                .threads = 1,
                                .init = x->starts };
    states_draw(ALL_TRUTHS, x->V, x->p, 1, x->starts);
    return states_at_end(x->model, &o, x->truth, err);
}

/* ---- a sampler */

/* After so many steps MMD is taken: each time twice as many, to all. */
static int64_t point(int64_t steps, int64_t k)
{
    int64_t t = steps >> (POINTS - 1 - k);
    return t > k ? t : k + 1;
}

static int note(const sal_draw *draw, void *data)
{
    experiment *x = data;
    states_to_bytes(x->V, draw->codes, x->first + x->draws * x->V);
    x->draws++;
    if (x->draws != point(x->made, x->next)) {
        return 0;
    }
    double both[ESTIMATORS];
    states_to_bytes(CHAINS * x->V, draw->codes, x->states);
    sal_status status = log10_mmd2(x->V, CHAINS, x->states, TRUTHS, x->truth, both, x->err);
    for (int e = 0; e < ESTIMATORS; e++) {
        x->mmd[e][x->next] = both[e];
    }
    x->next++;
    return status != SAL_OK;
}

/* Mean ESS of the distances of chain 0 to true states, after the first tenth. */
static sal_status mean_ess(experiment *x, double *mean, sal_error *err)
{
    const int64_t from = x->draws / 10;
    sal_status status = SAL_OK;
    *mean = 0;
    for (int64_t r = 0; r < REFERENCES && status == SAL_OK; r++) {
        double ess = 0;
        const uint8_t *truth = x->truth + r * x->V;
        for (int64_t t = from; t < x->draws; t++) {
            int64_t distance = 0;
            for (int64_t v = 0; v < x->V; v++) {
                distance += x->first[t * x->V + v] != truth[v];
            }
            x->series[t - from] = (double)distance;
        }
        status = sal_stats_ess_tfp(x->draws - from, x->series, &ess, err);
        *mean += ess / REFERENCES;
    }
    return status;
}

static sal_status follow(experiment *x, int method, double *ess, double *seconds, sal_error *err)
{
    sal_run *run = NULL;
    x->made = x->steps / (x->all ? 1 : methods[method].share);
    x->draws = x->next = 0;
    x->err = err;
    states_draw(CHAINS, x->V, x->p, 2, x->starts);
    const sal_run_options o = { .sampler = methods[method].sampler,
                                .chains = CHAINS,
                                .warmup = method < EXACT ? -1 : x->made / 2,
                                .draws = x->made,
                                .seed = 2,
                                .threads = 1,
                                .init = x->starts,
                                .callbacks = { .draw = note, .draw_data = x } };
    const clock_t start = clock();
    sal_status status = sal_sample(x->model, &o, &run, err);
    *seconds = (double)(clock() - start) / CLOCKS_PER_SEC / (double)x->made;
    sal_run_destroy(run);
    status = status == SAL_OK && x->next < POINTS ? SAL_ERR_DATA : status;
    return status ? status : mean_ess(x, ess, err);
}

/* ---- all of it */

static sal_status all_methods(experiment *x, sal_figure *figure, sal_error *err)
{
    const panel common = { .title = "Figure 3, left: MMD to block Gibbs",
                           .x_label = "steps",
                           .log_x = true,
                           .points = POINTS,
                           .curves = METHODS };
    static panel p[ESTIMATORS];
    double ess[METHODS], seconds[METHODS];
    sal_status status = SAL_OK;
    panels_make(&common, p);
    for (int m = 0; m < METHODS && status == SAL_OK; m++) {
        status = follow(x, m, &ess[m], &seconds[m], err);
        ess[m] *= (double)x->steps / (double)x->made;
        for (int e = 0; e < ESTIMATORS; e++) {
            p[e].name[m] = methods[m].name;
            p[e].x_of[m] = (double)x->made / (double)x->steps;
            for (int k = 0; k < POINTS; k++) {
                p[e].x[k] = (double)point(x->steps, k);
                p[e].y[m][k] = x->mmd[e][k];
            }
        }
    }
    if (status == SAL_OK) {
        panels_show(p, figure);
        if (!x->all) {
            printf("HB-10-1: a fifth of these steps; Block-Gibbs: a tenth; R-MALA, D-SVGD: a "
                   "twentieth; R-HMC: a hundredth\n");
        }
        printf("\nESS of %d steps, natural logarithm\n%-12s  %8s  %s\n", (int)x->steps, "",
               "log ESS", "of an evaluation; time of a step, Gibbs-1 = 1");
        for (int m = 0; m < EXACT; m++) {
            printf("%-12s  %8.2f  %8.2f  %8.2f\n", methods[m].name, log(ess[m]),
                   log(ess[m] / methods[m].evaluations), seconds[m] / seconds[1]);
        }
    }
    return status;
}

static sal_status experiment_run(experiment *x, const arguments *a, sal_figure *figure,
                                 sal_error *err)
{
    double target[ESTIMATORS];
    x->steps = a->size == QUICK ? 5120 : 100000;
    x->all = a->size == FULL;
    sal_status status = train(x, a->size, a->files[0], err);
    status = status ? status : allocate(x);
    status = status ? status : draw_truth(x, a->size == QUICK ? 500 : x->all ? 10000 : 2000, err);
    const uint8_t *others = x->truth + TRUTHS * x->V;
    status = status ? status : log10_mmd2(x->V, CHAINS, others, TRUTHS, x->truth, target, err);
    if (status == SAL_OK) {
        printf("Target, log10 MMD^2: %.3f (U-statistic), %.3f (V-statistic)\n", target[U_STATISTIC],
               target[V_STATISTIC]);
        fflush(stdout);
    }
    return status ? status : all_methods(x, figure, err);
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    experiment x = { 0 };
    sal_status status = experiment_run(&x, a, figure, err);
    sal_model_destroy(x.model);
    sal_data_destroy(&x.data);
    free(x.p);
    free(x.starts);
    free(x.truth);
    free(x.states);
    free(x.first);
    free(x.series);
    return status;
}

int main(int argc, char **argv)
{
    static const program p = { .title = "Grathwohl et al. 2021, figures 2, right, and 3, as run",
                               .caption = "log10 MMD^2 to block Gibbs, both estimators.",
                               .files = true,
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
