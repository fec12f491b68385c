/* Annealed samples of a trained model: figure 8 of Grathwohl et al. (2021), whose samples come from
 * an annealed chain of 300,000 steps of GWG.
 *
 *     saltus train mlp:visible=256,base=1,units=0 --data digits --out DIR --averaging 0.999
 *     annealed [--quick | --full] [--svg FIGURE.svg] [as-run] DIR [IMAGES]
 *
 * DIR is what `saltus train` wrote: its averaged parameters are taken, if it has them. IMAGES are
 * what it was trained on, the drawn digits without it. Temperature falls from 20 to 1 over 10,000
 * steps (--full: 300,000); beside that as many steps at temperature 1, from random starts as well.
 * The paper does not print its schedule. With `as-run` the path is that of the authors' program
 * (eval_ais.py of their repository GWG_release): annealed importance sampling, from independent
 * variables with the data's means to the model, a step of gwg at each of as many temperatures. */
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

enum { AT_ONE, ANNEALED, BRIDGED };

/* The states at the end of annealed importance sampling. */
static sal_status bridge(sal_model *model, int64_t steps, const sal_data *data, uint8_t *states,
                         sal_error *err)
{
    const int64_t V = data->variables;
    sal_ais_estimate estimate;
    double *log_base = malloc((size_t)(2 * V) * sizeof *log_base);
    int32_t *ends = malloc((size_t)(CHAINS * V) * sizeof *ends);
    const sal_ais_options o = { .chains = CHAINS,
                                .temperatures = steps,
                                .sampler = "gwg",
                                .seed = 1,
                                .threads = 1,
                                .log_base = log_base,
                                .ends = ends };
    sal_status status = log_base && ends ? SAL_OK : SAL_ERR_MEMORY;
    status = status ? status : sal_base_fit(sal_model_space(model), data, log_base, err);
    status = status ? status : sal_ais(model, &o, &estimate, NULL, err);
    if (status == SAL_OK) {
        states_to_bytes(CHAINS * V, ends, states);
    }
    free(log_base);
    free(ends);
    return status;
}

/* States at the end of `steps` steps, and their distance to the data. */
static sal_status sample(sal_model *model, const char *title, int way, int64_t steps,
                         const sal_data *data, sal_figure *figure, sal_error *err)
{
    double both[ESTIMATORS];
    const int64_t V = data->variables;
    const bool anneal = way == ANNEALED;
    uint8_t *states = malloc((size_t)(CHAINS * V));
    const sal_run_options o = { .sampler = "gwg",
                                .chains = CHAINS,
                                .warmup = -1,
                                .draws = steps,
                                .seed = 1,
                                .threads = 1,
                                .annealing = {
                                    .on = anneal, .from = anneal ? 20 : 0, .to = anneal ? 1 : 0 } };
    sal_status status = !states          ? SAL_ERR_MEMORY
                        : way == BRIDGED ? bridge(model, steps, data, states, err)
                                         : states_at_end(model, &o, states, err);
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
    arguments rest = *a;
    const int way = as_run(&rest) ? BRIDGED : ANNEALED;
    if (!rest.files[0]) {
        snprintf(err->message, sizeof err->message, "which directory of `saltus train`?");
        return SAL_ERR_ARGUMENT;
    }
    sal_model *model = NULL;
    sal_data data = { 0 };
    const int64_t steps = a->size == QUICK ? 1000 : a->size == USUAL ? 10000 : 300000;
    const sal_data_options first = { .count = ROWS };
    sal_status status = sal_model_open(rest.files[0], 0, &model, err);
    if (status == SAL_OK) {
        int64_t V = sal_space_variables(sal_model_space(model));
        status = rest.files[1] ? sal_data_read(rest.files[1], &first, &data, err)
                               : sal_data_digits(ROWS, (int64_t)sqrt((double)V), 0, &data, err);
        status = status == SAL_OK && data.variables != V ? SAL_ERR_DATA : status;
    }
    if (status == SAL_OK) {
        printf("%d states after %d steps; log10 MMD^2 to data\n%-20s  %12s  %12s\n", CHAINS,
               (int)steps, "", "U-statistic", "V-statistic");
        draw_sheet("data", CHAINS, data.height, data.codes, figure);
        status = sample(model, "annealed", way, steps, &data, figure, err);
    }
    status = status ? status : sample(model, "at temperature 1", AT_ONE, steps, &data, figure, err);
    sal_data_destroy(&data);
    sal_model_destroy(model);
    return status;
}

int main(int argc, char **argv)
{
    static const char *const words[] = { "as-run", NULL };
    static const program p = { .title = "Grathwohl et al. 2021, figure 8: annealed samples",
                               .caption = "GWG from random starts.",
                               .files = true,
                               .words = words,
                               .run = make_figure };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
