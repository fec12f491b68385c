/* Locally balanced samplers on posteriors of pictures: tables 1 and 2 and figures 1 to 4, 6 and 7
 * of Sansone (2022). Pixels x_i = -1 or 1 are an Ising model a priori:
 *
 *     f(x) = sum_i alpha_i x_i + lambda sum_ij x_i x_j
 *
 * An edge counts once: lambda is twice the theta of `ising`. 30 x 30 pixels, 30 chains from
 * uniformly random states, burn-in in which LSB learns g.
 *
 *     ising [--quick | --full] [--svg FIGURE.svg] [printed] [run] [library] [1] [2] [3] [4]
 *
 * printed: y_i ~ N(mu x_i, sigma^2) and alpha_i = y_i mu / sigma^2, one picture for all chains,
 *          free borders; learning by SGD with rate 1e-4 after every iteration. The paper's picture
 *          is not described; ours is a disc.
 * run:     as the author's program (github.com/emsansone/LSB) has it: alpha_i = mu or -mu, of a
 *          square, plus U(-sigma, sigma), other noise for each chain, a torus, shorter burn-in;
 *          learning by Adam with rate 1e-2, LSB 2 from sqrt(t). A chain learns by itself here, for
 *          a run has one model; 10 chains.
 * library: the model as printed, learning as the library does by default.
 *
 * Numbers are those of cases; the figure is of the last form asked for. --full has the paper's
 * 30,000 iterations after burn-in, the default a third, and 30 chains in all forms. */
#include <stdlib.h>
#include "../program.h"
#include "trace.h"

/* The program's burn-in and lags; the paper's are 2000. */
static const struct {
    const char *title;
    double lambda, mu;
    int64_t burn_in, lags;
    int64_t picture_at;
    double paper[LSB2 + 1]; /* ESS, table 2 */
} cases[] = {
    { "1: independent, noisy", 0, 1, 2000, 500, 0, { 2.48, 2.30, 2.42, 1.75, 2.50, 2.46 } },
    { "2: independent, clean", 0, 3, 800, 400, 0, { 3.33, 2.94, 3.33, 1.72, 2.98, 3.33 } },
    { "3: dependent, noisy", 1, 1, 2000, 500, 500, { 2.58, 1.99, 2.56, 1.26, 2.48, 2.67 } },
    { "4: dependent, clean", 1, 3, 800, 100, 300, { 32.8, 18.5, 31.8, 2.60, 18.4, 30.8 } },
};
enum { CASES = 4 };

static const struct form {
    const char *name, *settings; /* of `segmentation` */
    bool as_run;
    const char *lsb1, *lsb2;
} forms[] = {
    { "printed", "", false, "lsb1:optimiser=sgd,rate=1e-4,updates=25,objective=density",
      "lsb2:optimiser=sgd,rate=1e-4,updates=25,objective=density" },
    { "run", ",shape=square,noise=uniform,alpha=observed,cyclic=1", true,
      "lsb1:rate=0.01,updates=25", "lsb2:lines=share,start=sqrt,rate=0.01,updates=25" },
    { "library", "", false, "lsb1", "lsb2" },
};
enum { FORMS = sizeof forms / sizeof *forms };

/* What was measured on a case. */
typedef struct result {
    int k;
    trace_options options;
    trace traces[METHODS];
    const struct form *form;
    int64_t side;
    double *alpha; /* [side x side] the gradient of f in the middle, x = 0 */
} result;

/* A case's picture with noise of its own. */
static sal_status open_picture(const void *data, int seed, sal_model **model, sal_error *err)
{
    const result *r = data;
    char text[160];
    snprintf(text, sizeof text, "segmentation:side=%d,lambda=%g,mu=%g,sigma=3,seed=%d%s",
             (int)r->side, cases[r->k].lambda, cases[r->k].mu, seed, r->form->settings);
    return sal_model_open(text, 0, model, err);
}

/* The gradient of f in the middle. */
static sal_status find_alpha(result *r, sal_error *err)
{
    double f, *zero = calloc((size_t)(r->side * r->side), sizeof *zero);
    sal_model *model = NULL;
    r->alpha = calloc((size_t)(r->side * r->side), sizeof *r->alpha);
    sal_status status = zero && r->alpha ? open_picture(r, 0, &model, err) : SAL_ERR_MEMORY;
    status = status ? status : sal_model_evaluate_at(model, 1, zero, &f, r->alpha, err);
    sal_model_destroy(model);
    free(zero);
    return status;
}

