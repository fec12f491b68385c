/* SPDX-License-Identifier: MIT */
/* The same as unary.h where the slope is a function of SLEEF's too: instead of `slope` an op file
 * defines
 *
 *     static void slopes(int64_t n, const real *x, real *slope);    n <= SLOPES_BLOCK */
#ifndef SALI_UNARY_SLOPES_H
#define SALI_UNARY_SLOPES_H

#include "ad/ops/unary_rules.h"

enum { SLOPES_BLOCK = 256 };

SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real *x = call->in[0].value, *g = call->out.adjoint;
    real *to = call->in[0].adjoint, slope[SLOPES_BLOCK];
    for (int64_t first = 0; first < n; first += SLOPES_BLOCK) {
        int64_t end = n - first < SLOPES_BLOCK ? n : first + SLOPES_BLOCK;
        slopes(end - first, x + first, slope);
#pragma omp simd
        for (int64_t i = first; i < end; i++) {
            to[i] += sali_pull(g[i], slope[i - first]);
        }
    }
}

#endif
