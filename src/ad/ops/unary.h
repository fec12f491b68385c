/* Elementwise nonlinear functions of one operand. An op file defines
 *
 *     static void values(int64_t n, const real *x, real *y);
 *     static inline real slope(real x, real y);    dy / dx
 *
 * includes this file, and ends in UNARY_RECORD. */
#ifndef SALI_UNARY_H
#define SALI_UNARY_H

#include "ad/change.h"
#include "ad/ops/ops.h"

static void forward(const sali_call *call)
{
    values(call->chains * call->out.size, call->in[0].value, (real *)call->out.value);
}

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

static sali_change_outcome change(sali_change *ch)
{
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        real x = change_new(ch, 0, k), y;
        values(1, &x, &y);
        if (!change_set(ch, ch->in[0]->index[k], y)) {
            return SALI_CHANGE_GIVE_UP;
        }
    }
    return SALI_CHANGE_DONE;
}

#define UNARY_RECORD(op_name, formula, low, high) \
    const sali_op RN(sali_op_##op_name) = {       \
        .name = #op_name,                         \
        .arity = 1,                               \
        .layout = SALI_LAYOUT_SAME,               \
        .test_low = (low),                        \
        .test_high = (high),                      \
        .doc = formula,                           \
        .shape = sali_shape_same,                 \
        .degree = sali_degree_nonlinear,          \
        .forward = forward,                       \
        .backward = backward,                     \
        .change = change,                         \
    }

#endif
