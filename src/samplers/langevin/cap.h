/* SPDX-License-Identifier: MIT */
/* The factorised proposal given that at most so many variables change: Xiang et al. 2023, the
 * remark after theorem 2, made exact.
 *
 * With o_i the weight of all changes of variable i together, relative to staying, the proposal is
 * the factorised proposal restricted to moves of k variables or fewer. Its norm is the sum, over
 * all sets of k variables or fewer, of the product of their o_i, which the recursion
 *
 *   R_i[j] = R_(i+1)[j] + o_i R_(i+1)[j - 1]
 *
 * computes: R_i[j] is the norm for at most j changes among the variables i, i + 1, .. . Variable i
 * changes with probability o_i R_(i+1)[j - 1] / R_i[j] where j changes are left. All is in
 * logarithms: the sums overflow. O(V k) time and memory. */
#ifndef SALI_CAP_H
#define SALI_CAP_H

#include "samplers/kernels.h"
#include "samplers/sampler.h"

typedef struct sali_cap {
    int64_t most;     /* k; 0: no cap, and nothing else is used */
    double *odds;     /* [V] log o_i */
    double *R;        /* [(V + 1) x (k + 1)] log R_i[j] */
    double *uniforms; /* [2V] */
} sali_cap;

/* Allocate the arrays, which belong to `object` (core/object.h); it records a failed allocation. */
void sali_cap_create(void *object, const sal_space *space, int64_t most, sali_cap *cap);

/* Replace log_norm of a row at `codes` [V], prepared by the factorised kernel, by the norm of the
 * capped proposal. */
void sali_cap_prepare(sali_cap *cap, const sal_model *model, const int32_t *codes,
                      sali_move_row *row);

/* Draw codes_new and x_new from a row that sali_cap_prepare has finished, at (codes, x); returns
 * log q of the draw. */
double sali_cap_draw(sali_cap *cap, const sal_model *model, const sali_stream *stream,
                     const int32_t *codes, const void *x, const sali_move_row *row,
                     int32_t *codes_new, void *x_new);

/* Whether the proposal can go from one state to another. */
bool sali_cap_allows(const sali_cap *cap, const sal_space *space, const int32_t *from,
                     const int32_t *to);

#endif
