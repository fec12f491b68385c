/* SPDX-License-Identifier: MIT */
/* erf a = 2 / sqrt(pi) int_0^a exp(-t^2) dt. */
#include "core/real.h"
#include "core/vector/vmath.h"

static void values(int64_t n, const real *x, real *y)
{
    RN(sali_verf)(n, x, y);
}

static void slopes(int64_t n, const real *x, real *slope)
{
    const real two_over_sqrt_pi = (real)1.1283791670955126;
    for (int64_t i = 0; i < n; i++) {
        slope[i] = -x[i] * x[i];
    }
    RN(sali_vexp)(n, slope, slope);
    for (int64_t i = 0; i < n; i++) {
        slope[i] *= two_over_sqrt_pi;
    }
}

#include "ad/ops/unary_slopes.h"

UNARY_RECORD(erf, "erf a", .test_low = -3, .test_high = 3);
