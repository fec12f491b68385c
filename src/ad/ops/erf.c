/* SPDX-License-Identifier: MIT */
/* erf a = 2 / sqrt(pi) int_0^a exp(-t^2) dt. */
#include "core/real.h"
#include "core/vector/vmath.h"

/* slope = 2 / sqrt(pi) exp(-x^2) for n numbers. */
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

#define VALUES RN(sali_verf)
#define SLOPES slopes
#include "ad/ops/unary.h"

UNARY_RECORD(erf, "erf a", -3, 3);
