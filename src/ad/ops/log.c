/* SPDX-License-Identifier: MIT */
/* log a, natural; log 0 = -inf. */
#include "core/real.h"
#include "core/vector/vmath.h"

static void values(int64_t n, const real *x, real *y)
{
    RN(sali_vlog)(n, x, y);
}

static inline real slope(real x, real y)
{
    (void)y;
    return 1 / x;
}

#include "ad/ops/unary.h"

UNARY_RECORD(log, "log a", .test_low = 0.2, .test_high = 3);
