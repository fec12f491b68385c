/* SPDX-License-Identifier: MIT */
/* The pseudo-likelihood of data and its gradient by the parameters. */
#ifndef SALI_PSEUDO_LIKELIHOOD_H
#define SALI_PSEUDO_LIKELIHOOD_H

#include "models/model.h"

typedef struct sali_pseudo_likelihood sali_pseudo_likelihood;

/* For batches in `shards` shards of up to `rows` data rows each, of which first .. end - 1 are
 * here.
 * Math:    log PL(s) = sum_i log p(s_i | s_-i) = -sum_i log sum_v exp(f(s_i = v) - f(s)), so that
 *
 *          d log PL / dtheta = sum_i sum_v p_i(v) (g(s) - g(s_i = v)),
 *
 *          with g = df/dtheta and p_i(v) = p(s_i = v | s_-i). In general that takes g at every
 *          neighbour. If f has a multilinear quadratic form (models/make/multilinear.h), then
 * g(s) - g(s_i = v) is linear in the change of s: only the conditional means m count, and with
 *          delta = m - s
 *
 *          d log PL / dtheta = g(s - delta / 2) - g(s + delta / 2).
 * Params:  model: a tape with parameters and no clamped variables, kept by reference;
 *          by_neighbours: without the quadratic form, which tests compare.
 * Returns: SAL_ERR_UNSUPPORTED (counts without a cap), SAL_ERR_MEMORY.
 * Cost:    of a row, for a quadratic f: its gradient by the state, and g at two points (3 n^2
 *          multiplications for n reals coupled by a matrix); else differences of f, and g at each
 *          neighbour. Memory: a copy of the gradient a shard, and one of the parameters where the
 *          form is not the model as recorded.
 * Source:  Besag 1975; Grathwohl et al. 2021 sec. 7 (as a baseline). */
sal_status sali_pseudo_likelihood_create(sal_model *model, bool by_neighbours, int64_t shards,
                                         int64_t first, int64_t end, int64_t rows,
                                         sali_pseudo_likelihood **out, sal_error *err);

void sali_pseudo_likelihood_destroy(sali_pseudo_likelihood *pl); /* NULL is fine */

/* Whether the gradient comes from the quadratic form. */
bool sali_pseudo_likelihood_is_quadratic(const sali_pseudo_likelihood *pl);

/* Follow the model's parameters. One thread calls it after each change of them, while no other uses
 * this object. */
void sali_pseudo_likelihood_refresh(sali_pseudo_likelihood *pl);

/* Forget, then add weight times the gradient of sum log PL over `rows` data rows, codes [rows x V]
 * in range, to what shard k has gathered. Returns sum log PL; it is -inf if f is at a row, this row
 * then adds nothing to the gradient. Shards may run in parallel. */
void sali_pseudo_likelihood_zero(sali_pseudo_likelihood *pl, int64_t k);
double sali_pseudo_likelihood_add(sali_pseudo_likelihood *pl, int64_t k, int64_t rows,
                                  const int32_t *codes, double weight);

/* Sum what the shards gathered, in the order of the shards, into flat [parameters of the model]
 * (overwritten). Call sali_pseudo_likelihood_zero before gathering again. */
void sali_pseudo_likelihood_reduce(sali_pseudo_likelihood *pl, double *flat);

/* The workspaces in which the shards gather, [shards]; NULL for shards of other ranks. */
struct sali_workspace *const *sali_pseudo_likelihood_workspaces(const sali_pseudo_likelihood *pl);

#endif
