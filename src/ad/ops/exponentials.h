/* SPDX-License-Identifier: MIT */
/* exp(x_k - max x) along lines and their sums, which logsumexp and softmax are made of. */
#ifndef SALI_EXPONENTIALS_H
#define SALI_EXPONENTIALS_H

#include "ad/ops/reduce.h"
#include "core/vector/vmath.h"

/* e[o, k, i] = x[o, k, i] - m[o, i] */
static inline void subtract_lines(sali_axis_view view, const real *x, const real *m, real *e)
{
    for (int64_t o = 0; o < view.outer; o++, m += view.inner) {
        if (view.inner == 1) {
#pragma omp simd
            for (int64_t k = 0; k < view.n; k++) {
                e[k] = x[k] - *m;
            }
            x += view.n;
            e += view.n;
            continue;
        }
        for (int64_t k = 0; k < view.n; k++, x += view.inner, e += view.inner) {
#pragma omp simd
            for (int64_t i = 0; i < view.inner; i++) {
                e[i] = x[i] - m[i];
            }
        }
    }
}

/* m = max x along lines, or 0 where the maximum is infinite; e = exp(x - m); sum = sum of e. */
static inline void shifted_exponentials(sali_axis_view view, const real *x, real *m, real *e,
                                        real *sum)
{
    int64_t lines = view.outer * view.inner;
    reduce_max(view, x, m);
    for (int64_t i = 0; i < lines; i++) {
        m[i] = isinf(m[i]) ? 0 : m[i]; /* then exp(x - m) is 0 or inf, as it should be */
    }
    subtract_lines(view, x, m, e);
    RN(sali_vexp)(lines * view.n, e, e);
    reduce_sum(view, e, sum);
}

#endif
