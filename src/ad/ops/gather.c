/* SPDX-License-Identifier: MIT */
/* Elements along an axis by index, in any order, some perhaps several times. Attributes:
 * ints = { axis, indices }. */
#include <string.h>

#include "ad/change.h"
#include "ad/ops/ops.h"
#include "core/alloc.h"
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

/* Where each index of the axis goes: index i to the positions at[begin[i]] .. at[begin[i + 1] - 1]
 * of the output's axis. */
typedef struct gather_plan {
    int64_t *begin; /* [n + 1] */
    int32_t *at;    /* [indices], in rising order for each index */
} gather_plan;

static sal_status plan_create(const sali_node *node, const sali_node *const *in,
                              const sal_space *space, void **plan, sal_error *err)
{
    (void)space;
    const int64_t n = in[0]->shape.dim[node->ints[0]], count = node->n_ints - 1;
    const int64_t *index = node->ints + 1;
    const size_t begin_bytes = (size_t)(n + 1) * sizeof(int64_t);
    char *block = sali_alloc(
        (int64_t)(sizeof(gather_plan) + begin_bytes + (size_t)count * sizeof(int32_t)), 1);
    if (!block) {
        return sali_fail_memory(err);
    }
    gather_plan *made = (gather_plan *)(void *)block;
    made->begin = (int64_t *)(void *)(block + sizeof(gather_plan));
    made->at = (int32_t *)(void *)(block + sizeof(gather_plan) + begin_bytes);
    memset(made->begin, 0, begin_bytes);
    for (int64_t k = 0; k < count; k++) {
        made->begin[index[k]]++;
    }
    for (int64_t i = 1; i <= n; i++) {
        made->begin[i] += made->begin[i - 1];
    }
    for (int64_t k = count - 1; k >= 0; k--) { /* from the ends of the lists to their begins */
        made->at[--made->begin[index[k]]] = (int32_t)k;
    }
    *plan = made;
    return SAL_OK;
}

/* The degree of the input if no element is gathered twice, as far as one look along the indices
 * shows: they rise, but may begin again below the first of them once, as in a rotation. */
static sali_degree degree(const sali_node *node, const sali_node *const *in,
                          const sali_degree *in_degree, const sal_space *space)
{
    int64_t falls = 0;
    for (int64_t k = 2; k < node->n_ints; k++) {
        falls += node->ints[k] <= node->ints[k - 1];
    }
    const bool distinct =
        falls == 0 || (falls == 1 && node->ints[node->n_ints - 1] < node->ints[1]);
    return distinct ? in_degree[0] : sali_degree_mixing(node, in, in_degree, space);
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

/* Copies each changed element to the positions that it is gathered to. */
static sali_change_outcome change(sali_change *ch)
{
    const gather_plan *plan = ch->call->plan;
    const int64_t axis = ch->call->node->ints[0], count = ch->call->node->n_ints - 1;
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        const sali_axis_place from =
            sali_axis_find(ch->call->in[0].shape, axis, ch->in[0]->index[k]);
        for (int64_t j = plan->begin[from.at]; j < plan->begin[from.at + 1]; j++) {
            const int64_t to = (from.outer * count + plan->at[j]) * from.inner + from.rest;
            if (!change_set(ch, to, change_new(ch, 0, k))) {
                return SALI_CHANGE_GIVE_UP;
            }
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
    .degree = degree,
    .plan_create = plan_create,
    .forward = forward,
    .backward = backward,
    .change = change,
};
