/* SPDX-License-Identifier: MIT */
/* Does the preconditioner of second-order interactions help where there are third-order ones?
 * Figures 11 and 12 of Rhodes & Gutmann 2022 (appendix N): f(s) = s'Js + alpha sum of s_i s_j s_k
 * over 50 random triples, 16 spins on a cyclic lattice, J = 0.2 times its adjacency; PAVG with 2J,
 * the Hessian of s'Js, for its matrix against AVG.
 *
 *     cubic [--quick | --full] [--svg FIGURE.svg] [printed] [as-run] [long]
 *
 * printed: different triples of different spins. Turning all spins over turns the sign of alpha, so
 * alpha < 0 shows nothing else. Step sizes are searched for by the mean jump, as in the paper's
 * appendix H, in a run of its own.
 *
 * as-run: as the authors' program. The step size is 1000 for states 1 apart, hence 4000 here. The
 * three spins of a triple are drawn independently, so that s_i s_i s_k is a field on s_k, which
 * alpha < 0 turns. The program draws the triples of the model that it samples after those of the
 * model that it takes the true marginals from; errors from both are printed ("own": from the model
 * that is sampled).
 *
 * long: alpha = 0.5 with AVG for twice as many steps as PAVG. */
#include <stdlib.h>
#include "../convergence.h"
#include "../panel.h"
#include "../program.h"

enum { SIDE = 4, D = SIDE * SIDE, TRIPLES = 50, WINDOWS = 14, METHODS = 2 };

#define THETA 0.2
#define RUN_STEP_SIZE 4000.0

static const char *const names[METHODS] = { "AVG", "PAVG" };
static const char *const samplers[METHODS] = { "avg", "pavg" };

typedef struct length {
    int64_t chains, steps;
    int alphas; /* 0, 0.1, .. */
} length;

/* J; on a cyclic lattice of side 4 no two neighbours coincide. */
static void couplings(double *J)
{
    for (int i = 0; i < D; i++) {
        int right = i / SIDE * SIDE + (i + 1) % SIDE, down = (i + SIDE) % D;
        J[i * D + right] = J[right * D + i] = J[i * D + down] = J[down * D + i] = THETA;
    }
}

static sal_run_options options_of(const length *l, int m, double step_size)
{
    static double M[D * D];
    couplings(M);
    for (int k = 0; k < D * D; k++) {
        M[k] *= 2;
    }
    return (sal_run_options){ .sampler = samplers[m],
                              .chains = l->chains,
                              .step_size = step_size,
                              .preconditioner = m == 1 ? M : NULL,
                              .threads = 1 };
}

/* The step size of the largest mean jump. */
static sal_status search(sal_model *model, const length *l, int m, double *step_size,
                         sal_error *err)
{
    sal_run *run = NULL;
    sal_run_summary s;
    sal_run_options o = options_of(l, m, 0);
    o.step_size_rule = SAL_STEP_SIZE_SEARCH;
    o.warmup = l->steps / 4;
    o.draws = 10;
    sal_status status = sal_sample(model, &o, &run, err);
    status = status ? status : sal_run_summarise(run, &s, err);
    *step_size = status ? 0 : s.step_size;
    sal_run_destroy(run);
    return status;
}

/* ---- as run: a model of triples that are drawn one spin at a time */

typedef struct triples {
    int64_t spin[3][TRIPLES];
} triples;

/* The `skip`-th draw of 50 triples. */
static triples draw_triples(int skip)
{
    triples t;
    uint64_t state = 1;
    for (int k = 0; k <= skip; k++) {
        for (int i = 0; i < 3 * TRIPLES; i++) {
            state = 6364136223846793005u * state + 1442695040888963407u;
            t.spin[i % 3][i / 3] = (int64_t)(state >> 60);
        }
    }
    return t;
}

