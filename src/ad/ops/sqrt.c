/* SPDX-License-Identifier: MIT */
/* sqrt a; NaN below 0. The derivative is infinite at 0. */
#include <math.h>
#include <stdint.h>

#include "core/real.h"

SALI_CLONES static void values(int64_t n, const real *x, real *y)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
#if SALI_REAL_BITS == 32
        y[i] = sqrtf(x[i]);
#else
        y[i] = sqrt(x[i]);
#endif
    }
}

static inline real slope(real x, real y)
{
    (void)x;
    return (real)0.5 / y;
}

#include "ad/ops/unary.h"

UNARY_RECORD(sqrt, "sqrt a", .test_low = 0.5, .test_high = 3);
