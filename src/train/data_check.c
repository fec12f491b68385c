/* SPDX-License-Identifier: MIT */
/* Whether data sets are what they must be. */
#include <math.h>

#include "core/error.h"
#include "models/alphabet.h"
#include "train/data.h"

/* SAL_ERR_ARGUMENT unless all weights are finite and above 0. */
static sal_status check_weights(const char *who, const sal_data *data, sal_error *err)
{
    for (int64_t r = 0; data->weight && r < data->rows; r++) {
        if (!(data->weight[r] > 0) || !isfinite(data->weight[r])) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "%s: data row %lld has the weight %g; expected above 0, finite", who,
                             (long long)r, data->weight[r]);
        }
    }
    return SAL_OK;
}

/* SAL_ERR_ARGUMENT if there are intensities outside [0, 1], or variables with other than two
 * states. */
static sal_status check_intensity(const char *who, const sal_data *data, const sal_space *space,
                                  sal_error *err)
{
    const int64_t V = space->n_variables;
    for (int64_t v = 0; data->intensity && v < V; v++) {
        if (space->variables[v].states != 2) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "%s: the data have intensities, and variable %lld not two states", who,
                             (long long)v);
        }
    }
    for (int64_t i = 0; data->intensity && i < data->rows * V; i++) {
        if (!(data->intensity[i] >= 0 && data->intensity[i] <= 1)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "%s: data row %lld, variable %lld: intensity %g; expected 0 to 1", who,
                             (long long)(i / V), (long long)(i % V), data->intensity[i]);
        }
    }
    return SAL_OK;
}

/* SAL_ERR_ARGUMENT if the data and the variables of the space have letters, and other ones. */
static sal_status check_letters(const char *who, const sal_data *data, const sal_space *space,
                                sal_error *err)
{
    const char *own = space->n_blocks > 0 ? space->blocks[0].letters : NULL;
    if (!own || !data->alphabet[0] || sali_alphabet_same(own, data->alphabet)) {
        return SAL_OK;
    }
    return sali_fail(err, SAL_ERR_ARGUMENT,
                     "%s: the data have the letters %s; the model has the letters %s. Read the "
                     "data in the alphabet of the model",
                     who, data->alphabet, own);
}

sal_status sali_codes_fit(const char *who, const char *what, int64_t n, const uint8_t *codes,
                          const sal_space *space, sal_error *err)
{
    const int64_t V = space->n_variables;
    for (int64_t i = 0; i < n * V; i++) {
        if (!sali_has_code(&space->variables[i % V], codes[i])) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "%s: %s %lld, variable %lld: code %d; expected 0 to %d", who, what,
                             (long long)(i / V), (long long)(i % V), codes[i],
                             sali_last_code(&space->variables[i % V]));
        }
    }
    return SAL_OK;
}

sal_status sali_data_check(const char *who, const sal_data *data, const sal_space *space,
                           sal_error *err)
{
    if (!data || !data->codes || data->variables != space->n_variables) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT, "%s: the data have %lld variables; the model has %lld", who,
            (long long)(data && data->codes ? data->variables : 0), (long long)space->n_variables);
    }
    if (data->rows < 1 || data->rows > INT32_MAX) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: the data have %lld rows; expected 1 to %d",
                         who, (long long)data->rows, INT32_MAX);
    }
    sal_status status = check_letters(who, data, space, err);
    status = status ? status : sali_codes_fit(who, "data row", data->rows, data->codes, space, err);
    status = status ? status : check_weights(who, data, err);
    return status ? status : check_intensity(who, data, space, err);
}
