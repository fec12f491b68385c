/* SPDX-License-Identifier: MIT */
/* sin a. */
#include "core/real.h"
#include "core/vector/vmath.h"

static void values(int64_t n, const real *x, real *y)
{
    RN(sali_vsin)(n, x, y);
}

static void slopes(int64_t n, const real *x, real *slope)
{
    RN(sali_vcos)(n, x, slope);
}

#include "ad/ops/unary_slopes.h"

UNARY_RECORD(sin, "sin a", .test_low = -4, .test_high = 4);
