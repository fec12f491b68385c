/* SPDX-License-Identifier: MIT */
/* Elementwise functions of one operand. Before it includes this file an op file defines the values,
 * as one of
 *
 *     VALUE(x)                   of a number
 *     VALUES(n, x, y)            of arrays
 *
 * and dy / dx, as one of
 *
 *     SLOPE(x, y)                at a number
 *     SLOPES(n, x, slope)        at arrays, n <= SLOPES_BLOCK
 *
 * or both at once, where the slopes are kept for the backward pass, as
 *
 *     VALUES_AND_SLOPES(n, x, y, slope)    n <= VALUES_BLOCK
 *
 * The macros may use the first real attribute, `p`. The file ends in UNARY_RECORD, or in a record
 * that begins with UNARY_FIELDS. */
#ifndef SALI_UNARY_H
#define SALI_UNARY_H

#include <math.h>

#include "ad/ops/elementwise.h"
#include "core/vector/vmath.h"

enum { SLOPES_BLOCK = 256, VALUES_BLOCK = 512 };

/* The square root in the type's own precision. */
static inline real square_root(real x)
{
#if SALI_REAL_BITS == 32
    return sqrtf(x);
#else
    return sqrt(x);
#endif
}

/* For i from `first` to before `end`: add `value` to to[i], or set to[i] to it where the adjoint of
 * input 0 is fresh. The loops are apart for the compiler, which does not divide them. */
#define PULL_EACH(call, first, end, to, value)                        \
    if ((call)->in[0].fresh) {                                        \
        _Pragma("omp simd") for (int64_t i = (first); i < (end); i++) \
        {                                                             \
            (to)[i] = (value);                                        \
        }                                                             \
    } else {                                                          \
        _Pragma("omp simd") for (int64_t i = (first); i < (end); i++) \
        {                                                             \
            (to)[i] += (value);                                       \
        }                                                             \
    }

/* The first real attribute, if there is one. */
static inline real first_attribute(const sali_call *call)
{
    return call->node->n_reals > 0 ? (real)call->node->reals[0] : 0;
}

#ifdef VALUES_AND_SLOPES

static void forward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real *x = call->in[0].value;
    real *y = (real *)call->out.value, *slope = call->saved;
    for (int64_t first = 0; first < n; first += VALUES_BLOCK) {
        int64_t length = n - first < VALUES_BLOCK ? n - first : VALUES_BLOCK;
        VALUES_AND_SLOPES(length, x + first, y + first, slope + first);
    }
}

SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real *slope = call->saved, *g = call->out.adjoint;
    real *to = call->in[0].adjoint;
    PULL_EACH(call, 0, n, to, sali_pull(g[i], slope[i]))
}

#endif
#ifdef VALUE

SALI_CLONES static void forward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real *x = call->in[0].value, p = first_attribute(call);
    real *y = (real *)call->out.value;
    (void)p;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] = VALUE(x[i]);
    }
}

#endif
#ifdef VALUES

static void forward(const sali_call *call)
{
    const real p = first_attribute(call);
    (void)p;
    VALUES(call->chains * call->out.size, call->in[0].value, (real *)call->out.value);
}

#endif
#ifdef SLOPE

SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real *x = call->in[0].value, *y = call->out.value, *g = call->out.adjoint;
    const real p = first_attribute(call);
    real *to = call->in[0].adjoint;
    (void)x;
    (void)y;
    (void)p;
    PULL_EACH(call, 0, n, to, sali_pull(g[i], SLOPE(x[i], y[i])))
}

#endif
#ifdef SLOPES

SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->chains * call->out.size;
    const real *x = call->in[0].value, *g = call->out.adjoint;
    real *to = call->in[0].adjoint, slope[SLOPES_BLOCK];
    for (int64_t first = 0; first < n; first += SLOPES_BLOCK) {
        int64_t end = n - first < SLOPES_BLOCK ? n : first + SLOPES_BLOCK;
        SLOPES(end - first, x + first, slope);
        PULL_EACH(call, first, end, to, sali_pull(g[i], slope[i - first]))
    }
}

#endif

/* Fields that all records of unary ops share; `low` and `high` bound the inputs of tests. */
#define UNARY_FIELDS(op_name, formula, low, high)                                                  \
    .name = #op_name, .arity = 1, .layout = SALI_LAYOUT_SAME, .doc = (formula), .test_low = (low), \
    .test_high = (high), .forward = forward, .backward = backward,                                 \
    .change = RN(sali_change_elementwise)

/* The record of a function without attributes; further fields of the op may follow. */
#define UNARY_RECORD(op_name, formula, low, high, ...)                                    \
    const sali_op RN(sali_op_##op_name) = { UNARY_FIELDS(op_name, formula, low, high),    \
                                            .sets_fresh = true, .shape = sali_shape_same, \
                                            .degree = sali_degree_nonlinear, __VA_ARGS__ }

#endif
