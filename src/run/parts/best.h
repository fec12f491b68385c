/* SPDX-License-Identifier: MIT */
/* The best states that chains met. */
#ifndef SALI_BEST_H
#define SALI_BEST_H

#include "run/part.h"

/* The best state so far of each chain of a shard. */
typedef struct sali_best {
    double *worth;  /* [chains] -inf: none yet */
    int32_t *codes; /* [chains x V]; NULL where only numbers are known (sali_run_shard) */
} sali_best;

/* Room for all shards, as an array [n_shards] of the run's memory; NULL: out of memory. */
sali_best *sali_best_create(sal_run *run);

/* List the items of a shard's best states: `name` for their worth, and `name_codes` for the
 * states. */
int64_t sali_best_items(const sal_run *run, const sali_run_shard *shard, const sali_best *best,
                        const char *name, const char *name_codes, sali_state_item *items);

/* The shard with the best state of all chains. *chain receives the chain in the shard (the first
 * one among equals), *worth what the state is worth. -1 and -inf if there is no state, or best is
 * NULL. */
int64_t sali_best_of_all(const sal_run *run, const sali_best *best, int64_t *chain, double *worth);

/* The best states of a run [n_shards], by f; NULL: the run does not record them. */
const sali_best *sali_run_best(const sal_run *run);

/* The mean over the chains of the largest f that each met. *variance receives the variance of this
 * mean, from the spread of the chains (0 for a single chain). */
double sali_best_mean(const sal_run *run, double *variance);

/* Bring the best state of all [V of model] to all ranks; *known: there is one. Collective. Returns:
 * IO. */
sal_status sali_best_share(sal_run *run, int32_t *codes, bool *known, sal_error *err);

#endif
