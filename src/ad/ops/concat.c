/* SPDX-License-Identifier: MIT */
/* Inputs one after the other along an axis; their other sizes are equal. Attributes:
 * ints = { axis }. */
#include <string.h>

#include "ad/change.h"
#include "ad/ops/ops.h"

/* Whether two shapes differ along `axis` at most. */
static bool shapes_fit(const sal_shape *a, const sal_shape *b, int64_t axis)
{
    bool good = a->rank == b->rank;
    for (int32_t i = 0; good && i < a->rank; i++) {
        good = i == axis || a->dim[i] == b->dim[i];
    }
    return good;
}

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    sal_status status = sali_expect_attributes(node, 1, 0, context->err);
    if (status != SAL_OK) {
        return status;
    }
    const sal_shape *first = &context->in[0]->shape;
    int64_t axis = node->ints[0], length = 0;
    if (axis < 0 || axis >= first->rank) {
        return sali_shape_fail(node, context, "an axis within the rank");
    }
    for (int32_t k = 0; k < node->n_in; k++) {
        if (!shapes_fit(first, &context->in[k]->shape, axis) ||
            __builtin_add_overflow(length, context->in[k]->shape.dim[axis], &length)) {
            return sali_shape_fail(node, context, "equal sizes along all axes but one");
        }
    }
    node->shape = *first;
    node->shape.dim[axis] = length;
    return SAL_OK;
}

static void forward(const sali_call *call)
{
    int64_t outer = sali_axis_of(call->out.shape, call->node->ints[0]).outer;
    int64_t row = call->out.size / outer; /* of which each input has a part */
    real *begin = (real *)call->out.value;
    for (int32_t k = 0; k < call->node->n_in; k++) {
        const sali_arg *in = &call->in[k];
        int64_t length = in->size / outer;
        for (int64_t r = 0; r < call->chains * outer; r++) {
            const real *from =
                (const real *)in->value + r / outer * in->stride + r % outer * length;
            memcpy(begin + r * row, from, (size_t)length * sizeof *from);
        }
        begin += length;
    }
}

SALI_CLONES static void backward(const sali_call *call)
{
    int64_t outer = sali_axis_of(call->out.shape, call->node->ints[0]).outer;
    int64_t row = call->out.size / outer; /* of which each input has a part */
    const real *begin = call->out.adjoint;
    for (int32_t k = 0; k < call->node->n_in; k++) {
        const sali_arg *in = &call->in[k];
        int64_t length = in->size / outer;
        for (int64_t r = 0; in->adjoint && r < call->chains * outer; r++) {
            const real *g = begin + r * row;
            real *to = (real *)in->adjoint + r / outer * in->stride + r % outer * length;
#pragma omp simd
            for (int64_t i = 0; i < length; i++) {
                to[i] += g[i];
            }
        }
        begin += length;
    }
}

/* Copies the changed elements of each input to its part of the output's rows. */
static sali_change_outcome change(sali_change *ch)
{
    const sali_call *call = ch->call;
    const int64_t outer = sali_axis_of(call->out.shape, call->node->ints[0]).outer;
    const int64_t row = call->out.size / outer;
    int64_t begin = 0;
    for (int32_t j = 0; j < call->node->n_in; j++) {
        const int64_t length = call->in[j].size / outer;
        for (int64_t k = 0; k < ch->in[j]->n; k++) {
            const int64_t at = ch->in[j]->index[k];
            if (!change_set(ch, at / length * row + begin + at % length, change_new(ch, j, k))) {
                return SALI_CHANGE_GIVE_UP;
            }
        }
        begin += length;
    }
    return SALI_CHANGE_DONE;
}

/* The one term of element k: the element of the input whose part of the axis holds k. */
static sali_op_term term(const sali_term_place *p)
{
    int64_t axis = p->node->ints[0];
    sali_axis_place to = sali_axis_find(&p->node->shape, axis, p->k);
    int32_t which = 0;
    for (; to.at >= p->in[which]->shape.dim[axis]; which++) {
        to.at -= p->in[which]->shape.dim[axis];
    }
    int64_t n = p->in[which]->shape.dim[axis];
    return (sali_op_term){ .count = 1,
                           .factor = 1,
                           .n = 1,
                           .input = { which },
                           .at = { (to.outer * n + to.at) * to.inner + to.rest } };
}

const sali_op RN(sali_op_concat) = {
    .name = "concat",
    .arity = SALI_VARIADIC,
    .axes = 1,
    .linear = true,
    .test_low = -2,
    .test_high = 2,
    .doc = "inputs one after the other along an axis",
    .term = term,
    .shape = shape,
    .degree = sali_degree_mixing,
    .forward = forward,
    .backward = backward,
    .change = change,
};
