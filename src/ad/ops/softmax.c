/* SPDX-License-Identifier: MIT */
/* exp a_k / sum_l exp a_l, over all elements or along one axis; NaN along a line of -inf, or with
 * an element that is inf. */
#include "ad/ops/exponentials.h"

/* Two numbers for each line; for changes, one line and its values. */
static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)in;
    int64_t size = sali_shape_size(&node->shape);
    int64_t n = node->ints[0] < 0 ? size : node->shape.dim[node->ints[0]];
    return 2 * (chains * (size / n) + n);
}

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* y[i] /= sum[i step] for a row of n; the compiler knows the step (0 or 1). */
ALWAYS_INLINE void divide_line(int64_t n, const real *sum, int64_t step, real *y)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        y[i] /= sum[i * step];
    }
}

/* to[i] += (g[i] - sum[i step]) y[i] for a row of n; a zero difference adds 0 even if y is NaN. */
ALWAYS_INLINE void pull_line(int64_t n, const real *g, const real *y, const real *sum, int64_t step,
                             real *to)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        to[i] += sali_pull(g[i] - sum[i * step], y[i]);
    }
}

/* y = softmax x. scratch [2 outer inner] */
static inline void softmax_values(sali_axis_view view, const real *x, real *scratch, real *y)
{
    real *most = scratch, *sum = scratch + view.outer * view.inner;
    shifted_exponentials(view, x, most, y, sum);
    for (int64_t o = 0; o < view.outer; o++, sum += view.inner, y += view.n * view.inner) {
        if (view.inner == 1) {
            divide_line(view.n, sum, 0, y);
        }
        for (int64_t k = 0; view.inner > 1 && k < view.n; k++) {
            divide_line(view.inner, sum, 1, y + k * view.inner);
        }
    }
}

SALI_CLONES static void forward(const sali_call *call)
{
    softmax_values(view_of(call), call->in[0].value, call->scratch, (real *)call->out.value);
}

/* sum[o, i] = sum_k g[o, k, i] y[o, k, i] */
static inline void sum_products(sali_axis_view view, const real *g, const real *y, real *sum)
{
    for (int64_t o = 0; o < view.outer; o++, sum += view.inner) {
        if (view.inner == 1) {
            real all = 0;
#pragma omp simd reduction(+ : all)
            for (int64_t k = 0; k < view.n; k++) {
                all += sali_pull(g[k], y[k]);
            }
            *sum = all;
            g += view.n;
            y += view.n;
            continue;
        }
        memset(sum, 0, (size_t)view.inner * sizeof *sum);
        for (int64_t k = 0; k < view.n; k++, g += view.inner, y += view.inner) {
#pragma omp simd
            for (int64_t i = 0; i < view.inner; i++) {
                sum[i] += sali_pull(g[i], y[i]);
            }
        }
    }
}

/* The adjoint of a_k is y_k (g_k - sum_l g_l y_l). */
SALI_CLONES static void backward(const sali_call *call)
{
    sali_axis_view view = view_of(call);
    const real *g = call->out.adjoint, *y = call->out.value;
    real *to = call->in[0].adjoint, *sum = call->scratch;
    sum_products(view, g, y, sum);
    for (int64_t o = 0, at = 0; o < view.outer; o++, sum += view.inner) {
        if (view.inner == 1) {
            pull_line(view.n, g + at, y + at, sum, 0, to + at);
            at += view.n;
        }
        for (int64_t k = 0; view.inner > 1 && k < view.n; k++, at += view.inner) {
            pull_line(view.inner, g + at, y + at, sum, 1, to + at);
        }
    }
}

/* Recompute the line of listed element k, in the call's scratch, and set its outputs; false: no
 * room, give up. */
static bool remake_line(sali_change *ch, sali_axis_view view, int64_t k)
{
    int64_t begin = line_begin(view, ch->in[0]->index[k]);
    const real *x = (const real *)ch->call->in[0].value + begin;
    real *line = (real *)ch->call->scratch, *y = line + view.n, both[2];
    for (int64_t l = 0; l < view.n; l++) {
        line[l] = x[l * view.inner];
    }
    softmax_values((sali_axis_view){ .outer = 1, .n = view.n, .inner = 1 }, line, both, y);
    for (int64_t l = 0; l < view.n; l++) {
        if (!change_set(ch, begin + l * view.inner, y[l])) {
            return false;
        }
    }
    return true;
}

/* Recomputes each line that has a changed element, once. */
static sali_change_outcome change(sali_change *ch)
{
    sali_axis_view view = view_of(ch->call);
    if (lines_are_many(ch)) {
        return SALI_CHANGE_ROW;
    }
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        if (is_first_of_line(ch, view, k) && !remake_line(ch, view, k)) {
            return SALI_CHANGE_GIVE_UP;
        }
    }
    return SALI_CHANGE_DONE;
}

const sali_op RN(sali_op_softmax) = {
    .name = "softmax",
    .arity = 1,
    .axes = 1,
    .by_rows = true,
    .test_low = -3,
    .test_high = 3,
    .doc = "exp a_k / sum_l exp a_l, over all elements or one axis",
    .shape = sali_shape_along,
    .degree = sali_degree_nonlinear,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
    .change = change,
};
