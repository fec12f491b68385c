/* The log-likelihood of data: of independent variables, and of a model whose log Z is known. */
#include <math.h>

#include <saltus/evaluate.h>
#include "core/alloc.h"
#include "core/error.h"
#include "models/base.h"

/* How far fitted probabilities stay from 0, times the number of states. */
#define FLOOR 0.02
/* Rows that are evaluated at once. */
#define BATCH 256

static sal_status check_data(const sal_space *space, const sal_data *data, sal_error *err)
{
    int64_t V = space->n_variables;
    if (!data || !data->codes || data->variables != V || data->rows < 1) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT, "the data have %lld rows of %lld variables; the model has %lld",
            data ? (long long)data->rows : 0, data ? (long long)data->variables : 0, (long long)V);
    }
    for (int64_t i = 0; i < data->rows * V; i++) {
        if (!sali_has_code(&space->variables[i % V], data->codes[i])) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "data row %lld, variable %lld: code %d; expected 0 to %d",
                             (long long)(i / V), (long long)(i % V), data->codes[i],
                             sali_last_code(&space->variables[i % V]));
        }
    }
    return SAL_OK;
}

/* ---- independent variables */

/* Shares of K states, changed to log-probabilities: what is above the floor shares what the floors
 * leave. */
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
    sal_status status = check_data(space, data, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t k = 0; k < space->n_states; k++) {
        log_base[k] = 0;
    }
    for (int64_t r = 0; r < data->rows; r++) {
        double *share = log_base;
        for (int64_t v = 0; v < space->n_variables; v++) {
            share[data->codes[r * space->n_variables + v]] += 1 / (double)data->rows;
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
                             double *log_prob, sal_error *err)
{
    double *base = NULL;
    sal_status status = check_data(space, data, err);
    status = status ? status : sali_base_create(space, log_base, &base, err);
    for (int64_t r = 0; status == SAL_OK && r < data->rows; r++) {
        const double *entry = base;
        log_prob[r] = 0;
        for (int64_t v = 0; v < space->n_variables; v++) {
            log_prob[r] += entry[data->codes[r * space->n_variables + v]];
            entry += space->variables[v].states;
        }
    }
    sali_free(base);
    return status;
}

/* ---- a model */

/* f of all rows, [rows]. */
static sal_status evaluate_rows(const sal_model *model, const sal_data *data, double *f,
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

static sal_likelihood summarise(int64_t n, const double *f, double log_z, double log_z_error)
{
    double mean = 0, squares = 0;
    for (int64_t r = 0; r < n; r++) {
        mean += f[r] / (double)n;
    }
    for (int64_t r = 0; r < n; r++) {
        squares += (f[r] - mean) * (f[r] - mean);
    }
    double error = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : NAN;
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
    sal_status status = check_data(model->space, data, err);
    double *f = status == SAL_OK ? SALI_NEW_ARRAY(double, data->rows) : NULL;
    if (status == SAL_OK && !f) {
        status = sali_fail_memory(err);
    }
    status = status ? status : evaluate_rows(model, data, f, err);
    if (status == SAL_OK) {
        *likelihood = summarise(data->rows, f, log_z, log_z_error);
    }
    sali_free(f);
    return status;
}
