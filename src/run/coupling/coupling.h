/* SPDX-License-Identifier: MIT */
/* Pairs of chains that make their steps with the same random numbers, one of them a lag of steps
 * ahead (Biswas, Jacob & Vanetti 2019, algorithm 1).
 *
 * Pair c has chain c of two runs. X starts and makes L steps alone; Y starts from other random
 * numbers; then both step together, with the seed, the number and the step counter of X. Each chain
 * alone moves as in any run, if the kernel of step t is that of step t + L. Two chains in the same
 * state make the same move, so a pair is over when it has met. How chains come to meet is for their
 * sampler: what it makes of the random numbers, and of the partner's state (samplers/coupled.h). */
#ifndef SALI_COUPLING_H
#define SALI_COUPLING_H

#include "run/run.h"

typedef struct sali_coupling {
    sal_run *x, *y;
    int64_t lag;     /* L, a multiple of the steps after which kernels repeat */
    int64_t steps;   /* made by X, or fewer in a shard whose pairs have all met */
    int64_t *tau;    /* [pairs] the first step t > L of X after which X_t = Y_(t-L); -1: not yet */
    int64_t *unmet;  /* [shards] pairs that have not met */
    int32_t *before; /* [pairs x V] states of X before the step that Y makes next */
    double *noise;   /* [shards x (S + 2)] scratch of both chains of a pair */
} sali_coupling;

/* Open pairs at their starts, to be closed also after a failure. `options` have as many chains as
 * there are pairs, and no warm-up; `seed` stands for theirs. `apart`: each pair has a random order
 * of its own, where a sampler draws one for all its chains. tau [pairs] must outlive the pairs.
 * Returns: as sali_run_endless. */
sal_status sali_coupling_open(sal_model *model, const sal_run_options *options, uint64_t seed,
                              bool apart, int64_t lag, int64_t *tau, sali_coupling *coupling,
                              sal_error *err);

/* Make n steps of X, and of Y from step L on, but none of pairs that have met together with their
 * whole shard. Returns: SAL_ERR_MODEL. */
sal_status sali_coupling_advance(sali_coupling *coupling, int64_t n, sal_error *err);

/* One step of both chains of the pairs of shard k. */
void sali_coupling_step(const sali_coupling *coupling, int64_t k);

/* Whether chain c of both runs' shard k is in the same state: codes, and what the sampler keeps of
 * a chain beyond them. */
bool sali_coupling_is_met(const sali_coupling *coupling, int64_t k, int64_t c);

/* Number of pairs that have not met. */
int64_t sali_coupling_unmet(const sali_coupling *coupling);

void sali_coupling_close(sali_coupling *coupling);

#endif
