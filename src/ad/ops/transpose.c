/* SPDX-License-Identifier: MIT */
/* Two axes change places. Attributes: ints = { one axis, the other }. */
#include "ad/change.h"
#include "ad/ops/ops.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    sal_status status = sali_expect_attributes(node, 2, 0, context->err);
    if (status != SAL_OK) {
        return status;
    }
    const sal_shape *a = &context->in[0]->shape;
    int64_t first = node->ints[0], second = node->ints[1];
    if (first < 0 || second < 0 || first >= a->rank || second >= a->rank || first == second) {
        return sali_shape_fail(node, context, "two different axes within the rank");
    }
    node->shape = *a;
    node->shape.dim[first] = a->dim[second];
    node->shape.dim[second] = a->dim[first];
    return SAL_OK;
}

/* All chains' elements as [outer, first, mid, second, inner]; they go to
 * [outer, second, mid, first, inner]. */
typedef struct swap_view {
    int64_t outer, first, mid, second, inner;
} swap_view;

/* The view of a call's array of this shape, for the exchange of the node's two axes. */
static swap_view view_of(const sali_call *call, const sal_shape *shape)
{
    const int64_t *axis = call->node->ints;
    int64_t low = axis[0] < axis[1] ? axis[0] : axis[1], high = axis[0] + axis[1] - low;
    swap_view view = { .outer = call->chains,
                       .first = shape->dim[low],
                       .mid = 1,
                       .second = shape->dim[high],
                       .inner = 1 };
    for (int32_t i = 0; i < shape->rank; i++) {
        view.outer *= i < low ? shape->dim[i] : 1;
        view.mid *= i > low && i < high ? shape->dim[i] : 1;
        view.inner *= i > high ? shape->dim[i] : 1;
    }
    return view;
}

/* Copy n numbers, `step` apart in `from`, to `to`; with `add`, add them. */
static inline void copy_strided(int64_t n, const real *from, int64_t step, bool add, real *to)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        to[i] = (add ? to[i] : 0) + from[i * step];
    }
}

/* Copy `from`, seen as v, to `to` with the two axes exchanged; with `add`, add it. */
static inline void swap_axes(swap_view v, const real *from, bool add, real *to)
{
    int64_t step = v.mid * v.second * v.inner;
    for (int64_t o = 0; o < v.outer; o++, from += v.first * step) {
        for (int64_t s = 0; s < v.second; s++) {
            for (int64_t m = 0; m < v.mid; m++, to += v.first * v.inner) {
                const real *x = from + (m * v.second + s) * v.inner;
                if (v.inner == 1) {
                    copy_strided(v.first, x, step, add, to);
                    continue;
                }
                for (int64_t f = 0; f < v.first; f++) {
                    copy_strided(v.inner, x + f * step, 1, add, to + f * v.inner);
                }
            }
        }
    }
}

SALI_CLONES static void forward(const sali_call *call)
{
    swap_axes(view_of(call, call->in[0].shape), call->in[0].value, false, (real *)call->out.value);
}

SALI_CLONES static void backward(const sali_call *call)
{
    swap_axes(view_of(call, call->out.shape), call->out.adjoint, true, call->in[0].adjoint);
}

/* Copies each changed element to its place in the output. */
static sali_change_outcome change(sali_change *ch)
{
    swap_view v = view_of(ch->call, ch->call->in[0].shape);
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        int64_t at = ch->in[0]->index[k];
        int64_t i = at % v.inner, s = at / v.inner % v.second, m = at / v.inner / v.second % v.mid;
        int64_t row = at / v.inner / v.second / v.mid, f = row % v.first, o = row / v.first;
        int64_t to = (((o * v.second + s) * v.mid + m) * v.first + f) * v.inner + i;
        if (!change_set(ch, to, change_new(ch, 0, k))) {
            return SALI_CHANGE_GIVE_UP;
        }
    }
    return SALI_CHANGE_DONE;
}

/* Element k is the input's element at the same places of all axes, but for the two that are
 * exchanged. */
static sali_op_term term(const sali_term_place *p)
{
    const int64_t *axis = p->node->ints;
    const sal_shape *from = &p->in[0]->shape, *to = &p->node->shape;
    int64_t place[SAL_MAX_RANK], rest = p->k, at = 0;
    for (int32_t i = to->rank - 1; i >= 0; i--) {
        int64_t moved = i == axis[0] ? axis[1] : i == axis[1] ? axis[0] : i;
        place[moved] = rest % to->dim[i];
        rest /= to->dim[i];
    }
    for (int32_t i = 0; i < from->rank; i++) {
        at = at * from->dim[i] + place[i];
    }
    return (sali_op_term){ .count = 1, .factor = 1, .n = 1, .at = { at } };
}

const sali_op RN(sali_op_transpose) = {
    .name = "transpose",
    .arity = 1,
    .axes = 2,
    .by_rows = true,
    .linear = true,
    .test_low = -2,
    .test_high = 2,
    .doc = "a with two axes exchanged",
    .term = term,
    .shape = shape,
    .degree = sali_degree_linear,
    .forward = forward,
    .backward = backward,
    .change = change,
};
