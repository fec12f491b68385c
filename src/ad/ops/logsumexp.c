/* SPDX-License-Identifier: MIT */
/* log sum_k exp x_k = m + log sum_k e_k with e_k = exp(x_k - m), m = max x; -inf if all are -inf.
 * The e_k are kept: the backward pass, g softmax(x)_k = g e_k / sum e, needs no exponentials. */
#include "ad/ops/exponentials.h"

static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)in;
    return chains * sali_shape_size(&node->shape);
}

SALI_CLONES static void forward(const sali_call *call)
{
    sali_axis_view view = view_of(call);
    int64_t rows = view.outer * view.inner;
    real *y = (real *)call->out.value, *sum = call->scratch;
    shifted_exponentials(view, call->in[0].value, y, call->saved, sum);
    RN(sali_vlog)(rows, sum, sum);
#pragma omp simd
    for (int64_t i = 0; i < rows; i++) {
        y[i] += sum[i];
    }
}

/* to[o, k, i] += t[o, i] e[o, k, i] */
static inline void add_weighted(sali_axis_view view, const real *t, const real *e, real *to)
{
    for (int64_t o = 0; o < view.outer; o++, t += view.inner) {
        if (view.inner == 1) {
#pragma omp simd
            for (int64_t k = 0; k < view.n; k++) {
                to[k] += sali_pull(*t, e[k]);
            }
            to += view.n;
            e += view.n;
            continue;
        }
        for (int64_t k = 0; k < view.n; k++, e += view.inner, to += view.inner) {
#pragma omp simd
            for (int64_t i = 0; i < view.inner; i++) {
                to[i] += sali_pull(t[i], e[i]);
            }
        }
    }
}

SALI_CLONES static void backward(const sali_call *call)
{
    sali_axis_view view = view_of(call);
    int64_t rows = view.outer * view.inner;
    const real *g = call->out.adjoint;
    real *t = call->scratch; /* g / sum e; 0 where all x are -inf */
    reduce_sum(view, call->saved, t);
#pragma omp simd
    for (int64_t i = 0; i < rows; i++) {
        t[i] = t[i] == 0 ? 0 : sali_pull(g[i], 1 / t[i]);
    }
    add_weighted(view, t, call->saved, call->in[0].adjoint);
}

const sali_op RN(sali_op_logsumexp) = {
    .name = "logsumexp",
    .arity = 1,
    .axes = 1,
    .by_rows = true,
    .test_low = -3,
    .test_high = 3,
    .doc = "log sum_k exp a_k, over all elements or one axis",
    .hidden = SALI_HIDES_INDEX,
    .shape = sali_shape_reduce,
    .degree = sali_degree_nonlinear,
    .saved_size = sali_saved_as_first,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
};
