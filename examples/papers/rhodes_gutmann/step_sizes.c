/* Does learning depend on the step size? Figure 7 of Rhodes & Gutmann 2022: the couplings of an
 * Ising lattice are learned as for their table 1 (K = 10), with step sizes from a tenth of the
 * table's to ten times as large. Errors are relative to that of the table's step size; gwg's to
 * NCG's.
 *
 *     step_sizes [--quick | --full] [--svg FIGURE.svg] [printed] [as-run]
 *
 * as-run: as the authors' program, step sizes are 1.5^-5 to 1.5^5 times the table's, and NCG makes
 * 10 steps an update, as AVG and PAVG do; in table 1 it makes 12. */
#include <math.h>

#include "../../training/ising_pcd.h"
#include "../panel.h"
#include "../program.h"

/* Step sizes are four times those of table 4, which fit states 1 apart. */
static const learner learners[] = {
    { .sampler = "ncg", .step_size = 2.0, .steps = 12 },
    { .sampler = "avg", .step_size = 0.8, .steps = 10 },
    { .sampler = "pavg", .step_size = 0.8, .data_preconditioner = true, .steps = 10 },
    { .sampler = "gwg", .steps = 12 },
};
static const char *const names[] = { "NCG", "AVG", "PAVG", "GWG" };
enum { NCG, AVG, PAVG, GWG, METHODS };

static const double full_factors[] = { 0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10, 0 };
static const double usual_factors[] = { 0.1, 0.3, 1, 3, 10, 0 };
static const double quick_factors[] = { 0.1, 1, 0 };
enum { RUN_STEPS = 10, RUN_POWERS = 5, QUICK_POWERS = 1 };

static sal_status learn(const experiment *x, int method, int steps, double factor, double *error,
                        sal_error *err)
{
    learner l = learners[method];
    l.steps = steps > 0 ? steps : l.steps;
    l.step_size *= factor;
    l.updates = 2200;
    return experiment_learn(x, &l, error, err);
}

/* A curve: errors over that of factor 1, *base. `steps` 0: those of table 1. */
static sal_status scan(const experiment *x, int method, int steps, panel *p, double *base,
                       sal_error *err)
{
    sal_status status = SAL_OK;
    for (int k = 0; k < p->points && status == SAL_OK; k++) {
        status = learn(x, method, steps, p->x[k], &p->y[method][k], err);
        *base = p->x[k] == 1 ? p->y[method][k] : *base;
    }
    printf("%-5s error %.4f\n", names[method], *base);
    for (int k = 0; k < p->points; k++) {
        p->y[method][k] /= *base;
    }
    return status;
}

/* gwg has no step size: the paper's dashed line. */
static sal_status add_gwg(const experiment *x, double base, panel *p, sal_error *err)
{
    double error = 0;
    sal_status status = learn(x, GWG, 0, 1, &error, err);
    printf("%-5s error %.4f\n", names[GWG], error);
    for (int k = 0; k < p->points; k++) {
        p->y[GWG][k] = error / base;
    }
    return status;
}

/* The factors of a version into the panel. */
static void choose_factors(const arguments *a, bool as_run, panel *p)
{
    const double *factors = a->size == FULL    ? full_factors
                            : a->size == QUICK ? quick_factors
                                               : usual_factors;
    int most = a->size == QUICK ? QUICK_POWERS : RUN_POWERS;
    for (int i = -most; as_run && i <= most; i++) {
        p->x[p->points++] = pow(1.5, i);
    }
    for (; !as_run && factors[p->points] > 0; p->points++) {
        p->x[p->points] = factors[p->points];
    }
}

static sal_status show(const experiment *x, const arguments *a, bool as_run, sal_figure *figure,
                       sal_error *err)
{
    static panel p;
    p = (panel){ .title = as_run ? "As run: learning an Ising lattice, K = 10"
                                 : "Learning an Ising lattice, K = 10",
                 .x_label = "relative step size",
                 .y_label = "relative error",
                 .x_format = as_run ? "%.3f" : "%g",
                 .log_x = true,
                 .log_y = true,
                 .curves = a->size == QUICK ? 1 : METHODS };
    double base[METHODS] = { 0 };
    sal_status status = SAL_OK;
    choose_factors(a, as_run, &p);
    for (int m = 0; m < METHODS; m++) {
        p.name[m] = names[m];
    }
    for (int m = 0; m < p.curves && m < GWG && status == SAL_OK; m++) {
        status = scan(x, m, as_run ? RUN_STEPS : 0, &p, &base[m], err);
    }
    if (status == SAL_OK && p.curves > GWG) {
        status = add_gwg(x, base[NCG], &p, err);
    }
    panel_print(&p);
    panel_draw(&p, figure);
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    static const char *const versions[] = { "printed", "as-run" };
    experiment x = { 0 };
    sal_status status = experiment_create(1, &x, err);
    for (int as_run = 0; as_run < 2 && status == SAL_OK; as_run++) {
        if (arguments_want(a, versions[as_run])) {
            status = show(&x, a, as_run, figure, err);
        }
    }
    sal_data_destroy(&x.data);
    return status;
}

int main(int argc, char **argv)
{
    static const char *const words[] = { "printed", "as-run", NULL };
    static const program p = { .title = "Rhodes & Gutmann 2022, figure 7: errors over step sizes",
                               .words = words,
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