static sal_status make_model(double alpha, int skip, sal_model **model, sal_error *err)
{
    static double J[D * D];
    const triples t = draw_triples(skip);
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = D }, err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    couplings(J);
    sal_expr f = sal_quad(s, sal_constant(tape, J, SAL_SHAPE(D, D)));
    if (alpha != 0) {
        sal_expr product = sal_mul(
            sal_mul(sal_gather(s, 0, TRIPLES, t.spin[0]), sal_gather(s, 0, TRIPLES, t.spin[1])),
            sal_gather(s, 0, TRIPLES, t.spin[2]));
        f = sal_add(f, sal_scale(sal_sum(product), alpha));
    }
    sal_status status = sal_model_from_tape(tape, f, model, err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return status;
}

static sal_status open_truth(double alpha, int skip, truth *t, sal_error *err)
{
    sal_model *model = NULL;
    sal_status status = make_model(alpha, skip, &model, err);
    return status ? status : truth_of(model, t, err);
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

static sal_status follow(sal_model *model, const length *l, int m, double step_size, panel *p,
                         sal_error *err)
{
    jumps j = { 0 };
    sal_run *run = NULL;
    sal_run_options o = options_of(l, m, step_size);
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

/* The error of a run into curve `curve` of the panel. */
static sal_status add_error(const truth *t, const length *l, int m, double step_size, panel *errors,
                            int curve_number, sal_error *err)
{
    curve c;
    sal_run_options o = options_of(l, m, step_size);
    o.warmup = l->steps / 10;
    o.draws = l->steps;
    sal_status status = curve_run(t, D, &o, &c, err);
    if (status == SAL_OK) {
        errors->y[curve_number][errors->points] = c.error[PAIR][POINTS - 1];
        errors->sd[curve_number][errors->points] = c.spread[PAIR][POINTS - 1];
    }
    return status;
}

/* One alpha: an error of both methods, and if `p` is not NULL their jumps from the start on. */
static sal_status measure(const length *l, double alpha, panel *errors, panel *p, sal_error *err)
{
    char text[80];
    truth t;
    double step_size;
    snprintf(text, sizeof text, "ising-cubic:alpha=%g", alpha);
    sal_status status = truth_open(text, &t, err);
    for (int m = 0; m < METHODS && status == SAL_OK; m++) {
        status = search(t.model, l, m, &step_size, err);
        status = status ? status : add_error(&t, l, m, step_size, errors, m, err);
        status = status || !p ? status : follow(t.model, l, m, step_size, p, err);
    }
    errors->x[errors->points++] = alpha;
    truth_free(&t);
    return status;
}

/* The same as the program ran: curves 0 and 1 are errors from the other model, 2 and 3 from the
 * model that is sampled. */
static sal_status measure_as_run(const length *l, double alpha, panel *errors, panel *p,
                                 sal_error *err)
{
    truth own, other = { 0 };
    sal_status status = open_truth(alpha, 1, &own, err);
    status = status ? status : open_truth(alpha, 0, &other, err);
    truth mixed = other;
    mixed.model = own.model;
    for (int m = 0; m < METHODS && status == SAL_OK; m++) {
        status = add_error(&mixed, l, m, RUN_STEP_SIZE, errors, m, err);
        status = status ? status : add_error(&own, l, m, RUN_STEP_SIZE, errors, METHODS + m, err);
        status = status || !p ? status : follow(own.model, l, m, RUN_STEP_SIZE, p, err);
    }
    errors->x[errors->points++] = alpha;
    truth_free(&own);
    truth_free(&other);
    return status;
}

/* ---- the figures */

typedef struct version {
    const char *name, *title, *jump_titles[2];
    bool as_run;
} version;

static const version versions[] = {
    { "printed", "Figure 11", { "Figure 12, alpha = 0.3", "Figure 12, alpha = 0.5" }, false },
    { "as-run",
      "As run: figure 11",
      { "As run: figure 12, alpha = 0.3", "As run: figure 12, alpha = 0.5" },
      true },
};

static void show_jumps(panel *jump, const version *v, sal_figure *figure)
{
    for (int k = 0; k < 2 && jump[k].points > 0; k++) {
        jump[k].title = v->jump_titles[k];
        jump[k].x_label = "steps from";
        jump[k].log_x = jump[k].log_y = true;
        jump[k].y_label = "mean jump";
        panel_print(&jump[k]);
        panel_draw(&jump[k], figure);
    }
}

static sal_status show(const version *v, const length *l, sal_figure *figure, sal_error *err)
{
    static const char *const own_names[METHODS] = { "AVG, own", "PAVG, own" };
    static panel errors, jump[2];
    errors = (panel){ .title = v->title,
                      .x_label = "alpha",
                      .y_label = "error of pairs (standard error)",
                      .log_y = true,
                      .curves = v->as_run ? 2 * METHODS : METHODS };
    jump[0] = jump[1] = (panel){ 0 };
    sal_status status = SAL_OK;
    for (int m = 0; m < METHODS; m++) {
        errors.name[m] = jump[0].name[m] = jump[1].name[m] = names[m];
        errors.name[METHODS + m] = own_names[m];
    }
    for (int k = v->as_run ? 1 - l->alphas : 0; k < l->alphas && status == SAL_OK; k++) {
        panel *p = k == 3 ? &jump[0] : k == 5 ? &jump[1] : NULL;
        status = v->as_run ? measure_as_run(l, 0.1 * k, &errors, p, err)
                           : measure(l, 0.1 * k, &errors, p, err);
    }
    if (status == SAL_OK) {
        panel_print(&errors);
        panel_draw(&errors, figure);
        show_jumps(jump, v, figure);
    }
    return status;
}

/* AVG for twice as long as PAVG where it is late, in both versions. */
static sal_status show_longer(const length *l, sal_error *err)
{
    static panel errors = { .title = "AVG for twice as many steps as PAVG",
                            .x_label = "alpha",
                            .y_label = "error of pairs (standard error)",
                            .name = { "AVG", "PAVG", "AVG, as run", "PAVG, as run" },
                            .curves = 2 * METHODS };
    double step_size;
    truth printed = { 0 }, own = { 0 }, other = { 0 };
    sal_status status = truth_open("ising-cubic:alpha=0.5", &printed, err);
    status = status ? status : open_truth(0.5, 1, &own, err);
    status = status ? status : open_truth(0.5, 0, &other, err);
    truth mixed = other;
    mixed.model = own.model;
    for (int m = 0; m < METHODS && status == SAL_OK; m++) {
        length longer = *l;
        longer.steps *= m == 0 ? 2 : 1;
        status = search(printed.model, l, m, &step_size, err);
        status = status ? status : add_error(&printed, &longer, m, step_size, &errors, m, err);
        status = status ? status
                        : add_error(&mixed, &longer, m, RUN_STEP_SIZE, &errors, METHODS + m, err);
    }
    errors.x[errors.points++] = 0.5;
    if (status == SAL_OK) {
        panel_print(&errors);
    }
    truth_free(&printed);
    truth_free(&own);
    truth_free(&other);
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    const length l = a->size == FULL    ? (length){ 100, 60000, 6 }
                     : a->size == QUICK ? (length){ 20, 1024, 4 }
                                        : (length){ 20, 8192, 6 };
    sal_status status = SAL_OK;
    for (int k = 0; k < 2 && status == SAL_OK; k++) {
        if (arguments_want(a, versions[k].name)) {
            status = show(&versions[k], &l, figure, err);
        }
    }
    return status == SAL_OK && arguments_want(a, "long") ? show_longer(&l, err) : status;
}

int main(int argc, char **argv)
{
    static const char *const words[] = { "printed", "as-run", "long", NULL };
    static const program p = {
        .title = "Rhodes & Gutmann 2022, figures 11 and 12: third-order interactions",
        .words = words,
        .run = make_figure
    };
    return program_main(argc, argv, &p);
}
