#include "core/state.h"

#include "core/error.h"

size_t sali_state_bytes(sali_state_type type)
{
    switch (type) {
    case SALI_STATE_F64:
    case SALI_STATE_I64:
    case SALI_STATE_U64:
        return 8;
    case SALI_STATE_I32:
    case SALI_STATE_U32:
        return 4;
    case SALI_STATE_U8:
        break;
    }
    return 1;
}

sal_status sali_state_fill(int64_t n, const sali_state_item *items, sali_state_fetch *fetch,
                           void *context, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t k = 0; status == SAL_OK && k < n; k++) {
        status = fetch(context, &items[k], err);
    }
    return status;
}

sal_status sali_state_check_f64(const char *name, int64_t n, const double *values, double low,
                                double high, sal_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        if (!(values[i] >= low && values[i] <= high)) {
            return sali_fail(err, SAL_ERR_DATA, "%s: number %lld is %g; expected %g to %g", name,
                             (long long)(i + 1), values[i], low, high);
        }
    }
    return SAL_OK;
}

sal_status sali_state_check_i64(const char *name, int64_t n, const int64_t *values, int64_t low,
                                int64_t high, sal_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        if (values[i] < low || values[i] > high) {
            return sali_fail(err, SAL_ERR_DATA, "%s: number %lld is %lld; expected %lld to %lld",
                             name, (long long)(i + 1), (long long)values[i], (long long)low,
                             (long long)high);
        }
    }
    return SAL_OK;
}
