/* SPDX-License-Identifier: MIT */
#include "core/state.h"

#include <math.h>

#include "core/error.h"
#include "core/space.h"

/* SAL_ERR_DATA unless number i of an item lies within the item's range, and is whole where it must
 * be. */
static sal_status check_number(const sali_state_item *item, int64_t i, sal_error *err)
{
    const unsigned char *data = item->data;
    double value =
        sali_dtype_load(item->type, data + i * sali_dtype_bytes(item->type), SALI_BIG_ENDIAN);
    bool ok = value >= item->low && value <= item->high && !(item->whole && value != floor(value));
    return ok ? SAL_OK
              : sali_fail(err, SAL_ERR_DATA, "%s: number %lld is %.15g; expected %s%.15g to %.15g",
                          item->name, (long long)(i + 1), value,
                          item->whole ? "a whole number from " : "", item->low, item->high);
}

sal_status sali_state_check(const sali_state_item *item, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t i = 0; item->ranged && status == SAL_OK && i < item->count; i++) {
        status = check_number(item, i, err);
    }
    for (int64_t i = 0; item->space && status == SAL_OK && i < item->count; i++) {
        int64_t v = i % item->space->n_variables;
        int32_t code = ((const int32_t *)item->data)[i];
        if (!sali_has_code(&item->space->variables[v], code)) {
            status = sali_fail(err, SAL_ERR_DATA, "%s: %d is no code of variable %lld", item->name,
                               (int)code, (long long)v);
        }
    }
    if (status == SAL_OK && item->space && item->space->fixed) {
        status =
            sali_codes_check(item->space, item->count / item->space->n_variables, item->data, err);
        status = status ? sali_fail_prefix(err, SAL_ERR_DATA, "%s", item->name) : SAL_OK;
    }
    return status;
}

sal_status sali_state_check_all(int64_t n, const sali_state_item *items, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int64_t k = 0; status == SAL_OK && k < n; k++) {
        status = sali_state_check(&items[k], err);
    }
    return status;
}
