/* SPDX-License-Identifier: MIT */
/* sum_i a_i b_i of two vectors. */
#include <math.h>

#include "ad/change.h"
#include "ad/ops/ops.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *a = &context->in[0]->shape, *b = &context->in[1]->shape;
    if (a->rank != 1 || b->rank != 1 || a->dim[0] != b->dim[0]) {
        return sali_shape_fail(node, context, "two vectors of one length, [n] and [n]");
    }
    node->shape = SAL_SCALAR;
    return sali_expect_attributes(node, 0, 0, context->err);
}

SALI_CLONES static void forward(const sali_call *call)
{
    const sali_arg *a = &call->in[0], *b = &call->in[1];
    real *out = (real *)call->out.value;
    for (int64_t c = 0; c < call->chains; c++) {
        const real *x = (const real *)a->value + c * a->stride;
        const real *y = (const real *)b->value + c * b->stride;
        real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < a->size; i++) {
            sum += x[i] * y[i];
        }
        out[c] = sum;
    }
}

/* Add to the adjoint of operand `to`, if it is wanted: g times the values of operand `other`. */
static inline void pull_operand(const sali_call *call, const sali_arg *to, const sali_arg *other)
{
    const real *g = call->out.adjoint;
    for (int64_t c = 0; to->adjoint && c < call->chains; c++) {
        const real *value = (const real *)other->value + c * other->stride;
        real *adjoint = (real *)to->adjoint + c * to->stride;
        if (g[c] == 0) {
            continue;
        }
#pragma omp simd
        for (int64_t i = 0; i < to->size; i++) {
            adjoint[i] += g[c] * value[i];
        }
    }
}

SALI_CLONES static void backward(const sali_call *call)
{
    pull_operand(call, &call->in[0], &call->in[1]);
    pull_operand(call, &call->in[1], &call->in[0]);
}

/* If one operand changes and the other stays, adds the rises times the values of the other. */
static sali_change_outcome change(sali_change *ch)
{
    int moved = ch->in[0]->n > 0 ? 0 : 1;
    const real *still = ch->call->in[1 - moved].value, *out = ch->call->out.value;
    real rise = 0;
    if (ch->in[1 - moved]->n != 0 || !ch->affine) {
        return SALI_CHANGE_ROW;
    }
    for (int64_t k = 0; k < ch->in[moved]->n; k++) {
        rise += change_rise(ch, moved, k) * still[ch->in[moved]->index[k]];
    }
    if (!isfinite(rise)) {
        return SALI_CHANGE_ROW;
    }
    return change_set(ch, 0, *out + rise) ? SALI_CHANGE_DONE : SALI_CHANGE_GIVE_UP;
}

static sali_op_term term(const sali_term_place *p)
{
    return (sali_op_term){ .count = p->in[0]->shape.dim[0],
                           .factor = 1,
                           .n = 2,
                           .input = { 0, 1 },
                           .at = { p->t, p->t } };
}

const sali_op RN(sali_op_dot) = {
    .name = "dot",
    .arity = 2,
    .by_rows = true,
    .test_low = -2,
    .test_high = 2,
    .doc = "sum_i a_i b_i",
    .term = term,
    .shape = shape,
    .degree = sali_degree_bilinear,
    .forward = forward,
    .backward = backward,
    .change = change,
};
