/* SPDX-License-Identifier: MIT */
/* a sigmoid(a). The slope is kept, for the sigmoid is most of the work. Where the sigmoid or its
 * complement is zero, an infinite factor does not count: silu(-inf) = 0. */
#include "ad/ops/elementwise.h"
#include "ad/ops/kept_slope.h"
#include "core/vector/vmath.h"

enum { BLOCK = 512 };

SALI_CLONES static void forward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real *x = call->in[0].value;
    real *y = (real *)call->out.value, *slope = call->saved;
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t end = n - first < BLOCK ? n : first + BLOCK;
        RN(sali_vsigmoid)(end - first, x + first, slope + first);
#pragma omp simd
        for (int64_t i = first; i < end; i++) {
            real p = slope[i];
            y[i] = sali_pull(p, x[i]);
            slope[i] = p + sali_pull(1 - p, y[i]);
        }
    }
}

const sali_op RN(sali_op_silu) = {
    .name = "silu",
    .arity = 1,
    .layout = SALI_LAYOUT_SAME,
    .test_low = -4,
    .test_high = 4,
    .doc = "a / (1 + exp(-a))",
    .shape = sali_shape_same,
    .degree = sali_degree_nonlinear,
    .saved_size = kept_slope_size,
    .forward = forward,
    .backward = kept_slope_backward,
    .change = RN(sali_change_elementwise),
};
