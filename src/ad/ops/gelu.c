/* SPDX-License-Identifier: MIT */
/* a/2 (1 + erf(a / sqrt 2)), a times the normal distribution function. The slope is kept, for the
 * function is most of the work. Where it or the density is zero, an infinite factor does not count:
 * gelu(-inf) = 0. */
#include "ad/ops/ops.h"
#include "core/vector/vmath.h"

enum { BLOCK = 512 };

/* y = gelu(x) and its slope, Phi(x) + x phi(x), of at most BLOCK elements. */
SALI_CLONES static void values(int64_t n, const real *x, real *y, real *slope)
{
    const real sqrt_half = (real)0.70710678118654752, inv_sqrt_two_pi = (real)0.39894228040143268;
    real density[BLOCK];
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        slope[i] = x[i] * sqrt_half;
        density[i] = (real)-0.5 * x[i] * x[i];
    }
    RN(sali_verf)(n, slope, slope);
    RN(sali_vexp)(n, density, density);
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        real p = (real)0.5 * (1 + slope[i]);
        slope[i] = p + sali_pull(inv_sqrt_two_pi * density[i], x[i]);
        y[i] = sali_pull(p, x[i]);
    }
}

#define VALUES_AND_SLOPES values
#include "ad/ops/unary.h"

_Static_assert((int)VALUES_BLOCK <= (int)BLOCK, "there is room for a block of values");

UNARY_RECORD(gelu, "a/2 (1 + erf(a / sqrt 2))", -4, 4, .saved_size = sali_saved_as_first);
