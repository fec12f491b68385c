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

UNARY_RECORD(square, "a^2", -2, 2);
