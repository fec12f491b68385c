/* SPDX-License-Identifier: MIT */
#include "samplers/balance.h"

#include <stddef.h>

const char *const sali_balance_names[SALI_BALANCES + 1] = { "sqrt", "barker", "min", "max", NULL };

sali_balance sali_balance_of(sal_dtype dtype, int which)
{
    return (sali_balance){
        .log_g = (dtype == SAL_F32 ? sali_log_balance_f32 : sali_log_balance_f64)[which],
    };
}
