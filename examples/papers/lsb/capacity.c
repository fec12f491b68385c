/* Can a monotonic network be the balancing function max(1, t)? Figure 9 of Sansone (2022): g(t) =
 * min(h(t), t h(1/t)), h = softplus(m) with a monotonic network m of 20 blocks of 20 lines, is
 * fitted to max(1, t) by least squares at 40 t up to 4, by gradient descent with rate .01.
 *
 *     capacity [--quick | --full] [--svg FIGURE.svg]
 *
 * Three forms of m are compared: with lines in t, in log t as in the sampler `lsb2`, and in
 * t / (1 + t) - 1/2, as in the author's program (github.com/emsansone/LSB) and `lsb2:lines=share`;
 * that one also from the program's start, where all lines are nearly the same, with its 5000
 * updates. The network is a formula whose state are the network's parameters: its gradient is then
 * the one by them. Momentum .9 is the program's, the range of t and, but for the last form, the
 * number of updates are ours. */
#include <math.h>
#include <stdlib.h>
#include "../panel.h"
#include "../program.h"

enum { BLOCKS = 20, UNITS = 20, LINES = BLOCKS * UNITS, POINTS = 40 };

static double t_of(int point)
{
    return 0.1 * (point + 1);
}

enum { IN_T, IN_LOG, IN_SHARE };

static const struct form {
    const char *name;
    int lines;
    double slopes, heights; /* spread of log slopes and heights at the start */
    int updates;            /* 0: as many as is usual */
} forms[] = {
    { "lines in t", IN_T, 0.3, 0.5, 0 },
    { "lines in log t", IN_LOG, 0.3, 0.5, 0 },
    { "lines in t/(1+t)", IN_SHARE, 0.3, 0.5, 0 },
    { "the same, alike at first", IN_SHARE, 1e-3, 1e-3, 5000 },
};
enum { FORMS = sizeof forms / sizeof *forms };

/* ---- the network */

static double input(int lines, double t)
{
    return lines == IN_T ? t : lines == IN_LOG ? log(t) : t / (1 + t) - 0.5;
}

/* h(t) at POINTS inputs of m. The state: logarithms of the lines' slopes, then their heights. */
static sal_expr record_h(sal_tape *tape, const double *inputs)
{
    sal_expr s = sal_state(tape), u = sal_constant(tape, inputs, SAL_SHAPE(POINTS, 1));
    sal_expr slope = sal_reshape(sal_exp(sal_slice(s, 0, 0, LINES)), SAL_SHAPE(1, LINES));
    sal_expr height = sal_reshape(sal_slice(s, 0, LINES, LINES), SAL_SHAPE(1, LINES));
    sal_expr lines = sal_add(sal_mul(u, slope), height);
    sal_expr largest = sal_max_axis(sal_reshape(lines, SAL_SHAPE(POINTS * BLOCKS, UNITS)), 1);
    sal_expr negated = sal_reshape(sal_neg(largest), SAL_SHAPE(POINTS, BLOCKS));
    return sal_softplus(sal_neg(sal_max_axis(negated, 1)));
}

/* g at the POINTS values of t. */
static sal_expr record_g(sal_tape *tape, int lines)
{
    double t[POINTS], here[POINTS], mirrored[POINTS];
    for (int k = 0; k < POINTS; k++) {
        t[k] = t_of(k);
        here[k] = input(lines, t[k]);
        mirrored[k] = input(lines, 1 / t[k]);
    }
    sal_expr times = sal_constant(tape, t, SAL_SHAPE(POINTS));
    return sal_minimum(record_h(tape, here), sal_mul(times, record_h(tape, mirrored)));
}

