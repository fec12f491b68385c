/* SPDX-License-Identifier: MIT */
/* The largest of all elements, or along one axis; NaN if one is. The derivative goes to the first
 * of the largest elements. */
#include "ad/ops/reduce.h"

static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)in;
    return chains * sali_shape_size(&node->shape);
}

/* m[o, i] = NaN where any x[o, k, i] is NaN. */
static inline void restore_nan(sali_axis_view view, const real *x, real *m)
{
    for (int64_t o = 0; o < view.outer; o++, m += view.inner) {
        if (view.inner == 1) {
            int64_t nans = 0;
#pragma omp simd reduction(+ : nans)
            for (int64_t k = 0; k < view.n; k++) {
                nans += x[k] != x[k];
            }
            *m = nans > 0 ? (real)NAN : *m;
            x += view.n;
            continue;
        }
        for (int64_t k = 0; k < view.n; k++, x += view.inner) {
#pragma omp simd
            for (int64_t i = 0; i < view.inner; i++) {
                m[i] = x[i] != x[i] ? x[i] : m[i];
            }
        }
    }
}

SALI_CLONES static void forward(const sali_call *call)
{
    reduce_max(view_of(call), call->in[0].value, (real *)call->out.value);
    restore_nan(view_of(call), call->in[0].value, (real *)call->out.value);
}

/* Add g to the adjoint of the first of n elements that equals `largest`. */
static inline void pull_first(int64_t n, real g, const real *x, real largest, real *to)
{
    for (int64_t k = 0; k < n; k++) {
        if (x[k] == largest) {
            to[k] += g;
            return;
        }
    }
}

/* An adjoint that was given to an element counts as zero for the rest of the line. */
SALI_CLONES static void backward(const sali_call *call)
{
    sali_axis_view view = view_of(call);
    const real *x = call->in[0].value, *y = call->out.value;
    real *to = call->in[0].adjoint, *g = call->scratch;
    memcpy(g, call->out.adjoint, (size_t)(view.outer * view.inner) * sizeof *g);
    for (int64_t o = 0; o < view.outer; o++, y += view.inner, g += view.inner) {
        if (view.inner == 1) {
            pull_first(view.n, *g, x, *y, to);
            x += view.n;
            to += view.n;
            continue;
        }
        for (int64_t k = 0; k < view.n; k++, x += view.inner, to += view.inner) {
#pragma omp simd
            for (int64_t i = 0; i < view.inner; i++) {
                to[i] += x[i] == y[i] ? g[i] : 0;
                g[i] = x[i] == y[i] ? 0 : g[i];
            }
        }
    }
}

const sali_op RN(sali_op_max) = {
    .name = "max",
    .arity = 1,
    .axes = 1,
    .by_rows = true,
    .test_low = -1,
    .test_high = 1,
    .doc = "max_k a_k, over all elements or one axis",
    .shape = sali_shape_reduce,
    .degree = sali_degree_nonlinear,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
};
