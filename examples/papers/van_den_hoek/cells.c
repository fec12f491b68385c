/* Cells that keep their size: the cellular Potts model, eq. 15 of van den Hoek's thesis (2022).
 *
 *     f(s) = J sum_<ij> [s_i = s_j] - kappa sum_k (v_k - V)^2
 *
 * where v_k is the number of sites of label k. As printed, the energy is minus this with a plus
 * before kappa = 1, so that volumes far from their target V are rewarded: one label takes all. The
 * sign here is that of the text. Shown are volumes and states with both signs, and without kappa.
 *
 *     cells [--quick | --full] [--svg FIGURE.svg] */
#include <math.h>
#include <stdlib.h>
#include "../panel.h"
#include "../program.h"

enum { LABELS = 6, CHAINS = 8, CASES = 4 };

static const double kappas[CASES] = { -0.02, 0, 0.02, 1 };

static void draw(int side, double kappa, const int32_t *codes, sal_figure *figure)
{
    char title[60];
    double *values = malloc((size_t)(side * side) * sizeof *values);
    for (int i = 0; values && i < side * side; i++) {
        values[i] = codes[i];
    }
    snprintf(title, sizeof title, "kappa = %g%s", kappa, kappa < 0 ? " (the printed sign)" : "");
    const sal_heatmap map = {
        .rows = side, .columns = side, .values = values, .label = "cell", .high = LABELS - 1
    };
    sal_figure_panel(figure, &(sal_panel){ .title = title, .square = true, .heatmap = &map });
    free(values);
}

/* Of the last states: the mean of (v_k - V)^2, its root over V, the largest cell, and the edges
 * between different labels. */
static void summarise(int side, double kappa, const int32_t *codes)
{
    double V = (double)(side * side) / LABELS, squares = 0, largest = 0, borders = 0;
    for (int c = 0; c < CHAINS; c++) {
        const int32_t *s = codes + c * side * side;
        double v[LABELS] = { 0 }, most = 0;
        for (int i = 0; i < side * side; i++) {
            v[s[i]] += 1;
            borders += i % side < side - 1 && s[i] != s[i + 1];
            borders += i / side < side - 1 && s[i] != s[i + side];
        }
        for (int k = 0; k < LABELS; k++) {
            squares += (v[k] - V) * (v[k] - V);
            most = fmax(most, v[k]);
        }
        largest += most;
    }
    printf("%8g %12.1f %12.2f %12.1f %12.1f\n", kappa, squares / (CHAINS * LABELS),
           sqrt(squares / (CHAINS * LABELS)) / V, largest / CHAINS, borders / CHAINS);
    fflush(stdout);
}

static sal_status run(int side, double kappa, int64_t sweeps, sal_figure *figure, sal_error *err)
{
    char text[80];
    sal_model *model = NULL;
    sal_run *sampled = NULL;
    const sal_run_options o = { .sampler = "gibbs",
                                .chains = CHAINS,
                                .warmup = -1,
                                .draws = 1,
                                .thin = sweeps * side * side,
                                .seed = 1,
                                .threads = 1 };
    int32_t *codes = malloc((size_t)(CHAINS * side * side) * sizeof *codes);
    snprintf(text, sizeof text, "cellular-potts:cyclic=0,side=%d,states=%d,J=1.5", side, LABELS);
    sal_status status = codes ? sal_model_open(text, 0, &model, err) : SAL_ERR_MEMORY;
    status = status ? status : sal_model_set_params(model, "kappa", &kappa, err);
    status = status ? status : sal_sample(model, &o, &sampled, err);
    status = status ? status : sal_run_last(sampled, codes, err);
    if (status == SAL_OK) {
        summarise(side, kappa, codes);
        if (figure) {
            draw(side, kappa, codes, figure);
        }
    }
    sal_run_destroy(sampled);
    sal_model_destroy(model);
    free(codes);
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    int side = a->size == QUICK ? 6 : a->size == FULL ? 18 : 12;
    int64_t sweeps = a->size == FULL ? 2000 : 100;
    sal_status status = SAL_OK;
    printf("Cellular Potts model, %d x %d sites, %d labels, J = 1.5, target volume %g\n", side,
           side, LABELS, (double)(side * side) / LABELS);
    printf("%8s %12s %12s %12s %12s\n", "kappa", "(v - V)^2", "root / V", "largest", "borders");
    for (int k = 0; k < CASES && status == SAL_OK; k++) {
        status = run(side, kappas[k], sweeps, figure, err);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const program p = { .title = "van den Hoek 2022, equation 15: the cellular Potts model",
                               .caption = "A state after 100 sweeps of Gibbs (--full: 2000) "
                                          "from a random start; 6 labels, J = 1.5.",
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
