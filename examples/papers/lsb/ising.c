/* Locally balanced samplers on posteriors of pictures: tables 1 and 2 and figures 1 to 4, 6 and 7
 * of Sansone (2022). Pixels x_i = -1 or 1 are an Ising model a priori, y_i ~ N(mu x_i, sigma^2):
 *
 *     f(x) = sum_i alpha_i x_i + lambda sum_ij x_i x_j, alpha_i = y_i mu / sigma^2
 *
 * An edge counts once: lambda is twice the theta of `ising`. 30 x 30 pixels, 30 chains from
 * uniformly random states, 2000 iterations of burn-in, in which LSB learns g, as in the paper.
 *
 *     ising [--quick | --full] [--svg FIGURE.svg]
 *
 * --full has the paper's 30,000 iterations after burn-in, the default a third. The paper's picture
 * is not described; ours is a disc. */
#include <stdlib.h>
#include "../program.h"
#include "trace.h"

static const struct {
    const char *title;
    double lambda, mu;
    int64_t picture_at;
    double paper[METHODS]; /* ESS, table 2 */
} cases[] = {
    { "1: independent, noisy", 0, 1, 0, { 2.48, 2.30, 2.42, 1.75, 2.50, 2.46 } },
    { "2: independent, clean", 0, 3, 0, { 3.33, 2.94, 3.33, 1.72, 2.98, 3.33 } },
    { "3: dependent, noisy", 1, 1, 500, { 2.58, 1.99, 2.56, 1.26, 2.48, 2.67 } },
    { "4: dependent, clean", 1, 3, 300, { 32.8, 18.5, 31.8, 2.60, 18.4, 30.8 } },
};
enum { CASES = 4 };

/* What was measured on a case. */
typedef struct result {
    trace_options options;
    trace traces[METHODS];
    int64_t side;
    double *alpha; /* [side x side] the gradient of f in the middle, x = 0 */
} result;

static sal_status find_alpha(const sal_model *model, result *r, sal_error *err)
{
    double f, *zero = calloc((size_t)(r->side * r->side), sizeof *zero);
    r->alpha = calloc((size_t)(r->side * r->side), sizeof *r->alpha);
    sal_status status = zero && r->alpha ? sal_model_evaluate_at(model, 1, zero, &f, r->alpha, err)
                                         : SAL_ERR_MEMORY;
    free(zero);
    return status;
}

static sal_status run_case(int k, size scale, result *r, sal_error *err)
{
    char text[100];
    sal_model *model = NULL;
    r->side = scale == QUICK ? 10 : 30;
    r->options = (trace_options){ .chains = scale == QUICK ? 10 : 30,
                                  .burn_in = scale == QUICK ? 200 : 2000,
                                  .iterations = scale == QUICK   ? 2000
                                                : scale == USUAL ? 10000
                                                                 : 30000,
                                  .lag = 50,
                                  .picture_at = cases[k].picture_at / (scale == QUICK ? 10 : 1) };
    snprintf(text, sizeof text, "segmentation:side=%d,lambda=%g,mu=%g,sigma=3", (int)r->side,
             cases[k].lambda, cases[k].mu);
    sal_status status = sal_model_open(text, 0, &model, err);
    status = status ? status : trace_all(model, &r->options, r->traces, err);
    if (status == SAL_OK) {
        trace_print(cases[k].title, r->traces, cases[k].paper);
    }
    status = status ? status : find_alpha(model, r, err);
    sal_model_destroy(model);
    return status;
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
        const sal_images images = { .n = METHODS,
                                    .height = r->side,
                                    .width = r->side,
                                    .values = grey,
                                    .columns = METHODS / 2 };
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
            snprintf(title, sizeof title, "%s %s", rows[i].title, cases[k].title);
            if (rows[i].view < 0) {
                draw_alpha(r, title, figure);
            } else {
                trace_draw(rows[i].view, title, &r->options, r->traces, figure);
            }
        }
    }
    for (int k = 0; k < CASES; k++) {
        if (cases[k].picture_at > 0) {
            draw_pictures(&results[k], k, figure);
        }
    }
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    result results[CASES] = { 0 };
    sal_status status = SAL_OK;
    for (int k = 0; k < CASES && status == SAL_OK; k++) {
        status = run_case(k, a->size, &results[k], err);
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

int main(int argc, char **argv)
{
    static const program p = { .title =
                                   "Sansone 2022, figures 1 to 4, 6 and 7: posteriors of pictures",
                               .caption = "Figure 2 is cases 1 and 3 of figures 3 and 6.",
                               .columns = CASES,
                               .panel_width = 260,
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
