/* SPDX-License-Identifier: MIT */
#include "samplers/balance.h"

#include <stddef.h>

#include "samplers/kernels.h"

const char *const sali_balance_names[SALI_BALANCES + 1] = { "sqrt", "barker", "min", "max", NULL };

sali_balance sali_balance_of(sal_dtype dtype, int which)
{
    return (sali_balance){ .log_g = sali_kernels_of(dtype)->log_balance[which] };
}
