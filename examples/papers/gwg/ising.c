/* Ising lattices of rising connectivity: figure 4 of Grathwohl et al. (2021), effective samples of
 * 100,000 steps, f(s) = theta s'Js on a cyclic lattice. ESS of the distance to a random state, mean
 * over chains; a star marks rows where the chains of a sampler disagree (R-hat above 1.1).
 *
 *     ising [--quick | --full] [--svg FIGURE.svg] [as-run]
 *
 * theta is the paper's: an edge counts twice in s'Js, so the lattice orders above .2203. The values
 * of theta are ours, and without `as-run` the number of chains. With it, variables and blocks are
 * reshuffled in every sweep, there are 16 chains (--full: 100), and a tenth of the 100,000 steps is
 * cut off, as in the authors' program (ising_sample.py of their repository GWG_release). */
#include <math.h>
#include "../panel.h"
#include "../program.h"
#include "states.h"

static const char *const printed[] = { "gibbs", "gibbs:block=2", "hamming-ball", "gwg" };
static const char *const by_authors[] = { "gibbs:scan=shuffled", "gibbs:block=2,blocks=random",
                                          "hamming-ball:blocks=random", "gwg" };
static const char *const names[] = { "Gibbs-1", "Gibbs-2", "HB-10-1", "GWG" };
enum { SAMPLERS = 4 };

typedef struct settings {
    const char *const *samplers;
    int64_t chains, warmup, draws;
} settings;

/* log ESS of all samplers at one theta, as point k of the panel. */
static sal_status measure(panel *p, int k, int side, const settings *how, sal_error *err)
{
    char text[80];
    sal_model *model = NULL;
    snprintf(text, sizeof text, "ising:side=%d,theta=%g", side, p->x[k]);
    sal_status status = sal_model_open(text, 0, &model, err);
    for (int c = 0; c < SAMPLERS && status == SAL_OK; c++) {
        sal_run *run = NULL;
        sal_run_summary s;
        const sal_run_options o = { .sampler = how->samplers[c],
                                    .chains = how->chains,
                                    .warmup = how->warmup,
                                    .draws = how->draws,
                                    .seed = 1,
                                    .threads = 1 };
        status = sal_sample(model, &o, &run, err);
        status = status ? status : sal_run_summarise(run, &s, err);
        if (status == SAL_OK) {
            p->y[c][k] = log(s.ess_total / (double)how->chains);
            printf("%s%s %s R-hat %.2f", c ? ", " : "", c ? "" : text, names[c], s.rhat_max);
        }
        sal_run_destroy(run);
    }
    printf("\n");
    sal_model_destroy(model);
    return status;
}

static sal_status lattice(int side, const settings *how, int points, sal_figure *figure,
                          sal_error *err)
{
    char title[80];
    static const double theta[] = { 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5 };
    snprintf(title, sizeof title, "Ising %d x %d, %g draws of %d chains", side, side,
             (double)how->draws, (int)how->chains);
    panel p = { .title = title,
                .x_label = "theta",
                .y_label = "log ESS (natural)",
                .points = points,
                .curves = SAMPLERS };
    sal_status status = SAL_OK;
    for (int c = 0; c < SAMPLERS; c++) {
        p.name[c] = names[c];
    }
    for (int k = 0; k < points && status == SAL_OK; k++) {
        p.x[k] = theta[k * 8 / points];
        status = measure(&p, k, side, how, err);
    }
    if (status == SAL_OK) {
        panel_print(&p);
        panel_draw(&p, figure);
    }
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    const int64_t steps = a->size == QUICK ? 4000 : 100000;
    arguments rest = *a;
    const bool theirs = as_run(&rest);
    const settings how = theirs ? (settings){ by_authors, a->size == FULL ? 100 : 16, steps / 10,
                                              steps - steps / 10 }
                                : (settings){ printed, 4, steps / 5, steps };
    const int points = a->size == QUICK ? 2 : a->size == USUAL && !theirs ? 4 : 8;
    sal_status status = lattice(10, &how, points, figure, err);
    return status || a->size == QUICK ? status : lattice(40, &how, points, figure, err);
}

int main(int argc, char **argv)
{
    static const char *const words[] = { "as-run", NULL };
    static const program p = {
        .title = "Grathwohl et al. 2021, figure 4: Ising lattices",
        .caption = "Effective samples of the distance to a random state; mean over chains.",
        .words = words,
        .run = make_figure
    };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
