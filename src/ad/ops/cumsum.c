/* SPDX-License-Identifier: MIT */
/* Sums of the elements up to each one, over all elements in row-major order or along one axis. */
#include "ad/ops/reduce.h"

static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)chains;
    (void)in;
    return sali_shape_size(&node->shape);
}

SALI_CLONES static void forward(const sali_call *call)
{
    sali_axis_view view = view_of(call);
    const real *x = call->in[0].value;
    real *y = (real *)call->out.value;
    for (int64_t o = 0; o < view.outer; o++) {
        memcpy(y, x, (size_t)view.inner * sizeof *y);
        x += view.inner;
        y += view.inner;
        for (int64_t k = 1; k < view.n; k++, x += view.inner, y += view.inner) {
#pragma omp simd
            for (int64_t i = 0; i < view.inner; i++) {
                y[i] = y[i - view.inner] + x[i];
            }
        }
    }
}

/* The adjoint of an element is the sum of the output's adjoints from this element on. */
SALI_CLONES static void backward(const sali_call *call)
{
    sali_axis_view view = view_of(call);
    int64_t line = view.n * view.inner;
    real *sum = call->scratch;
    for (int64_t o = 0; o < view.outer; o++) {
        const real *g = (const real *)call->out.adjoint + o * line;
        real *to = (real *)call->in[0].adjoint + o * line;
        memset(sum, 0, (size_t)view.inner * sizeof *sum);
        for (int64_t at = line - view.inner; at >= 0; at -= view.inner) {
#pragma omp simd
            for (int64_t i = 0; i < view.inner; i++) {
                sum[i] += g[at + i];
                to[at + i] += sum[i];
            }
        }
    }
}

/* Recomputes the sums from the first changed element of a line on, in the order of forward. */
static sali_change_outcome change(sali_change *ch)
{
    const real *x = ch->call->in[0].value, *y = ch->call->out.value;
    sali_axis_view view = view_of(ch->call);
    if (lines_are_many(ch)) {
        return SALI_CHANGE_ROW;
    }
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        int64_t at = ch->in[0]->index[k], begin = line_begin(view, at);
        int64_t end = is_first_of_line(ch, view, k) ? begin + view.n * view.inner : at;
        for (; at < end; at += view.inner) {
            if (!change_set(ch, at, at > begin ? y[at - view.inner] + x[at] : x[at])) {
                return SALI_CHANGE_GIVE_UP;
            }
        }
    }
    return SALI_CHANGE_DONE;
}

/* Term t of element k is element t of k's line, with factor 0 if element t comes after k. */
static sali_op_term term(const sali_term_place *p)
{
    sali_axis_place line = sali_axis_find(&p->node->shape, p->node->ints[0], p->k);
    return (sali_op_term){ .count = line.n,
                           .factor = p->t <= line.at ? 1 : 0,
                           .n = 1,
                           .at = { (line.outer * line.n + p->t) * line.inner + line.rest } };
}

const sali_op RN(sali_op_cumsum) = {
    .name = "cumsum",
    .arity = 1,
    .axes = 1,
    .by_rows = true,
    .linear = true,
    .test_low = -2,
    .test_high = 2,
    .doc = "sum_l<=k a_l, over all elements or one axis",
    .term = term,
    .reach = SALI_REACHES_MANY,
    .shape = sali_shape_along,
    .degree = sali_degree_mixing,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
    .change = change,
};
