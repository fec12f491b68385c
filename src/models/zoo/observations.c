/* SPDX-License-Identifier: MIT */
#include "models/zoo/observations.h"

#include <math.h>

#include "core/error.h"

sal_status sali_observations_check(const sal_array *array, sal_error *err)
{
    int longer = 0;
    for (int k = 0; k < array->ndim; k++) {
        longer += array->shape[k] != 1;
    }
    if (longer > 1 || array->count < 1) {
        return sali_fail(err, SAL_ERR_DATA,
                         "observations: expected one column of numbers, found an array of %d "
                         "dimensions and %lld numbers",
                         array->ndim, (long long)array->count);
    }
    if (array->count > SALI_MOST_OBSERVATIONS) {
        return sali_fail(err, SAL_ERR_DATA, "observations: %lld of them; at most %d can be used",
                         (long long)array->count, SALI_MOST_OBSERVATIONS);
    }
    for (int64_t t = 0; t < array->count; t++) {
        if (!isfinite(array->values[t])) {
            return sali_fail(err, SAL_ERR_DATA, "observations: number %lld is not finite",
                             (long long)t + 1);
        }
    }
    return SAL_OK;
}
