/* SPDX-License-Identifier: MIT */
/* a sigmoid(a). The slope is kept, for the sigmoid is most of the work. Where the sigmoid or its
 * complement is zero, an infinite factor does not count: silu(-inf) = 0. */
#include "ad/ops/ops.h"
#include "core/vector/vmath.h"

/* y = silu(x) and its slope, p + (1 - p) y with p = sigmoid(x), for n numbers. */
SALI_CLONES static void values(int64_t n, const real *x, real *y, real *slope)
{
    RN(sali_vsigmoid)(n, x, slope);
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        real p = slope[i];
        y[i] = sali_pull(p, x[i]);
        slope[i] = p + sali_pull(1 - p, y[i]);
    }
}

#define VALUES_AND_SLOPES values
#include "ad/ops/unary.h"

UNARY_RECORD(silu, "a / (1 + exp(-a))", -4, 4, .saved_size = sali_saved_as_first);
