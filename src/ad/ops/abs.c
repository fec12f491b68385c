/* SPDX-License-Identifier: MIT */
/* |a|; its derivative at 0 is 0. */
#include <stdint.h>

#include "core/real.h"

SALI_CLONES static void values(int64_t n, const real *x, real *y)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] = x[i] > 0 ? x[i] : 0 - x[i];
    }
}

static inline real slope(real x, real y)
{
    (void)y;
    return (real)((x > 0) - (x < 0));
}

#include "ad/ops/unary.h"

UNARY_RECORD(abs, "|a|", .test_low = -1, .test_high = 1);
