/* SPDX-License-Identifier: MIT */
/* The log-likelihood of data: of independent variables, and of a model whose log Z is known. */
#include <math.h>

#include <saltus/evaluate.h>
#include "core/alloc.h"
#include "core/error.h"
#include "models/base.h"
#include "train/data.h"

/* The least fitted probability, multiplied by the number of states. */
#define FLOOR 0.02
/* Rows that are evaluated at once. */
#define BATCH 256

/* ---- independent variables */

/* Change shares of K states to log-probabilities of at least the floor, FLOOR / K; what is above
 * the floor shares the rest. */
static void raise_to_floor(int32_t K, double *share)
{
    double least = FLOOR / K, excess = 0;
    for (int32_t k = 0; k < K; k++) {
        excess += fmax(share[k] - least, 0);
    }
    for (int32_t k = 0; k < K; k++) {
        share[k] = log(least + (1 - FLOOR) * fmax(share[k] - least, 0) / excess);
    }
}

sal_status sal_base_fit(const sal_space *space, const sal_data *data, double *log_base,
                        sal_error *err)
{
    if (space->unbounded) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "base: counts without a cap have no list of probabilities; give them a "
                         "cap");
    }
    sal_status status = sali_data_check("sal_base_fit", data, space, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t k = 0; k < space->n_states; k++) {
        log_base[k] = 0;
    }
    const double total = sali_data_weight(data);
    for (int64_t r = 0; r < data->rows; r++) {
        double *share = log_base, unit = (data->weight ? data->weight[r] : 1) / total;
        for (int64_t v = 0; v < space->n_variables; v++) {
            share[data->codes[r * space->n_variables + v]] += unit;
            share += space->variables[v].states;
        }
    }
    for (int64_t v = 0; v < space->n_variables; v++) {
        raise_to_floor(space->variables[v].states, log_base);
        log_base += space->variables[v].states;
    }
    return SAL_OK;
}

sal_status sal_base_log_prob(const sal_space *space, const double *log_base, const sal_data *data,
                             double *log_prob, sal_likelihood *likelihood, sal_error *err)
{
    double *base = NULL, *own = NULL;
    sal_status status = sali_data_check("sal_base_log_prob", data, space, err);
    status = status ? status : sali_base_create(space, log_base, &base, err);
    if (status == SAL_OK && !log_prob) {
        log_prob = own = SALI_NEW_ARRAY(double, data->rows);
        status = own ? SAL_OK : sali_fail_memory(err);
    }
    for (int64_t r = 0; status == SAL_OK && r < data->rows; r++) {
        const double *entry = base;
        log_prob[r] = 0;
        for (int64_t v = 0; v < space->n_variables; v++) {
            log_prob[r] += entry[data->codes[r * space->n_variables + v]];
            entry += space->variables[v].states;
        }
    }
    if (status == SAL_OK && likelihood) {
        *likelihood = sali_likelihood_of(data, log_prob, 0, 0);
    }
    sali_free(base);
    sali_free(own);
    return status;
}

/* ---- a model */

sal_status sali_evaluate_rows(const sal_model *model, const sal_data *data, double *f,
                              sal_error *err)
{
    int64_t V = data->variables;
    int32_t *codes = SALI_NEW_ARRAY(int32_t, BATCH * V);
    sal_status status = codes ? SAL_OK : sali_fail_memory(err);
    for (int64_t first = 0; status == SAL_OK && first < data->rows; first += BATCH) {
        int64_t n = data->rows - first < BATCH ? data->rows - first : BATCH;
        for (int64_t i = 0; i < n * V; i++) {
            codes[i] = data->codes[first * V + i];
        }
        status = sal_model_evaluate(model, n, codes, f + first, NULL, NULL, err);
    }
    sali_free(codes);
    return status;
}

sal_likelihood sali_likelihood_of(const sal_data *data, const double *f, double log_z,
                                  double log_z_error)
{
    const double n = (double)data->rows, total = sali_data_weight(data);
    double mean = 0, squares = 0;
    for (int64_t r = 0; r < data->rows; r++) {
        mean += (data->weight ? data->weight[r] : 1) * f[r] / total;
    }
    for (int64_t r = 0; r < data->rows; r++) {
        double d = (data->weight ? data->weight[r] : 1) * (f[r] - mean) / total;
        squares += d * d;
    }
    double error = n > 1 ? sqrt(squares * n / (n - 1)) : NAN;
    return (sal_likelihood){ .mean_f = mean,
                             .mean = mean - log_z,
                             .data_error = error,
                             .standard_error = hypot(error, log_z_error) };
}

sal_status sal_log_likelihood(const sal_model *model, const sal_data *data, double log_z,
                              double log_z_error, sal_likelihood *likelihood, sal_error *err)
{
    if (!model || !likelihood || !isfinite(log_z) || !(log_z_error >= 0)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_log_likelihood: log Z %g with error %g; expected finite numbers, and "
                         "pointers that are not NULL",
                         log_z, log_z_error);
    }
    sal_status status = sali_data_check("sal_log_likelihood", data, model->space, err);
    double *f = status == SAL_OK ? SALI_NEW_ARRAY(double, data->rows) : NULL;
    status = status || f ? status : sali_fail_memory(err);
    status = status ? status : sali_evaluate_rows(model, data, f, err);
    if (status == SAL_OK) {
        *likelihood = sali_likelihood_of(data, f, log_z, log_z_error);
    }
    sali_free(f);
    return status;
}
