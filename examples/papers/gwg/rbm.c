/* Sampling from a trained RBM: figures 3 and 2 (right) of Grathwohl et al. (2021). An RBM is
 * trained on digits by contrastive divergence; then
 *
 *     states that samplers with and without relaxations end in, from random starts;
 *     log10 MMD^2 of the 100 chains of each to samples of block Gibbs, over steps;
 *     log ESS of 10,000 steps from data, mean over 10 chains; of the distance to a random state.
 *
 *     rbm [--quick | --full] [--svg FIGURE.svg] [t10k-images-idx3-ubyte.gz]
 *
 * --full has the paper's 28 x 28 pixels and 500 hidden units, the default 16 x 16 and 100, --quick
 * 8 x 8 and 32. Without a file, digits are drawn by the library. Samples of block Gibbs start at
 * the data. The number of samples and the length of the training are ours; `rbm_run` has those of
 * the authors' program. */
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include "../panel.h"
#include "../program.h"
#include "states.h"

enum { CHAINS = 100, TRUTHS = 1000, ESS_CHAINS = 10, POINTS = 10 };

/* Those that move all sites at once have a tenth of the steps of the others, or less. */
static const struct {
    const char *name, *sampler;
    int share; /* of the steps */
} methods[] = { { "Block-Gibbs", "block-gibbs", 10 },
                { "Gibbs-1", "gibbs", 1 },
                { "Gibbs-2", "gibbs:block=2", 1 },
                { "HB-10-1", "hamming-ball", 1 },
                { "GWG", "gwg", 1 },
                { "R-MALA", "r-mala", 10 },
                { "R-HMC", "r-hmc", 50 },
                { "D-SVGD", "d-svgd", 50 } };
enum { EXACT = 5, METHODS = 8 };

typedef struct experiment {
    sal_model *model;
    sal_data data;
    int64_t V, steps;
    int32_t *starts;                /* [TRUTHS x V] */
    uint8_t *truth;                 /* [TRUTHS x V] */
    uint8_t *states;                /* [CHAINS x V] */
    int seen;                       /* draws of the chains */
    double mmd[ESTIMATORS][POINTS]; /* log10 MMD^2 */
    sal_error *err;
} experiment;

/* ---- data, training, truth */

static sal_status train(experiment *x, size scale, const char *file, sal_error *err)
{
    char text[80];
    const int64_t side = scale == QUICK ? 8 : scale == USUAL ? 16 : 28;
    const sal_train_options o = { .objective = SAL_CD,
                                  .centring = SAL_CENTRING_OFF, /* as in the paper */
                                  .sampler = "block-gibbs",
                                  .steps = 1,
                                  .iterations = scale == QUICK   ? 500
                                                : scale == USUAL ? 2000
                                                                 : 20000,
                                  .batch = 100,
                                  .learning_rate = 1e-3,
                                  .threads = 1 };
    sal_status status = file ? sal_data_read(file, NULL, &x->data, err)
                             : sal_data_digits(2000, side, 0, &x->data, err);
    snprintf(text, sizeof text, "rbm:visible=%d,hidden=%d", (int)x->data.variables,
             scale == QUICK   ? 32
             : scale == USUAL ? 100
                              : 500);
    status = status ? status : sal_model_open(text, 0, &x->model, err);
    status = status ? status : sal_model_train_start(x->model, text, &x->data, 0, err);
    return status ? status : sal_train(x->model, &x->data, &o, err);
}

/* Samples of block Gibbs that started at data. */
static sal_status draw_truth(experiment *x, int64_t steps, sal_error *err)
{
    const int64_t V = x->V = x->data.variables;
    x->truth = malloc((size_t)(TRUTHS * V));
    x->states = malloc((size_t)(CHAINS * V));
    x->starts = malloc((size_t)(TRUTHS * V) * sizeof *x->starts);
    if (!x->truth || !x->states || !x->starts) {
        return SAL_ERR_MEMORY;
    }
    for (int64_t k = 0; k < TRUTHS * V; k++) {
        x->starts[k] = x->data.codes[k % (x->data.rows * V)];
    }
    const sal_run_options o = { .sampler = "block-gibbs",
                                .chains = TRUTHS,
                                .warmup = steps,
                                .draws = 1,
                                .seed = 1,
                                .threads = 1,
                                .init = x->starts };
    return states_at_end(x->model, &o, x->truth, err);
}

/* ---- MMD over steps */

static int note(const sal_draw *draw, void *data)
{
    experiment *x = data;
    double both[ESTIMATORS];
    states_to_bytes(CHAINS * x->V, draw->codes, x->states);
    sal_status status = log10_mmd2(x->V, CHAINS, x->states, TRUTHS, x->truth, both, x->err);
    for (int e = 0; e < ESTIMATORS; e++) {
        x->mmd[e][x->seen] = both[e];
    }
    x->seen++;
    return status != SAL_OK;
}

/* MMD at POINTS times, with half of the steps before the first of relaxed samplers for adapting. */
static sal_status follow(experiment *x, int method, sal_error *err)
{
    sal_run *run = NULL;
    int64_t steps = x->steps / methods[method].share;
    const sal_run_options o = { .sampler = methods[method].sampler,
                                .chains = CHAINS,
                                .warmup = method < EXACT ? -1 : steps / 2,
                                .draws = POINTS,
                                .thin = steps / POINTS / (method < EXACT ? 1 : 2),
                                .seed = 2,
                                .threads = 1,
                                .callbacks = { .draw = note, .draw_data = x } };
    x->seen = 0;
    x->err = err;
    sal_status status = sal_sample(x->model, &o, &run, err);
    sal_run_destroy(run);
    return status == SAL_OK && x->seen < POINTS ? SAL_ERR_DATA : status;
}

