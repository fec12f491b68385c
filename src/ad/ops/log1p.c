/* SPDX-License-Identifier: MIT */
/* log(1 + a), exact for small a; -inf at -1, NaN below. */
#include "core/real.h"
#include "core/vector/vmath.h"

static void values(int64_t n, const real *x, real *y)
{
    RN(sali_vlog1p)(n, x, y);
}

static inline real slope(real x, real y)
{
    (void)y;
    return 1 / (1 + x);
}

#include "ad/ops/unary.h"

UNARY_RECORD(log1p, "log(1 + a)", .test_low = -0.5, .test_high = 2);
