/* SPDX-License-Identifier: MIT */
/* cos a. */
#include "core/real.h"
#include "core/vector/vmath.h"

static void values(int64_t n, const real *x, real *y)
{
    RN(sali_vcos)(n, x, y);
}

static void slopes(int64_t n, const real *x, real *slope)
{
    RN(sali_vsin)(n, x, slope);
    for (int64_t i = 0; i < n; i++) {
        slope[i] = -slope[i];
    }
}

#include "ad/ops/unary_slopes.h"

UNARY_RECORD(cos, "cos a", .test_low = -4, .test_high = 4);
