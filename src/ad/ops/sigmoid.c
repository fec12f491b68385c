/* SPDX-License-Identifier: MIT */
/* 1 / (1 + exp(-a)). */
#include "core/real.h"
#include "core/vector/vmath.h"

static void values(int64_t n, const real *x, real *y)
{
    RN(sali_vsigmoid)(n, x, y);
}

static inline real slope(real x, real y)
{
    (void)x;
    return y * (1 - y);
}

#include "ad/ops/unary.h"

UNARY_RECORD(sigmoid, "1 / (1 + exp(-a))", .test_low = -4, .test_high = 4);
