/* SPDX-License-Identifier: MIT */
/* Elements start .. start + length - 1 of one axis. Attributes: ints = { axis, start, length }. */
#include <string.h>

#include "ad/change.h"
#include "ad/ops/ops.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    sal_status status = sali_expect_attributes(node, 3, 0, context->err);
    if (status != SAL_OK) {
        return status;
    }
    const sal_shape *a = &context->in[0]->shape;
    int64_t axis = node->ints[0], start = node->ints[1], length = node->ints[2];
    if (axis < 0 || axis >= a->rank) {
        return sali_shape_fail(node, context, "an axis within the rank");
    }
    if (start < 0 || length < 1 || length > a->dim[axis] || start > a->dim[axis] - length) {
        return sali_shape_fail(node, context, "a start and a length (>= 1) within the axis");
    }
    node->shape = *a;
    node->shape.dim[axis] = length;
    return SAL_OK;
}

/* The degree of the input, because elements stay single elements of the input, all different. */
static sali_degree degree(const sali_node *node, const sali_node *const *in,
                          const sali_degree *in_degree, const sal_space *space)
{
    (void)node;
    (void)in;
    (void)space;
    return in_degree[0];
}

/* `pieces` runs of `length` consecutive elements; in the input the first run begins at `first`, and
 * runs are `step` apart. */
typedef struct slice_cut {
    int64_t pieces, first, length, step;
} slice_cut;

/* The runs of a call, for all chains. */
static slice_cut cut_of(const sali_call *call)
{
    const int64_t *ints = call->node->ints;
    sali_axis_view view = sali_axis_of(call->in[0].shape, ints[0]);
    return (slice_cut){ call->chains * view.outer, ints[1] * view.inner, ints[2] * view.inner,
                        view.n * view.inner };
}

static void forward(const sali_call *call)
{
    slice_cut cut = cut_of(call);
    const real *from = (const real *)call->in[0].value + cut.first;
    real *to = (real *)call->out.value;
    for (int64_t p = 0; p < cut.pieces; p++, from += cut.step, to += cut.length) {
        memcpy(to, from, (size_t)cut.length * sizeof *to);
    }
}

SALI_CLONES static void backward(const sali_call *call)
{
    slice_cut cut = cut_of(call);
    const real *g = call->out.adjoint;
    real *to = (real *)call->in[0].adjoint + cut.first;
    for (int64_t p = 0; p < cut.pieces; p++, to += cut.step, g += cut.length) {
#pragma omp simd
        for (int64_t i = 0; i < cut.length; i++) {
            to[i] += g[i];
        }
    }
}

/* Copies the changed elements that lie in the slice; the output does not change if there are
 * none. */
static sali_change_outcome change(sali_change *ch)
{
    slice_cut cut = cut_of(ch->call);
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        int64_t piece = ch->in[0]->index[k] / cut.step, at = ch->in[0]->index[k] % cut.step;
        if (at >= cut.first && at < cut.first + cut.length &&
            !change_set(ch, piece * cut.length + at - cut.first, change_new(ch, 0, k))) {
            return SALI_CHANGE_GIVE_UP;
        }
    }
    return SALI_CHANGE_DONE;
}

static sali_op_term term(const sali_term_place *p)
{
    int64_t axis = p->node->ints[0], n = p->in[0]->shape.dim[axis];
    sali_axis_place to = sali_axis_find(&p->node->shape, axis, p->k);
    return (
        sali_op_term){ .count = 1,
                       .factor = 1,
                       .n = 1,
                       .at = { (to.outer * n + p->node->ints[1] + to.at) * to.inner + to.rest } };
}

const sali_op RN(sali_op_slice) = {
    .name = "slice",
    .arity = 1,
    .axes = 1,
    .by_rows = true,
    .linear = true,
    .test_low = -2,
    .test_high = 2,
    .doc = "a[start .. start + length - 1] along an axis",
    .term = term,
    .shape = shape,
    .degree = degree,
    .forward = forward,
    .backward = backward,
    .change = change,
};
