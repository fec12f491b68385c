/* SPDX-License-Identifier: MIT */
/* max(a, 0); its derivative at 0 is 0. */
#include <stdint.h>

#include "core/real.h"

SALI_CLONES static void values(int64_t n, const real *x, real *y)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] = x[i] <= 0 ? 0 : x[i]; /* a NaN stays one */
    }
}

static inline real slope(real x, real y)
{
    (void)y;
    return x > 0;
}

#include "ad/ops/unary.h"

UNARY_RECORD(relu, "max(a, 0)", .test_low = -1, .test_high = 1);