/* f = w'g - c mean (g - max(1, t))^2 with parameters w and c: the loss, or a value of g. */
static sal_status make_model(int lines, sal_model **model, sal_error *err)
{
    double target[POINTS];
    for (int k = 0; k < POINTS; k++) {
        target[k] = fmax(1, t_of(k));
    }
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_BINARY, .count = 2 * LINES }, err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr g = record_g(tape, lines), w = sal_param(tape, "w", SAL_SHAPE(POINTS));
    sal_expr off = sal_sub(g, sal_constant(tape, target, SAL_SHAPE(POINTS)));
    sal_expr loss = sal_scale(sal_dot(off, off), 1.0 / POINTS);
    sal_expr c = sal_sum(sal_param(tape, "c", SAL_SHAPE(1)));
    sal_expr f = sal_sub(sal_dot(w, g), sal_mul(c, loss));
    sal_status status = sal_model_from_tape(tape, f, model, err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return status;
}

/* ---- fitting */

/* Lines with slopes around 1 through heights around 0. */
static void start(const struct form *form, double *s)
{
    uint64_t state = 1;
    for (int k = 0; k < 2 * LINES; k++) {
        double sum = 0; /* of twelve uniform numbers: nearly normal */
        for (int j = 0; j < 12; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            sum += (double)(state >> 11) / 9007199254740992.0;
        }
        s[k] = (k < LINES ? form->slopes : form->heights) * (sum - 6);
    }
}

static sal_status fit(sal_model *model, int updates, double *s, sal_error *err)
{
    double f, c = 1, gradient[2 * LINES], velocity[2 * LINES] = { 0 };
    sal_status status = sal_model_set_params(model, "c", &c, err);
    for (int u = 0; u < updates && status == SAL_OK; u++) {
        status = sal_model_evaluate_at(model, 1, s, &f, gradient, err);
        for (int k = 0; k < 2 * LINES && status == SAL_OK; k++) {
            velocity[k] = 0.9 * velocity[k] + gradient[k];
            s[k] += 0.01 * velocity[k];
        }
    }
    return status;
}

static sal_status read_g(sal_model *model, const double *s, double *g, sal_error *err)
{
    double w[POINTS] = { 0 }, c = 0;
    sal_status status = sal_model_set_params(model, "c", &c, err);
    for (int k = 0; k < POINTS && status == SAL_OK; k++) {
        w[k] = 1;
        status = sal_model_set_params(model, "w", w, err);
        status = status ? status : sal_model_evaluate_at(model, 1, s, &g[k], NULL, err);
        w[k] = 0;
    }
    return status;
}

/* A curve of the panel. */
static sal_status try_form(const struct form *form, int updates, double *g, sal_error *err)
{
    double s[2 * LINES], square = 0, largest = 0;
    sal_model *model = NULL;
    start(form, s);
    sal_status status = make_model(form->lines, &model, err);
    status = status ? status : fit(model, updates, s, err);
    status = status ? status : read_g(model, s, g, err);
    for (int k = 0; k < POINTS && status == SAL_OK; k++) {
        double off = fabs(g[k] - fmax(1, t_of(k)));
        square += off * off / POINTS;
        largest = fmax(largest, off);
    }
    if (status == SAL_OK) {
        printf("%-26s RMSE %.4f, largest error %.4f\n", form->name, sqrt(square), largest);
    }
    sal_model_destroy(model);
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    static panel p = { .title = "Fitted to max(1, t)",
                       .x_label = "t",
                       .y_label = "g(t)",
                       .points = POINTS,
                       .curves = FORMS + 1,
                       .name = { "max(1,t)" } };
    const int updates = a->size == QUICK ? 500 : a->size == USUAL ? 10000 : 200000;
    sal_status status = SAL_OK;
    for (int k = 0; k < FORMS && status == SAL_OK; k++) {
        p.name[k + 1] = forms[k].name;
        int some = forms[k].updates > 0 && a->size != QUICK ? forms[k].updates : updates;
        status = try_form(&forms[k], some, p.y[k + 1], err);
    }
    for (int k = 0; k < POINTS; k++) {
        p.x[k] = t_of(k);
        p.y[0][k] = fmax(1, p.x[k]);
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
                                   "Sansone 2022, figure 9: the capacity of a monotonic network",
                               .caption = "Least squares by gradient descent.",
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
