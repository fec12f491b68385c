/* SPDX-License-Identifier: MIT */
/* a^2. */
#include <stdint.h>

#include "core/real.h"

SALI_CLONES static void values(int64_t n, const real *x, real *y)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] = x[i] * x[i];
    }
}

static inline real slope(real x, real y)
{
    (void)y;
    return 2 * x;
}

#include "ad/ops/unary.h"

static sali_op_term term(const sali_term_place *p)
{
    return (sali_op_term){ .count = 1, .factor = 1, .n = 2, .at = { p->k, p->k } };
}

UNARY_RECORD(square, "a^2", .test_low = -2, .test_high = 2, .term = term);
