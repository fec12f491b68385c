/* Reductions see their operand, all chains of it, as [outer, n, inner] and reduce over n.
 * Attributes: ints = { axis }, -1 for all elements (then inner is 1). */
#ifndef SALI_REDUCE_H
#define SALI_REDUCE_H

#include <string.h>

#include "ad/ops/ops.h"

typedef struct reduce_view {
    int64_t outer, n, inner;
} reduce_view;

static inline reduce_view view_of(const sali_call *call)
{
    const sal_shape *shape = call->in[0].shape;
    int64_t axis = call->node->ints[0];
    if (axis < 0) {
        return (reduce_view){ .outer = call->chains, .n = call->in[0].size, .inner = 1 };
    }
    reduce_view view = { .outer = call->chains, .n = shape->dim[axis], .inner = 1 };
    for (int32_t i = 0; i < shape->rank; i++) {
        view.outer *= i < axis ? shape->dim[i] : 1;
        view.inner *= i > axis ? shape->dim[i] : 1;
    }
    return view;
}

/* out[o, i] = sum_k x[o, k, i] */
static inline void reduce_sum(reduce_view view, const real *x, real *out)
{
    for (int64_t o = 0; o < view.outer; o++, x += view.n * view.inner, out += view.inner) {
        if (view.inner == 1) {
            real sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t k = 0; k < view.n; k++) {
                sum += x[k];
            }
            *out = sum;
            continue;
        }
        memcpy(out, x, (size_t)view.inner * sizeof *out);
        for (int64_t k = 1; k < view.n; k++) {
            const real *row = x + k * view.inner;
#pragma omp simd
            for (int64_t i = 0; i < view.inner; i++) {
                out[i] += row[i];
            }
        }
    }
}

/* to[o, k, i] += factor * g[o, i] */
static inline void reduce_spread(reduce_view view, real factor, const real *g, real *to)
{
    for (int64_t o = 0; o < view.outer; o++, to += view.n * view.inner, g += view.inner) {
        if (view.inner == 1) {
            real all = factor * *g;
#pragma omp simd
            for (int64_t k = 0; k < view.n; k++) {
                to[k] += all;
            }
            continue;
        }
        for (int64_t k = 0; k < view.n; k++) {
            real *row = to + k * view.inner;
#pragma omp simd
            for (int64_t i = 0; i < view.inner; i++) {
                row[i] += factor * g[i];
            }
        }
    }
}

#endif
