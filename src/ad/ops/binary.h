/* SPDX-License-Identifier: MIT */
/* Elementwise ops of two operands, with broadcasting (nest.h). An op file defines
 *
 *     VALUE(a, b)      of two numbers
 *     SLOPE_A(a, b)    its derivative by a
 *     SLOPE_B(a, b)    by b
 *
 * includes this file, and ends in BINARY_RECORD. */
#ifndef SALI_BINARY_H
#define SALI_BINARY_H

#include "ad/change.h"

#define OPERANDS 2
#include "ad/ops/nest.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* out[i] = VALUE for a row of n elements; the compiler knows the steps (0 or 1). */
ALWAYS_INLINE void row_values(int64_t n, const real *a, int64_t step_a, const real *b,
                              int64_t step_b, real *out)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        out[i] = VALUE(a[i * step_a], b[i * step_b]);
    }
}

/* The derivative of VALUE(a, b) by operand k: 0 for a, 1 for b. */
ALWAYS_INLINE real operand_slope(int k, real a, real b)
{
    (void)a;
    (void)b;
    return (real)(k == 0 ? SLOPE_A(a, b) : SLOPE_B(a, b));
}

/* Add what a row of n elements gives to the adjoint of operand k, which begins at `to`; an operand
 * of step 0 gets the sum in one element. */
ALWAYS_INLINE void row_pull(int k, int64_t n, const real *g, const real *a, int64_t step_a,
                            const real *b, int64_t step_b, real *to)
{
    real sum = 0;
    if ((k == 0 ? step_a : step_b) == 0) {
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < n; i++) {
            sum += sali_pull(g[i], operand_slope(k, a[i * step_a], b[i * step_b]));
        }
        *to += sum;
        return;
    }
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        to[i] += sali_pull(g[i], operand_slope(k, a[i * step_a], b[i * step_b]));
    }
}

SALI_CLONES static void forward(const sali_call *call)
{
    row_walk walk = walk_begin(call);
    const loop_axis *inner = &walk.nest.axis[0];
    for (int64_t r = 0; r < walk.rows; r++, walk_next(&walk)) {
        const real *a = (const real *)call->in[0].value + walk.at[0];
        const real *b = (const real *)call->in[1].value + walk.at[1];
        real *out = (real *)call->out.value + r * walk.length;
        if (inner->step[0] && inner->step[1]) {
            row_values(walk.length, a, 1, b, 1, out);
        } else if (inner->step[0]) {
            row_values(walk.length, a, 1, b, 0, out);
        } else {
            row_values(walk.length, a, 0, b, 1, out);
        }
    }
}

/* Add to the adjoint of operand k what the output's adjoint gives, row by row. */
ALWAYS_INLINE void pull_operand(const sali_call *call, int k)
{
    row_walk walk = walk_begin(call);
    const loop_axis *inner = &walk.nest.axis[0];
    for (int64_t r = 0; r < walk.rows; r++, walk_next(&walk)) {
        const real *a = (const real *)call->in[0].value + walk.at[0];
        const real *b = (const real *)call->in[1].value + walk.at[1];
        const real *g = (const real *)call->out.adjoint + r * walk.length;
        real *to = (real *)call->in[k].adjoint + walk.at[k];
        if (inner->step[0] && inner->step[1]) {
            row_pull(k, walk.length, g, a, 1, b, 1, to);
        } else if (inner->step[0]) {
            row_pull(k, walk.length, g, a, 1, b, 0, to);
        } else {
            row_pull(k, walk.length, g, a, 0, b, 1, to);
        }
    }
}

/* The two operands are done in turn, because they may be the same node, with one adjoint. */
SALI_CLONES static void backward(const sali_call *call)
{
    if (call->in[0].adjoint) {
        pull_operand(call, 0);
    }
    if (call->in[1].adjoint) {
        pull_operand(call, 1);
    }
}

/* Operands of the output's size are updated element by element. The row is evaluated again if a
 * broadcast operand changes, or has more than one element. */
static sali_change_outcome change(sali_change *ch)
{
    const sali_call *call = ch->call;
    for (int j = 0; j < 2; j++) {
        if (ch->in[j]->n > 0 && call->in[j].size != call->out.size) {
            return SALI_CHANGE_ROW;
        }
        if (call->in[j].size != call->out.size && call->in[j].size != 1) {
            return SALI_CHANGE_ROW;
        }
    }
    for (int j = 0; j < 2; j++) {
        for (int64_t k = 0; k < ch->in[j]->n; k++) {
            int64_t i = ch->in[j]->index[k];
            real a = ((const real *)call->in[0].value)[call->in[0].size == 1 ? 0 : i];
            real b = ((const real *)call->in[1].value)[call->in[1].size == 1 ? 0 : i];
            if (!change_set(ch, i, VALUE(a, b))) {
                return SALI_CHANGE_GIVE_UP;
            }
        }
    }
    return SALI_CHANGE_DONE;
}

#define BINARY_RECORD(op_name, formula, low, high, degree_rule, is_linear, term_rule) \
    const sali_op RN(sali_op_##op_name) = {                                           \
        .name = #op_name,                                                             \
        .arity = 2,                                                                   \
        .linear = is_linear,                                                          \
        .term = term_rule,                                                            \
        .layout = SALI_LAYOUT_SAME,                                                   \
        .test_low = (low),                                                            \
        .test_high = (high),                                                          \
        .doc = formula,                                                               \
        .shape = sali_shape_broadcast,                                                \
        .degree = degree_rule,                                                        \
        .plan_create = plan_create,                                                   \
        .forward = forward,                                                           \
        .backward = backward,                                                         \
        .change = change,                                                             \
    }

#endif
