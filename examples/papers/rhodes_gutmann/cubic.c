/* Does the preconditioner of second-order interactions help where there are third-order ones?
 * Figures 11 and 12 of Rhodes & Gutmann 2022 (appendix N): f(s) = s'Js + alpha sum of s_i s_j s_k
 * over 50 random triples, 16 spins on a cyclic lattice, J = 0.2 times its adjacency; PAVG with 2J,
 * the Hessian of s'Js, for its matrix against AVG.
 *
 *     cubic [--quick | --full] [--svg FIGURE.svg]
 *
 * Turning all spins over turns the sign of alpha, so alpha < 0 shows nothing else. Step sizes are
 * searched for by the mean jump, as in the paper's appendix H, in a run of its own. */
#include <stdlib.h>
#include "../convergence.h"
#include "../panel.h"
#include "../program.h"

enum { SIDE = 4, D = SIDE * SIDE, WINDOWS = 14, METHODS = 2 };

static const char *const names[METHODS] = { "AVG", "PAVG" };
static const char *const samplers[METHODS] = { "avg", "pavg" };

typedef struct length {
    int64_t chains, steps;
    int alphas; /* 0, 0.1, .. */
} length;

/* 2J; on a cyclic lattice of side 4 no two neighbours coincide. */
static void hessian(double *M)
{
    for (int i = 0; i < D; i++) {
        int right = i / SIDE * SIDE + (i + 1) % SIDE, down = (i + SIDE) % D;
        M[i * D + right] = M[right * D + i] = M[i * D + down] = M[down * D + i] = 2 * 0.2;
    }
}

static sal_run_options options_of(const length *l, int m, const double *M)
{
    return (sal_run_options){ .sampler = samplers[m],
                              .chains = l->chains,
                              .preconditioner = m == 1 ? M : NULL,
                              .threads = 1 };
}

/* The step size of the largest mean jump. */
static sal_status search(sal_model *model, const length *l, int m, const double *M,
                         double *step_size, sal_error *err)
{
    sal_run *run = NULL;
    sal_run_summary s;
    sal_run_options o = options_of(l, m, M);
    o.step_size_rule = SAL_STEP_SIZE_SEARCH;
    o.warmup = l->steps / 4;
    o.draws = 10;
    sal_status status = sal_sample(model, &o, &run, err);
    status = status ? status : sal_run_summarise(run, &s, err);
    *step_size = status ? 0 : s.step_size;
    sal_run_destroy(run);
    return status;
}

/* ---- figure 12: jumps from the start on */

typedef struct jumps {
    double sum[WINDOWS];
    int64_t steps[WINDOWS];
} jumps;

/* The window of steps 2^k .. 2^(k + 1) - 1. */
static int window_of(int64_t step)
{
    int k = 0;
    while (k < WINDOWS - 1 && step >= (int64_t)2 << k) {
        k++;
    }
    return k;
}

static int add_jumps(const sal_draw *draw, void *data)
{
    jumps *j = data;
    int k = window_of(draw->index + 1);
    for (int64_t c = 0; c < draw->chains; c++) {
        j->sum[k] += draw->jump[c] / (double)draw->chains;
    }
    j->steps[k]++;
    return 0;
}

static sal_status follow(sal_model *model, const length *l, int m, const double *M,
                         double step_size, panel *p, sal_error *err)
{
    jumps j = { 0 };
    sal_run *run = NULL;
    sal_run_options o = options_of(l, m, M);
    o.step_size = step_size;
    o.warmup = -1;
    o.draws = l->steps;
    o.callbacks.draw = add_jumps;
    o.callbacks.draw_data = &j;
    sal_status status = sal_sample(model, &o, &run, err);
    sal_run_destroy(run);
    int c = p->curves++;
    for (p->points = 0; p->points < WINDOWS && j.steps[p->points] > 0; p->points++) {
        p->x[p->points] = (double)((int64_t)1 << p->points);
        p->y[c][p->points] = j.sum[p->points] / (double)j.steps[p->points];
    }
    return status;
}

/* ---- figure 11: errors of pairs */

/* One alpha: an error of both methods, and if `p` is not NULL their jumps from the start on. */
static sal_status measure(const length *l, double alpha, panel *errors, panel *p, sal_error *err)
{
    static double M[D * D];
    char text[80];
    truth t;
    curve c;
    double step_size;
    hessian(M);
    snprintf(text, sizeof text, "ising-cubic:alpha=%g", alpha);
    sal_status status = truth_open(text, &t, err);
    for (int m = 0; m < METHODS && status == SAL_OK; m++) {
        status = search(t.model, l, m, M, &step_size, err);
        sal_run_options o = options_of(l, m, M);
        o.step_size = step_size;
        o.warmup = l->steps / 10;
        o.draws = l->steps;
        status = status ? status : curve_run(&t, D, &o, &c, err);
        errors->y[m][errors->points] = c.error[PAIR][POINTS - 1];
        errors->sd[m][errors->points] = c.spread[PAIR][POINTS - 1];
        status = status || !p ? status : follow(t.model, l, m, M, step_size, p, err);
    }
    errors->x[errors->points++] = alpha;
    truth_free(&t);
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    static panel errors = { .title = "Figure 11",
                            .x_label = "alpha",
                            .y_label = "error of pairs (standard error)",
                            .log_y = true,
                            .curves = METHODS },
                 jump[2] = { { .title = "Figure 12, alpha = 0.3" },
                             { .title = "Figure 12, alpha = 0.5" } };
    const length l = a->size == FULL    ? (length){ 100, 60000, 6 }
                     : a->size == QUICK ? (length){ 20, 1024, 4 }
                                        : (length){ 20, 8192, 6 };
    sal_status status = SAL_OK;
    for (int m = 0; m < METHODS; m++) {
        errors.name[m] = jump[0].name[m] = jump[1].name[m] = names[m];
    }
    for (int k = 0; k < l.alphas && status == SAL_OK; k++) {
        panel *p = k == 3 ? &jump[0] : k == 5 ? &jump[1] : NULL;
        status = measure(&l, 0.1 * k, &errors, p, err);
    }
    panel_print(&errors);
    panel_draw(&errors, figure);
    for (int k = 0; k < 2 && status == SAL_OK && jump[k].points > 0; k++) {
        jump[k].x_label = "steps from";
        jump[k].log_x = jump[k].log_y = true;
        jump[k].y_label = "mean jump";
        panel_print(&jump[k]);
        panel_draw(&jump[k], figure);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const program p = {
        .title = "Rhodes & Gutmann 2022, figures 11 and 12: third-order interactions",
        .run = make_figure
    };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
