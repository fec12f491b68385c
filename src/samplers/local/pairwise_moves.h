/* SPDX-License-Identifier: MIT */
/* Locally balanced single-site steps on pairwise models (models/structure/couplings.h), O(degree +
 * log V) each: a flip of variable i changes the differences of i and of its neighbours only, and a
 * sum tree holds the proposal's weights g(t). f is multilinear in the bits, so first-order
 * differences, where they are those of a multilinear f off the lattice too, and exact ones are the
 * same. */
#ifndef SALI_PAIRWISE_MOVES_H
#define SALI_PAIRWISE_MOVES_H

#include "models/structure/couplings.h"
#include "samplers/balance.h"
#include "samplers/sampler.h"

typedef struct sali_pairwise_moves sali_pairwise_moves;

/* *out is NULL, with SAL_OK, if the model is not pairwise. */
sal_status sali_pairwise_moves_create(const sali_chains *chains, const sali_balance *balance,
                                      sali_pairwise_moves **out, sal_error *err);
void sali_pairwise_moves_destroy(sali_pairwise_moves *moves);

/* Take the chains' states and temperatures; sets f. False, with nothing done: the parameters have
 * changed and the model is not pairwise any more, or weights would leave the range of double. */
bool sali_pairwise_moves_refresh(sali_pairwise_moves *moves, sali_chains *chains);

/* n steps of every chain, counted and summed up in `chains`. */
void sali_pairwise_moves_steps(sali_pairwise_moves *moves, sali_chains *chains, int64_t n);

/* log q(present state -> to), [n]. */
void sali_pairwise_moves_log_q(const sali_pairwise_moves *moves, const sali_chains *chains,
                               const int32_t *to, double *log_q);

#endif
