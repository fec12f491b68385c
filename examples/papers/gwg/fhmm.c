/* The states of a factorial hidden Markov model: figure 5 of Grathwohl et al. (2021), the log-joint
 * and the mean log reconstruction error of posterior samples over likelihood evaluations.
 *
 *     fhmm [--quick | --full] [--svg FIGURE.svg] [as-run]
 *
 * 1000 time steps and 10 factors as in the paper; sigma = .5, what factors stay with (.95) and
 * begin with (.1) are ours. Evaluations a step are counted as in the paper's section 8, one for
 * each state that is weighed, two for a step of GWG. Block-HB, whose blocks are the factors at one
 * time, is the stronger of the paper's two Hamming ball samplers. With `as-run` variables and
 * blocks are reshuffled in every sweep, the Hamming ball has any 10 variables, and chains start at
 * hidden states drawn from the model without the data, as in the authors' program (fhmm_sample.py
 * of their repository GWG_release); that has 100 chains, by default of 100 time steps. */
#include <math.h>
#include <stdlib.h>
#include "../panel.h"
#include "../program.h"
#include "states.h"

enum { METHODS = 4, CHAINS = 2 };

typedef struct method {
    const char *name, *sampler;
    int evaluations; /* a step; 0: factors + 1 */
} method;

static const method printed[METHODS] = { { "Gibbs-1", "gibbs", 2 },
                                         { "Gibbs-2", "gibbs:block=2", 4 },
                                         { "Block-HB", "hamming-ball:blocks=model", 0 },
                                         { "GWG", "gwg", 2 } };
static const method by_authors[METHODS] = { { "Gibbs-1", "gibbs:scan=shuffled", 2 },
                                            { "Gibbs-2", "gibbs:block=2,blocks=random", 4 },
                                            { "HB-10-1", "hamming-ball:blocks=random", 11 },
                                            { "GWG", "gwg", 2 } };

typedef struct figures {
    double log_joint, log_error;
} figures;

/* What states are like after `steps` steps from random starts. */
static sal_status measure(sal_model *model, const char *sampler, const int32_t *starts,
                          int64_t steps, figures *out, sal_error *err)
{
    sal_run *run = NULL;
    sal_run_summary s;
    const sal_run_options o = { .sampler = sampler,
                                .chains = CHAINS,
                                .warmup = -1,
                                .draws = 1,
                                .thin = steps,
                                .init = starts,
                                .seed = 1,
                                .threads = 1 };
    sal_status status = sal_sample(model, &o, &run, err);
    status = status ? status : sal_run_summarise(run, &s, err);
    if (status == SAL_OK) {
        *out = (figures){ s.log_prob_mean, log(s.statistic_mean) };
    }
    sal_run_destroy(run);
    return status;
}

/* Hidden states of the chains from the prior: a factor begins at 1 with probability .1 and stays
 * what it is with .95. NULL: no memory. */
static int32_t *draw_starts(int64_t length, int64_t factors)
{
    static const double begins[] = { 0.1 }, changes[] = { 0.05 };
    const int64_t V = length * factors;
    int32_t *codes = malloc((size_t)(CHAINS * V) * sizeof *codes);
    for (int64_t c = 0; codes && c < CHAINS; c++) {
        int32_t *x = codes + c * V;
        states_draw(factors, 1, begins, (uint64_t)c, x);
        states_draw(V - factors, 1, changes, 1000 + (uint64_t)c, x + factors);
        for (int64_t k = factors; k < V; k++) {
            x[k] ^= x[k - factors];
        }
    }
    return codes;
}

/* Both panels: runs of rising length, to `most` evaluations. */
static sal_status measure_all(sal_model *model, const method *methods, const int32_t *starts,
                              int factors, double most, panel *joint, panel *error, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int m = 0; m < METHODS; m++) {
        int evaluations = methods[m].evaluations ? methods[m].evaluations : factors + 1;
        joint->name[m] = error->name[m] = methods[m].name;
        for (int k = 0; k < joint->points && status == SAL_OK; k++) {
            figures f = { 0 };
            double x = most / pow(2, joint->points - 1 - k);
            joint->x[k] = error->x[k] = x;
            status =
                measure(model, methods[m].sampler, starts, (int64_t)(x / evaluations), &f, err);
            joint->y[m][k] = f.log_joint;
            error->y[m][k] = f.log_error;
        }
    }
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    static panel joint = { .title = "Log-joint",
                           .x_label = "likelihood evaluations",
                           .y_label = "log p(x, y)",
                           .y_format = "%.0f",
                           .curves = METHODS };
    static panel error = { .title = "Reconstruction error",
                           .x_label = "likelihood evaluations",
                           .y_label = "log error",
                           .curves = METHODS };
    sal_model *model = NULL;
    arguments rest = *a;
    const bool theirs = as_run(&rest);
    int32_t *starts = NULL;
    const int factors = a->size == QUICK ? 5 : 10;
    const double most = a->size == QUICK ? 8000 : a->size == USUAL ? 32000 : 2048000;
    joint.points = error.points = a->size == QUICK ? 4 : 6;
    sal_status status = sal_model_open(a->size == QUICK ? "fhmm:length=100,factors=5"
                                                        : "fhmm:length=1000,factors=10",
                                       0, &model, err);
    if (status == SAL_OK && theirs) {
        status = (starts = draw_starts(a->size == QUICK ? 100 : 1000, factors)) ? SAL_OK
                                                                                : SAL_ERR_MEMORY;
    }
    status = status ? status
                    : measure_all(model, theirs ? by_authors : printed, starts, factors, most,
                                  &joint, &error, err);
    if (status == SAL_OK) {
        panel_print(&joint);
        panel_print(&error);
        panel_draw(&joint, figure);
        panel_draw(&error, figure);
    }
    sal_model_destroy(model);
    free(starts);
    return status;
}

int main(int argc, char **argv)
{
    static const char *const words[] = { "as-run", NULL };
    static const program p = { .title =
                                   "Grathwohl et al. 2021, figure 5: factorial hidden Markov model",
                               .caption = "Posterior samples; mean of 2 chains.",
                               .words = words,
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
