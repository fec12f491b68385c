/* SPDX-License-Identifier: MIT */
/* a/2 (1 + erf(a / sqrt 2)), a times the normal distribution function. The slope is kept, for the
 * function is most of the work. Where it or the density is zero, an infinite factor does not count:
 * gelu(-inf) = 0. */
#include "ad/ops/elementwise.h"
#include "ad/ops/kept_slope.h"
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

static void forward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real *x = call->in[0].value;
    real *y = (real *)call->out.value, *slope = call->saved;
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t length = n - first < BLOCK ? n - first : BLOCK;
        values(length, x + first, y + first, slope + first);
    }
}

const sali_op RN(sali_op_gelu) = {
    .name = "gelu",
    .arity = 1,
    .layout = SALI_LAYOUT_SAME,
    .test_low = -4,
    .test_high = 4,
    .doc = "a/2 (1 + erf(a / sqrt 2))",
    .shape = sali_shape_same,
    .degree = sali_degree_nonlinear,
    .saved_size = kept_slope_size,
    .forward = forward,
    .backward = kept_slope_backward,
    .change = RN(sali_change_elementwise),
};
