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
#include <math.h>
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

/* Figure 1: alpha is the gradient of f in the middle, x = 0. */
static sal_status draw_alpha(const sal_model *model, const char *title, sal_figure *figure,
                             sal_error *err)
{
    int64_t V = sal_space_variables(sal_model_space(model)), side = (int64_t)sqrt((double)V);
    double f, *zero = calloc((size_t)V, sizeof *zero), *alpha = calloc((size_t)V, sizeof *alpha);
    sal_status status =
        zero && alpha ? sal_model_evaluate_at(model, 1, zero, &f, alpha, err) : SAL_ERR_MEMORY;
    if (status == SAL_OK && figure) {
        sal_figure_panel(figure, &(sal_panel){ .title = title, .square = true });
        sal_figure_heatmap(figure, &(sal_heatmap){ .rows = side,
                                                   .columns = side,
                                                   .values = alpha,
                                                   .label = "alpha",
                                                   .diverging = true });
    }
    free(zero);
    free(alpha);
    return status;
}

/* Figure 4: a state of each function during burn-in. */
static sal_status draw_pictures(const trace traces[METHODS], int64_t side, const char *title,
                                sal_figure *figure)
{
    double *grey = malloc((size_t)(METHODS * side * side) * sizeof *grey);
    if (!grey) {
        return SAL_ERR_MEMORY;
    }
    for (int m = 0; m < METHODS; m++) {
        for (int64_t v = 0; v < side * side; v++) {
            grey[m * side * side + v] = traces[m].picture ? traces[m].picture[v] : 0;
        }
    }
    sal_figure_panel(figure, &(sal_panel){ .title = title });
    sal_figure_images(
        figure,
        &(sal_images){
            .n = METHODS, .height = side, .width = side, .values = grey, .columns = METHODS });
    free(grey);
    return SAL_OK;
}

static sal_status run_case(int k, size scale, sal_figure *figure, sal_error *err)
{
    char text[100];
    sal_model *model = NULL;
    trace traces[METHODS] = { 0 };
    const int64_t side = scale == QUICK ? 10 : 30;
    const trace_options o = { .chains = scale == QUICK ? 10 : 30,
                              .burn_in = scale == QUICK ? 200 : 2000,
                              .iterations = scale == QUICK   ? 2000
                                            : scale == USUAL ? 10000
                                                             : 30000,
                              .lag = 50,
                              .picture_at = scale == QUICK ? 0 : cases[k].picture_at };
    snprintf(text, sizeof text, "segmentation:side=%d,lambda=%g,mu=%g,sigma=3", (int)side,
             cases[k].lambda, cases[k].mu);
    sal_status status = sal_model_builtin(text, 0, &model, err);
    status = status ? status : trace_all(model, &o, traces, err);
    if (status == SAL_OK) {
        trace_print(cases[k].title, traces, cases[k].paper);
    }
    if (status == SAL_OK && figure) {
        status = draw_alpha(model, cases[k].title, figure, err);
        trace_draw(cases[k].title, &o, traces, figure);
    }
    if (status == SAL_OK && figure && o.picture_at > 0) {
        snprintf(text, sizeof text, "states after %d iterations, functions in the legend's order",
                 (int)o.picture_at);
        status = draw_pictures(traces, side, text, figure);
    }
    trace_free(traces);
    sal_model_destroy(model);
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int k = 0; k < CASES && status == SAL_OK; k++) {
        status = run_case(k, a->size, figure, err);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const program p = { .title = "Figures 1 to 4, 6 and 7: posteriors of pictures",
                               .caption = "By case: alpha; burn-in; autocorrelation; a chain; "
                                          "balancing functions; states in burn-in.",
                               .run = make_figure };
    return program_main(argc, argv, &p);
}