/* As many of the last states as the sheets show. */
static void draw_states(const experiment *x, const char *name, sal_figure *figure)
{
    enum { SHOWN = 25, MOST = 64 * 64 };
    static double grey[SHOWN * MOST];
    int64_t side = x->data.height;
    if (figure && side * side == x->V && x->V <= MOST) {
        for (int64_t k = 0; k < SHOWN * x->V; k++) {
            grey[k] = x->states[k];
        }
        const sal_images images = { .n = SHOWN, .height = side, .width = side, .values = grey };
        sal_figure_panel(figure, &(sal_panel){ .title = name, .images = &images });
    }
}

static sal_status all_mmd(experiment *x, panel p[ESTIMATORS], sal_figure *figure, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int m = 0; m < METHODS && status == SAL_OK; m++) {
        status = follow(x, m, err);
        for (int e = 0; e < ESTIMATORS; e++) {
            p[e].name[m] = methods[m].name;
            p[e].x_of[m] = 1.0 / methods[m].share;
            for (int k = 0; k < POINTS; k++) {
                p[e].x[k] = (double)(x->steps / POINTS * (k + 1));
                p[e].y[m][k] = x->mmd[e][k];
            }
        }
        if (status == SAL_OK) {
            draw_states(x, methods[m].name, figure);
        }
    }
    return status;
}

/* ---- ESS, and what a step costs */

static sal_status measure(experiment *x, const char *sampler, double *log_ess, double *seconds,
                          sal_error *err)
{
    sal_run *run = NULL;
    sal_run_summary s;
    const sal_run_options o = { .sampler = sampler,
                                .chains = ESS_CHAINS,
                                .warmup = -1,
                                .draws = x->steps,
                                .seed = 3,
                                .threads = 1,
                                .init = x->starts };
    clock_t start = clock();
    sal_status status = sal_sample(x->model, &o, &run, err);
    *seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    status = status ? status : sal_run_summarise(run, &s, err);
    *log_ess = status == SAL_OK ? log(s.ess_total / ESS_CHAINS) : NAN;
    sal_run_destroy(run);
    return status;
}

static sal_status all_ess(experiment *x, sal_figure *figure, sal_error *err)
{
    static const char *names[EXACT];
    double log_ess[EXACT], seconds[EXACT];
    sal_status status = SAL_OK;
    for (int m = 0; m < EXACT && status == SAL_OK; m++) {
        names[m] = methods[m].name;
        status = measure(x, methods[m].sampler, &log_ess[m], &seconds[m], err);
    }
    if (status != SAL_OK) {
        return status;
    }
    printf("\nESS of %d steps, natural logarithm\n%-12s  %8s  %s\n", (int)x->steps, "", "log ESS",
           "time of a step, Gibbs-1 = 1");
    for (int m = 0; m < EXACT; m++) {
        printf("%-12s  %8.2f  %8.1f\n", names[m], log_ess[m], seconds[m] / seconds[1]);
    }
    if (figure) {
        sal_figure_panel(figure, &(sal_panel){ .title = "Figure 3, right: ESS",
                                               .x = { .categories = names, .n_categories = EXACT },
                                               .y = { .label = "log of effective samples" } });
        sal_figure_series(figure, &(sal_series){ .mark = SAL_MARK_BARS, .n = EXACT, .y = log_ess });
    }
    return SAL_OK;
}

/* ---- all of it */

static sal_status experiment_run(experiment *x, const arguments *a, sal_figure *figure,
                                 sal_error *err)
{
    const panel common = { .title = "Figure 3, left: MMD to block Gibbs",
                           .x_label = "steps",
                           .log_x = true,
                           .points = POINTS,
                           .curves = METHODS };
    static panel p[ESTIMATORS];
    double target[ESTIMATORS];
    panels_make(&common, p);
    x->steps = a->size == QUICK ? 1000 : 10000;
    sal_status status = train(x, a->size, a->files[0], err);
    status = status ? status : draw_truth(x, a->size == FULL ? 5000 : 500, err);
    /* Two halves of them. */
    const int64_t half = TRUTHS / 2;
    status = status ? status
                    : log10_mmd2(x->V, half, x->truth, half, x->truth + half * x->V, target, err);
    status = status ? status : all_mmd(x, p, figure, err);
    if (status == SAL_OK) {
        panels_show(p, figure);
        printf("Block-Gibbs, R-MALA: a tenth of these steps; R-HMC, D-SVGD: a fiftieth\n");
        printf("Target: %.3f (U-statistic), %.3f (V-statistic)\n", target[U_STATISTIC],
               target[V_STATISTIC]);
        status = all_ess(x, figure, err);
    }
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    experiment x = { 0 };
    sal_status status = experiment_run(&x, a, figure, err);
    sal_model_destroy(x.model);
    sal_data_destroy(&x.data);
    free(x.starts);
    free(x.truth);
    free(x.states);
    return status;
}

int main(int argc, char **argv)
{
    static const program p = { .title =
                                   "Grathwohl et al. 2021, figures 2, right, and 3: a trained RBM",
                               .columns = 4,
                               .panel_width = 240,
                               .caption = "States that samplers end in, from random starts; "
                                          "log10 MMD^2 to block Gibbs; effective samples.",
                               .files = true,
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
