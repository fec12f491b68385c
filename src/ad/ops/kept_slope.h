/* SPDX-License-Identifier: MIT */
/* Operations on elements that keep their slope, one number an element, from forward to backward. */
#ifndef SALI_KEPT_SLOPE_H
#define SALI_KEPT_SLOPE_H

#include "ad/ops/ops.h"

SALI_CLONES static void kept_slope_backward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real *slope = call->saved, *g = call->out.adjoint;
    real *to = call->in[0].adjoint;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        to[i] += sali_pull(g[i], slope[i]);
    }
}

static int64_t kept_slope_size(const sali_node *node, const sali_node *const *in)
{
    (void)in;
    return sali_shape_size(&node->shape);
}

#endif