static sal_status run_case(size scale, result *r, sal_error *err)
{
    const struct form *form = r->form;
    const int less = scale == QUICK ? 10 : 1;
    const int chains = scale == QUICK ? 8 : scale == USUAL && form->as_run ? 10 : 30;
    const int64_t burn_in = (form->as_run ? cases[r->k].burn_in : 2000) / less;
    char title[80];
    r->side = scale == QUICK ? 10 : 30;
    r->options = (trace_options){ .open = open_picture,
                                  .data = r,
                                  .models = form->as_run ? chains : 1,
                                  .chains = form->as_run ? 1 : chains,
                                  .lsb1 = form->lsb1,
                                  .lsb2 = form->lsb2,
                                  .burn_in = burn_in,
                                  .iterations = scale == QUICK   ? 2000
                                                : scale == USUAL ? 10000
                                                                 : 30000,
                                  .lags = cases[r->k].lags / less,
                                  .lag = 50,
                                  .picture_at = cases[r->k].picture_at / less,
                                  .statistic = form->as_run ? OF_SUM : OF_F };
    snprintf(title, sizeof title, "%s (%s)", cases[r->k].title, form->name);
    sal_status status = trace_all(&r->options, r->traces, err);
    if (status == SAL_OK) {
        trace_print(title, r->traces, cases[r->k].paper);
    }
    return status ? status : find_alpha(r, err);
}

/* ---- the figure, in the paper's order */

static void draw_alpha(const result *r, const char *title, sal_figure *figure)
{
    const sal_heatmap map = {
        .rows = r->side, .columns = r->side, .values = r->alpha, .label = "alpha", .diverging = true
    };
    sal_figure_panel(figure, &(sal_panel){ .title = title, .square = true, .heatmap = &map });
}

/* A state of each function during burn-in. */
static void draw_pictures(const result *r, int k, sal_figure *figure)
{
    const int64_t V = r->side * r->side;
    double *grey = malloc((size_t)(METHODS * V) * sizeof *grey);
    char title[120];
    snprintf(title, sizeof title, "Figure 4, case %c: states after %d iterations, in the order %s",
             cases[k].title[0], (int)r->options.picture_at, "of the legends");
    for (int64_t i = 0; grey && i < METHODS * V; i++) {
        const uint8_t *picture = r->traces[i / V].picture;
        grey[i] = picture ? picture[i % V] : 0;
    }
    if (grey) {
        const sal_images images = {
            .n = METHODS, .height = r->side, .width = r->side, .values = grey, .columns = 4
        };
        sal_figure_panel(figure, &(sal_panel){ .title = title, .images = &images });
    }
    free(grey);
}

static void draw_all(const result results[CASES], sal_figure *figure)
{
    static const struct {
        const char *title;
        int view;
    } rows[] = { { "Figure 1, case", -1 },
                 { "Figure 3, case", BURN_IN },
                 { "Figure 6, case", CORRELATION },
                 { "Figure 7, case", MIXING },
                 { "Balancing functions, case", BALANCE } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int k = 0; k < CASES; k++) {
            const result *r = &results[k];
            char title[80];
            if (!r->alpha) {
                continue;
            }
            snprintf(title, sizeof title, "%s %s", rows[i].title, cases[k].title);
            if (rows[i].view < 0) {
                draw_alpha(r, title, figure);
            } else {
                trace_draw(rows[i].view, title, &r->options, r->traces, figure);
            }
        }
    }
    for (int k = 0; k < CASES; k++) {
        if (cases[k].picture_at > 0 && results[k].alpha) {
            draw_pictures(&results[k], k, figure);
        }
    }
}

/* Whether name `k` of n names is among the arguments, or none of them is. */
static bool chosen(const arguments *a, int n, const char *const *names, int k)
{
    bool any = false;
    for (int i = 0; i < n; i++) {
        any = any || (a->files[0] && arguments_want(a, names[i]));
    }
    return !any || arguments_want(a, names[k]);
}

static sal_status run_form(const arguments *a, const struct form *form, sal_figure *figure,
                           sal_error *err)
{
    static const char *const numbers[CASES] = { "1", "2", "3", "4" };
    result results[CASES] = { 0 };
    sal_status status = SAL_OK;
    for (int k = 0; k < CASES && status == SAL_OK; k++) {
        results[k].k = k;
        results[k].form = form;
        if (chosen(a, CASES, numbers, k)) {
            status = run_case(a->size, &results[k], err);
        }
    }
    if (status == SAL_OK && figure) {
        draw_all(results, figure);
    }
    for (int k = 0; k < CASES; k++) {
        trace_free(results[k].traces);
        free(results[k].alpha);
    }
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    const char *names[FORMS];
    sal_status status = SAL_OK;
    int last = 0;
    for (int i = 0; i < FORMS; i++) {
        names[i] = forms[i].name;
    }
    for (int i = 0; i < FORMS; i++) {
        last = chosen(a, FORMS, names, i) ? i : last;
    }
    for (int i = 0; i < FORMS && status == SAL_OK; i++) {
        if (chosen(a, FORMS, names, i)) {
            status = run_form(a, &forms[i], i == last ? figure : NULL, err);
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    static const char *const words[] = { "printed", "run", "library", "1", "2", "3", "4", NULL };
    static const program p = { .title =
                                   "Sansone 2022, figures 1 to 4, 6 and 7: posteriors of pictures",
                               .caption = "Figure 2 is cases 1 and 3 of figures 3 and 6.",
                               .columns = CASES,
                               .panel_width = 260,
                               .words = words,
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
