/* SPDX-License-Identifier: MIT */
/* exp a. */
#include "core/real.h"
#include "core/vector/vmath.h"

static void values(int64_t n, const real *x, real *y)
{
    RN(sali_vexp)(n, x, y);
}

static inline real slope(real x, real y)
{
    (void)x;
    return y;
}

#include "ad/ops/unary.h"

UNARY_RECORD(exp, "exp a", .test_low = -2, .test_high = 2);
