/* SPDX-License-Identifier: MIT */
/* Elements along an axis by index, in any order, some perhaps several times. Attributes:
 * ints = { axis, indices }. */
#include <string.h>

#include "ad/ops/ops.h"
#include "core/error.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *a = &context->in[0]->shape;
    if (node->n_ints < 2 || node->n_reals != 0) {
        return sali_shape_fail(node, context, "attributes: an axis and at least one index");
    }
    int64_t axis = node->ints[0];
    if (axis < 0 || axis >= a->rank) {
        return sali_shape_fail(node, context, "an axis within the rank");
    }
    for (int64_t k = 1; k < node->n_ints; k++) {
        if (node->ints[k] < 0 || node->ints[k] >= a->dim[axis]) {
            return sali_fail(context->err, SAL_ERR_SHAPE, "gather: index %lld; expected 0 to %lld",
                             (long long)node->ints[k], (long long)(a->dim[axis] - 1));
        }
    }
    node->shape = *a;
    node->shape.dim[axis] = node->n_ints - 1;
    return SAL_OK;
}

static void forward(const sali_call *call)
{
    sali_axis_view view = sali_axis_of(call->in[0].shape, call->node->ints[0]);
    const int64_t *index = call->node->ints + 1, count = call->node->n_ints - 1;
    const real *from = call->in[0].value;
    real *to = (real *)call->out.value;
    for (int64_t o = 0; o < call->chains * view.outer; o++, from += view.n * view.inner) {
        for (int64_t k = 0; k < count; k++, to += view.inner) {
            memcpy(to, from + index[k] * view.inner, (size_t)view.inner * sizeof *to);
        }
    }
}

/* An element that is gathered several times gets the sum of the adjoints. */
SALI_CLONES static void backward(const sali_call *call)
{
    sali_axis_view view = sali_axis_of(call->in[0].shape, call->node->ints[0]);
    const int64_t *index = call->node->ints + 1, count = call->node->n_ints - 1;
    const real *g = call->out.adjoint;
    real *to = call->in[0].adjoint;
    for (int64_t o = 0; o < call->chains * view.outer; o++, to += view.n * view.inner) {
        for (int64_t k = 0; k < count; k++, g += view.inner) {
            real *entry = to + index[k] * view.inner;
#pragma omp simd
            for (int64_t i = 0; i < view.inner; i++) {
                entry[i] += g[i];
            }
        }
    }
}

static sali_op_term term(const sali_term_place *p)
{
    int64_t axis = p->node->ints[0], n = p->in[0]->shape.dim[axis];
    sali_axis_place to = sali_axis_find(&p->node->shape, axis, p->k);
    return (
        sali_op_term){ .count = 1,
                       .factor = 1,
                       .n = 1,
                       .at = { (to.outer * n + p->node->ints[1 + to.at]) * to.inner + to.rest } };
}

const sali_op RN(sali_op_gather) = {
    .name = "gather",
    .arity = 1,
    .axes = 1,
    .linear = true,
    .test_low = -2,
    .test_high = 2,
    .doc = "a[indices] along an axis",
    .term = term,
    .shape = shape,
    .degree = sali_degree_mixing,
    .forward = forward,
    .backward = backward,
};
