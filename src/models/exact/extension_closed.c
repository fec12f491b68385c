/* SPDX-License-Identifier: MIT */
/* A multilinear f is its own extension, read at the mean of the embedding. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/exact/extension.h"

/* The mean of variable v's reals under its probabilities. */
static void embed_mean(const sali_variable *variable, const double *theta, double *x)
{
    if (variable->kind == SAL_CATEGORICAL) {
        memcpy(x, theta, (size_t)variable->states * sizeof *x);
        return;
    }
    *x = 0;
    for (int32_t k = 0; k < variable->states; k++) {
        *x += theta[k] * variable->levels[k];
    }
    *x = fmin(fmax(*x, variable->levels[0]), variable->levels[variable->states - 1]);
}

/* Fill ext->gradient: E[f | s_i = k] = F + (x_k - x) df/dx_i, where x_k are the reals of state k of
 * variable i, in which f is affine. False if a result is not finite, as happens with forbidden
 * states. */
static bool gradient_from_slopes(sali_extension *ext, const double *x, const double *slope)
{
    const sal_space *space = ext->model->space;
    double *out = ext->gradient;
    bool finite = true;
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        const double *g = slope + variable->offset, *at = x + variable->offset;
        double mean = 0;
        for (int32_t k = 0; k < variable->width; k++) {
            mean += g[k] * at[k];
        }
        for (int32_t k = 0; k < variable->states; k++) {
            double there = variable->levels ? g[0] * variable->levels[k] : g[k];
            out[k] = ext->F + there - mean;
            finite = finite && isfinite(out[k]);
        }
        out += variable->states;
    }
    return finite;
}

/* Fill ext->gradient: E[f | s_i = k] = f(x with the reals of variable i set to state k), by an
 * evaluation for each i and k. */
static sal_status gradient_from_values(sali_extension *ext, const double *x, sal_error *err)
{
    const sal_space *space = ext->model->space;
    size_t N = (size_t)space->width;
    double *rows = SALI_NEW_ARRAY(double, space->max_states * space->width);
    double *out = ext->gradient;
    sal_status status = rows ? SAL_OK : sali_fail_memory(err);
    for (int64_t v = 0; status == SAL_OK && v < space->n_variables; v++) {
        int32_t states = space->variables[v].states;
        for (int32_t k = 0; k < states; k++) {
            memcpy(rows + (size_t)k * N, x, N * sizeof *x);
            sali_embed_one_f64(space, v, k, rows + (size_t)k * N);
        }
        status = sal_model_evaluate_at(ext->model, states, rows, out, NULL, err);
        out += states;
    }
    sali_free(rows);
    return status;
}

sal_status sali_extension_closed(sali_extension *ext, sal_error *err)
{
    const sal_space *space = ext->model->space;
    double *x = SALI_NEW_ARRAY(double, 2 * space->width);
    if (!x) {
        return sali_fail_memory(err);
    }
    double *slope = x + space->width;
    const double *theta = ext->theta;
    for (int64_t v = 0; v < space->n_variables; v++) {
        embed_mean(&space->variables[v], theta, x + space->variables[v].offset);
        theta += space->variables[v].states;
    }
    sal_status status =
        sal_model_evaluate_at(ext->model, 1, x, &ext->F, ext->gradient ? slope : NULL, err);
    if (status == SAL_OK && ext->gradient && !gradient_from_slopes(ext, x, slope)) {
        status = gradient_from_values(ext, x, err);
    }
    sali_free(x);
    return status;
}
