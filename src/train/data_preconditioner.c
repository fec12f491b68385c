/* SPDX-License-Identifier: MIT */
/* A preconditioner from data: their covariance, in units of the curvature of f. */
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "stats/covariance.h"
#include "train/data.h"
#include "models/model.h"

/* Set spacing [N] to the distance of neighbouring levels of each real. */
static void spell_spacings(const sal_space *space, double *spacing)
{
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        int64_t width = space->variables[s->first].width;
        for (int64_t i = 0; i < s->count * width; i++) {
            spacing[s->offset + i] = sali_stretch_spacing(s);
        }
    }
}

/* Add all rows, in units in which neighbouring levels are 1 apart, to the sums [N] and products M
 * [N x N] of a covariance; `row` [V] and `x` [N] are scratch. Returns the sum of the weights. */
static double add_rows(const sal_data *data, const sal_space *space, const double *spacing,
                       int32_t *row, double *x, double *sums, double *M)
{
    double total = 0;
    for (int64_t r = 0; r < data->rows; r++) {
        double weight = data->weight ? data->weight[r] : 1;
        sali_data_binarise(data, r, 0, 0, row); /* with greys, one drawing of each row */
        sali_embed_f64(space, 1, row, x);
        for (int64_t i = 0; i < space->width; i++) {
            x[i] /= spacing[i];
        }
        sali_covariance_add(space->width, weight, x, sums, M);
        total += weight;
    }
    return total;
}

sal_status sal_data_preconditioner(const sal_data *data, const sal_model *model, double *M,
                                   sal_error *err)
{
    if (!data || !model || !M) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_data_preconditioner: the data, the model or the result are NULL");
    }
    const sal_space *space = model->space;
    sal_status status = sali_data_check("sal_data_preconditioner", data, space, err);
    if (status != SAL_OK) {
        return status;
    }
    const int64_t N = space->width;
    sali_memory memory = { 0 };
    int32_t *row = SALI_TAKE(&memory, int32_t, space->n_variables);
    double *x = SALI_TAKE(&memory, double, N), *sums = SALI_TAKE(&memory, double, N);
    double *spacing = SALI_TAKE(&memory, double, N);
    status = sali_memory_status(&memory, err);
    if (status == SAL_OK) {
        spell_spacings(space, spacing);
        memset(M, 0, (size_t)(N * N) * sizeof *M);
        double total = add_rows(data, space, spacing, row, x, sums, M);
        sali_covariance_finish(N, total, sums, M);
        for (int64_t i = 0; i < N * N; i++) {
            M[i] /= spacing[i / N] * spacing[i % N];
        }
    }
    sali_memory_free(&memory);
    return status;
}
