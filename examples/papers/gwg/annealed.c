/* Annealed samples of a trained model: figure 8 of Grathwohl et al. (2021), whose samples come from
 * an annealed chain of 300,000 steps of GWG.
 *
 *     saltus train mlp:visible=256,base=1 --data digits --out DIR --averaging 0.999
 *     annealed [--quick | --full] [--svg FIGURE.svg] DIR [IMAGES]
 *
 * DIR is what `saltus train` wrote: its averaged parameters are taken, if it has them. IMAGES are
 * what it was trained on, the drawn digits without it. Temperature falls from 20 to 1 over 10,000
 * steps (--full: 300,000); beside that as many steps at temperature 1, from random starts as well.
 * The paper does not print its schedule. */
#include <math.h>
#include <stdlib.h>
#include "../panel.h"
#include "../program.h"
#include "states.h"

enum { CHAINS = 50, ROWS = 1000 };

static void draw_sheet(const char *title, int64_t n, int64_t side, const uint8_t *codes,
                       sal_figure *figure)
{
    double *grey = figure ? malloc((size_t)(n * side * side) * sizeof *grey) : NULL;
    for (int64_t k = 0; grey && k < n * side * side; k++) {
        grey[k] = codes[k];
    }
    if (grey) {
        const sal_images images = { .n = n, .height = side, .width = side, .values = grey };
        sal_figure_panel(figure, &(sal_panel){ .title = title, .images = &images });
    }
    free(grey);
}

/* States at the end of `steps` steps, and their distance to the data. */
static sal_status sample(sal_model *model, const char *title, bool anneal, int64_t steps,
                         const sal_data *data, sal_figure *figure, sal_error *err)
{
    double both[ESTIMATORS];
    const int64_t V = data->variables;
    uint8_t *states = malloc((size_t)(CHAINS * V));
    const sal_run_options o = { .sampler = "gwg",
                                .chains = CHAINS,
                                .warmup = -1,
                                .draws = steps,
                                .seed = 1,
                                .threads = 1,
                                .annealing = {
                                    .on = anneal, .from = anneal ? 20 : 0, .to = anneal ? 1 : 0 } };
    sal_status status = states ? states_at_end(model, &o, states, err) : SAL_ERR_MEMORY;
    status = status ? status : log10_mmd2(V, CHAINS, states, data->rows, data->codes, both, err);
    if (status == SAL_OK) {
        printf("%-20s  %12.3f  %12.3f\n", title, both[U_STATISTIC], both[V_STATISTIC]);
        draw_sheet(title, CHAINS, data->height, states, figure);
    }
    free(states);
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    if (!a->files[0]) {
        snprintf(err->message, sizeof err->message, "which directory of `saltus train`?");
        return SAL_ERR_ARGUMENT;
    }
    sal_model *model = NULL;
    sal_data data = { 0 };
    const int64_t steps = a->size == QUICK ? 1000 : a->size == USUAL ? 10000 : 300000;
    const sal_data_options first = { .count = ROWS };
    sal_status status = sal_model_open(a->files[0], 0, &model, err);
    if (status == SAL_OK) {
        int64_t V = sal_space_variables(sal_model_space(model));
        status = a->files[1] ? sal_data_read(a->files[1], &first, &data, err)
                             : sal_data_digits(ROWS, (int64_t)sqrt((double)V), 0, &data, err);
        status = status == SAL_OK && data.variables != V ? SAL_ERR_DATA : status;
    }
    if (status == SAL_OK) {
        printf("%d states after %d steps; log10 MMD^2 to data\n%-20s  %12s  %12s\n", CHAINS,
               (int)steps, "", "U-statistic", "V-statistic");
        draw_sheet("data", CHAINS, data.height, data.codes, figure);
        status = sample(model, "annealed", true, steps, &data, figure, err);
    }
    status = status ? status : sample(model, "at temperature 1", false, steps, &data, figure, err);
    sal_data_destroy(&data);
    sal_model_destroy(model);
    return status;
}

int main(int argc, char **argv)
{
    static const program p = { .title = "Grathwohl et al. 2021, figure 8: annealed samples",
                               .caption = "GWG from random starts.",
                               .files = true,
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
