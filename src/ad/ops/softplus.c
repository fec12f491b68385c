/* SPDX-License-Identifier: MIT */
/* log(1 + exp a), whose slope is sigmoid(a). */
#include "core/real.h"
#include "core/vector/vmath.h"

static void values(int64_t n, const real *x, real *y)
{
    RN(sali_vsoftplus)(n, x, y);
}

static void slopes(int64_t n, const real *x, real *slope)
{
    RN(sali_vsigmoid)(n, x, slope);
}

#include "ad/ops/unary_slopes.h"

UNARY_RECORD(softplus, "log(1 + exp a)", .test_low = -4, .test_high = 4, .hidden = SALI_HIDES_BITS);
