/* SPDX-License-Identifier: MIT */
/* Elementwise nonlinear functions of one operand. An op file defines
 *
 *     static void values(int64_t n, const real *x, real *y);
 *     static inline real slope(real x, real y);    dy / dx
 *
 * includes this file, and ends in UNARY_RECORD. */
#ifndef SALI_UNARY_H
#define SALI_UNARY_H

#include "ad/ops/unary_rules.h"

SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real *x = call->in[0].value, *y = call->out.value, *g = call->out.adjoint;
    real *to = call->in[0].adjoint;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        to[i] += sali_pull(g[i], slope(x[i], y[i]));
    }
}

#endif
