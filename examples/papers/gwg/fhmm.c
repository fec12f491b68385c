/* The states of a factorial hidden Markov model: figure 5 of Grathwohl et al. (2021), the log-joint
 * and the mean log reconstruction error of posterior samples over likelihood evaluations.
 *
 *     fhmm [--quick | --full] [--svg FIGURE.svg]
 *
 * 1000 time steps and 10 factors as in the paper; sigma = .5, what factors stay with (.95) and
 * begin with (.1) are ours. Evaluations a step are counted as in the paper's section 8, one for
 * each state that is weighed, two for a step of GWG. Block-HB, whose blocks are the factors at one
 * time, is the stronger of the paper's two Hamming ball samplers. */
#include <math.h>
#include "../panel.h"
#include "../program.h"

static const struct {
    const char *name, *sampler;
    int evaluations; /* a step */
} methods[] = { { "Gibbs-1", "gibbs", 2 },
                { "Gibbs-2", "gibbs:block=2", 4 },
                { "Block-HB", "hamming-ball:blocks=model", 0 },
                { "GWG", "gwg", 2 } };
enum { HB = 2, METHODS = 4, CHAINS = 2 };

typedef struct figures {
    double log_joint, log_error;
} figures;

/* What states are like after `steps` steps from random starts. */
static sal_status measure(sal_model *model, const char *sampler, int64_t steps, figures *out,
                          sal_error *err)
{
    sal_run *run = NULL;
    sal_run_summary s;
    const sal_run_options o = { .sampler = sampler,
                                .chains = CHAINS,
                                .warmup = -1,
                                .draws = 1,
                                .thin = steps,
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

/* Both panels: runs of rising length, to `most` evaluations. */
static sal_status measure_all(sal_model *model, int factors, double most, panel *joint,
                              panel *error, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int m = 0; m < METHODS; m++) {
        int evaluations = m == HB ? factors + 1 : methods[m].evaluations;
        joint->name[m] = error->name[m] = methods[m].name;
        for (int k = 0; k < joint->points && status == SAL_OK; k++) {
            figures f = { 0 };
            double x = most / pow(2, joint->points - 1 - k);
            joint->x[k] = error->x[k] = x;
            status = measure(model, methods[m].sampler, (int64_t)(x / evaluations), &f, err);
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
    const int factors = a->size == QUICK ? 5 : 10;
    const double most = a->size == QUICK ? 8000 : a->size == USUAL ? 32000 : 2048000;
    joint.points = error.points = a->size == QUICK ? 4 : 6;
    sal_status status = sal_model_open(a->size == QUICK ? "fhmm:length=100,factors=5"
                                                        : "fhmm:length=1000,factors=10",
                                       0, &model, err);
    status = status ? status : measure_all(model, factors, most, &joint, &error, err);
    if (status == SAL_OK) {
        panel_print(&joint);
        panel_print(&error);
        panel_draw(&joint, figure);
        panel_draw(&error, figure);
    }
    sal_model_destroy(model);
    return status;
}

int main(int argc, char **argv)
{
    static const program p = { .title =
                                   "Grathwohl et al. 2021, figure 5: factorial hidden Markov model",
                               .caption = "Posterior samples; mean of 2 chains.",
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
