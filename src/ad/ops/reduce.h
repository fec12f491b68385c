/* SPDX-License-Identifier: MIT */
/* Reductions see their operand, all chains of it, as [outer, n, inner] and reduce over n.
 * Attributes: ints = { axis }, -1 for all elements (then inner is 1). */
#ifndef SALI_REDUCE_H
#define SALI_REDUCE_H

#include <math.h>
#include <string.h>

#include "ad/change.h"
#include "ad/ops/ops.h"

/* The operand, all chains of it, as [outer, n, inner]. */
static inline sali_axis_view view_of(const sali_call *call)
{
    sali_axis_view view = sali_axis_of(call->in[0].shape, call->node->ints[0]);
    view.outer *= call->chains;
    return view;
}

/* The largest of n numbers, found in LANES runs side by side. NaNs are passed over. */
static inline real max_of(int64_t n, const real *x)
{
    enum { LANES = 16 };
    real most[LANES];
    for (int l = 0; l < LANES; l++) {
        most[l] = -(real)INFINITY;
    }
    int64_t whole = n - n % LANES;
    for (int64_t k = 0; k < whole; k += LANES) {
        for (int l = 0; l < LANES; l++) {
            most[l] = x[k + l] > most[l] ? x[k + l] : most[l];
        }
    }
    for (int64_t k = whole; k < n; k++) {
        most[0] = x[k] > most[0] ? x[k] : most[0];
    }
    for (int l = 1; l < LANES; l++) {
        most[0] = most[l] > most[0] ? most[l] : most[0];
    }
    return most[0];
}

/* m[o, i] = max_k x[o, k, i]; NaNs are passed over. */
static inline void reduce_max(sali_axis_view view, const real *x, real *m)
{
    for (int64_t o = 0; o < view.outer; o++, x += view.n * view.inner, m += view.inner) {
        if (view.inner == 1) {
            *m = max_of(view.n, x);
            continue;
        }
        for (int64_t i = 0; i < view.inner; i++) {
            m[i] = -(real)INFINITY;
        }
        for (int64_t k = 0; k < view.n; k++) {
            const real *row = x + k * view.inner;
#pragma omp simd
            for (int64_t i = 0; i < view.inner; i++) {
                m[i] = row[i] > m[i] ? row[i] : m[i];
            }
        }
    }
}

/* out[o, i] = sum_k x[o, k, i] */
static inline void reduce_sum(sali_axis_view view, const real *x, real *out)
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
static inline void reduce_spread(sali_axis_view view, real factor, const real *g, real *to)
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

/* ---- changes: a line is [n] of the elements [outer, n, inner], reduced to one number */

/* Where the line of element `at` begins; the elements of a line are `inner` apart. */
static inline int64_t line_begin(sali_axis_view view, int64_t at)
{
    return at - at / view.inner % view.n * view.inner;
}

/* Whether finding the lines of changed elements, each by looking at all others, takes too long. */
static inline bool lines_are_many(const sali_change *ch)
{
    return ch->in[0]->n * ch->in[0]->n > ch->call->in[0].size;
}

/* Whether no other listed element of the same line has a smaller index than listed element k. */
static inline bool is_first_of_line(const sali_change *ch, sali_axis_view view, int64_t k)
{
    const int32_t *index = ch->in[0]->index;
    for (int64_t j = 0; j < ch->in[0]->n; j++) {
        if (index[j] < index[k] && line_begin(view, index[j]) == line_begin(view, index[k])) {
            return false;
        }
    }
    return true;
}

/* Term t of a sum along lines: element t of the line, with factor 1. */
static inline sali_op_term reduce_term(const sali_term_place *p)
{
    sali_axis_view view = sali_axis_of(&p->in[0]->shape, p->node->ints[0]);
    int64_t outer = p->k / view.inner, rest = p->k % view.inner;
    return (sali_op_term){
        .count = view.n, .factor = 1, .n = 1, .at = { (outer * view.n + p->t) * view.inner + rest }
    };
}

/* Change rule of `factor` times the sum of all elements, which adds factor times the rises. The row
 * is evaluated again if there are several sums. */
static inline sali_change_outcome reduce_change(sali_change *ch, real factor)
{
    const real *out = ch->call->out.value;
    real rise = 0;
    if (ch->call->out.size > 1 || !ch->affine) {
        return SALI_CHANGE_ROW;
    }
    for (int64_t k = 0; k < ch->in[0]->n; k++) {
        rise += change_rise(ch, 0, k);
    }
    if (!isfinite(rise)) {
        return SALI_CHANGE_ROW;
    }
    return change_set(ch, 0, *out + factor * rise) ? SALI_CHANGE_DONE : SALI_CHANGE_GIVE_UP;
}

#endif
