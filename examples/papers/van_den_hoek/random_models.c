/* Gibbs against Gibbs with gradients on random models: figures 8 to 11, 14 and 15 of van den Hoek's
 * thesis (2022). n binary parameters, m factors, each parameter in each factor with chance p;
 * factors are random expressions (algorithms 5 and 6), and models with an invalid state are drawn
 * again.
 *
 *     random_models [--quick | --full] [--svg FIGURE.svg]
 *
 * --full has the thesis's 100 models of each kind; else there are 6, of even n. */
#include <math.h>
#include "../program.h"
#include "compare.h"

enum { FACTORS = 3, CHANCES = 3, SIZES = 9, MODELS = 100, COMPARED = 2 };

static const int factors[FACTORS] = { 2, 5, 10 };
static const double chances[CHANCES] = { 0.25, 0.5, 0.75 };

/* Of models of one kind. */
typedef struct kind {
    double ess, sd;    /* mean and standard deviation over the models */
    double draw;       /* microseconds, mean */
    double per_sample; /* of all models' draws together */
    double disagree;   /* share of models on which the chains disagree or one never moves */
} kind;

typedef struct results {
    int models, sizes;
    int64_t draws;
    double n[SIZES];
    kind of[FACTORS][CHANCES][SIZES][COMPARED];
} results;

static void summarise(int models, const figures *f, const double *ess, kind *out)
{
    out->ess = mean_of(models, ess, &out->sd);
    out->draw = out->disagree = 0;
    for (int k = 0; k < models; k++) {
        out->draw += f[k].draw / models;
        out->disagree += !(f[k].rhat <= 1.1) / (double)models;
    }
    out->per_sample = 1000 * out->draw / out->ess;
}

static sal_status measure_kind(const results *r, int m, int p, int n, kind out[COMPARED],
                               sal_error *err)
{
    figures f[COMPARED][MODELS];
    double ess[COMPARED][MODELS];
    sal_status status = SAL_OK;
    for (int k = 0; k < r->models && status == SAL_OK; k++) {
        char text[100];
        sal_model *model = NULL;
        snprintf(text, sizeof text, "random-factors:n=%g,m=%d,p=%g,seed=%d", r->n[n], factors[m],
                 chances[p], k);
        status = sal_model_open(text, 0, &model, err);
        for (int c = 0; c < COMPARED && status == SAL_OK; c++) {
            status = compare_measure(model, samplers[c], r->draws, 0, &f[c][k], err);
            ess[c][k] = f[c][k].ess;
        }
        sal_model_destroy(model);
    }
    for (int c = 0; c < COMPARED && status == SAL_OK; c++) {
        summarise(r->models, f[c], ess[c], &out[c]);
    }
    return status;
}

static sal_status measure(results *r, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int m = 0; m < FACTORS; m++) {
        for (int p = 0; p < CHANCES; p++) {
            for (int n = 0; n < r->sizes && status == SAL_OK; n++) {
                status = measure_kind(r, m, p, n, r->of[m][p][n], err);
            }
        }
    }
    return status;
}

/* ---- what is shown */

enum { ESS, DRAW, PER_SAMPLE, DISAGREE };

static double value(const kind *k, int what)
{
    return what == ESS          ? k->ess
           : what == DRAW       ? k->draw
           : what == PER_SAMPLE ? k->per_sample
                                : k->disagree;
}

static void show(const results *r, int what, const char *numbers, int m, int p, sal_figure *figure)
{
    static const char *const labels[] = { "ESS of 1000", "µs per draw", "µs per effective sample",
                                          "share of models" };
    char title[80];
    snprintf(title, sizeof title, "%s: m = %d, p = %g", numbers, factors[m], chances[p]);
    panel shown = { .title = title,
                    .x_label = "n",
                    .y_label = labels[what],
                    .y_high = what == DISAGREE ? 1 : 0,
                    .points = r->sizes,
                    .curves = COMPARED };
    for (int c = 0; c < COMPARED; c++) {
        shown.name[c] = sampler_names[c];
        for (int n = 0; n < r->sizes; n++) {
            const kind *k = &r->of[m][p][n][c];
            shown.x[n] = r->n[n];
            shown.y[c][n] = value(k, what);
            shown.sd[c][n] = what == ESS ? k->sd : 0;
        }
    }
    panel_print(&shown);
    panel_draw(&shown, figure);
}

static void show_all(const results *r, sal_figure *figure)
{
    static const char *const numbers[FACTORS][CHANCES] = {
        { "Figures 8, 14", "Figure 14", "Figures 9, 14" },
        { "Figure 8", "5 factors", "Figure 9" },
        { "Figures 8, 15", "Figure 15", "Figures 9, 15" },
    };
    for (int m = 0; m < FACTORS; m++) {
        for (int p = 0; p < CHANCES; p++) {
            show(r, ESS, numbers[m][p], m, p, figure);
        }
    }
    for (int p = 0; p < CHANCES; p++) {
        show(r, DRAW, "Figure 10", 1, p, figure);
    }
    for (int m = 0; m < FACTORS; m++) {
        show(r, PER_SAMPLE, "Figure 11", m, 0, figure);
    }
    for (int m = 0; m < FACTORS; m++) {
        show(r, DISAGREE, "Chains disagree", m, 2, figure);
    }
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    static results r;
    r.models = a->size == QUICK ? 3 : a->size == FULL ? MODELS : 6;
    r.draws = a->size == QUICK ? 200 : 1000;
    r.sizes = a->size == QUICK ? 2 : a->size == FULL ? SIZES : 5;
    for (int n = 0; n < r.sizes; n++) {
        r.n[n] = a->size == QUICK ? 3 + 7 * n : a->size == FULL ? 2 + n : 2 + 2 * n;
    }
    sal_status status = compare_begin(err);
    status = status ? status : measure(&r, err);
    if (status == SAL_OK) {
        show_all(&r, figure);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const program p = {
        .title = "van den Hoek 2022, figures 8 to 11, 14 and 15: random models",
        .caption = "Mean and standard deviation over models of n binary parameters and "
                   "m factors; processor time of one thread.",
        .run = make_figure
    };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
