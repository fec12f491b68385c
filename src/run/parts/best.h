/* SPDX-License-Identifier: MIT */
/* The best states that chains met, and the best ones decoded. */
#ifndef SALI_BEST_H
#define SALI_BEST_H

#include "run/part.h"

/* Of the chains of a shard, the best state so far. */
typedef struct sali_best {
    double *worth;  /* [chains] -inf: none yet */
    int32_t *codes; /* [chains x V]; NULL where only numbers are known (sali_run_shard) */
} sali_best;

/* Room for all shards, as an array [n_shards] of the run's memory; NULL: out of memory. */
sali_best *sali_best_create(sal_run *run);

/* The items of a shard's, `name` for what they are worth and `name_codes` for the states. */
int64_t sali_best_items(const sal_run *run, const sali_run_shard *shard, const sali_best *best,
                        const char *name, const char *name_codes, sali_state_item *items);

/* The number of the shard with the best of all chains' states, *chain of its chains, the first one
 * among equals, and what it is worth: -1 and -inf if there is none, or best is NULL. */
int64_t sali_best_of_all(const sal_run *run, const sali_best *best, int64_t *chain, double *worth);

/* [n_shards] of a run, by f; NULL: it does not note them. And decoded states, by the model's
 * statistic (decode.c). */
const sali_best *sali_run_best(const sal_run *run);
const sali_best *sali_run_decoded(const sal_run *run);

/* What runs of a search are compared by: the worth of the best decoded state, or of the best state
 * where the model has no rule for decoding; -inf: there is none. The same at all ranks. */
double sali_best_worth(const sal_run *run);

/* The mean over the chains of the largest f that each met, and the variance of that mean by their
 * spread (0 of a single chain). */
double sali_best_mean(const sal_run *run, double *variance);

/* The best state of all [V of model], to all ranks; *known: there is one. Collective. Returns: IO.
 */
sal_status sali_best_share(sal_run *run, int32_t *codes, bool *known, sal_error *err);

#endif
