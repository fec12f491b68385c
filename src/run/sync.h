/* SPDX-License-Identifier: MIT */
/* A run on several ranks. Each advances its own shards; between windows all make the same
 * decisions, from what they tell each other here. The shards of other ranks are there, with the
 * numbers of their chains but no more. Draws go to rank 0 window by window, where the caller's
 * functions are called; what was recorded goes there at the end. On one rank nothing here does
 * anything. All functions are collective. */
#ifndef SALI_SYNC_H
#define SALI_SYNC_H

#include "run/run.h"

/* At first: which functions rank 0 calls. SAL_ERR_IO. */
sal_status sali_sync_begin(sal_run *run, sal_error *err);

/* Once the options are noted, and nothing else is: refuses a rank of another version, with other
 * options or another model than rank 0's. SAL_ERR_ARGUMENT. */
sal_status sali_sync_compare(const sal_run *run, sal_error *err);

/* Room for what is told of each shard, once they are there. SAL_ERR_MEMORY. */
sal_status sali_sync_create(sal_run *run, sal_error *err);

/* The status of the first rank that has another than SAL_OK, with its message. */
sal_status sali_sync_status(const sal_run *run, sal_status status, sal_error *err);

/* The same; if all is well, sums, f and swaps of all chains since the last time. */
sal_status sali_sync_window(sal_run *run, sal_status status, sal_error *err);

/* Where heating again looks at all draws: those that were made since `before`. */
sal_status sali_sync_log_probs(sal_run *run, int64_t before, sal_error *err);

/* Rank 0's value. */
sal_status sali_sync_value(const sal_run *run, void *value, int64_t bytes, sal_error *err);

/* Whether the caller asked to stop. */
sal_status sali_sync_stop(sal_run *run, sal_error *err);

/* *any receives whether it is true at any rank. Returns: SAL_ERR_IO. */
sal_status sali_sync_any(const sal_run *run, bool *any, sal_error *err);

/* The queue's draws up to number `made`, to rank 0. */
sal_status sali_sync_draws(sal_run *run, int64_t made, sal_error *err);

/* The parts of n items of the shards in run->state, to rank 0's. */
sal_status sali_sync_state(sal_run *run, int64_t n, const sali_state_item *items, sal_error *err);

/* Of an array of all shards, of which `own` elements are here: where these begin, and how many
 * there are in all. */
sal_status sali_sync_place(const sal_run *run, int64_t own, int64_t *first, int64_t *total,
                           sal_error *err);

/* The best state of all [V], by sali_sync_best; *known: there is one. */
sal_status sali_sync_best_codes(sal_run *run, int32_t *codes, bool *known, sal_error *err);

/* f of the best states, and what decoded ones are worth, to all ranks. */
sal_status sali_sync_best(sal_run *run, sal_error *err);

/* At the end: what was recorded, the last states, the best ones. */
sal_status sali_sync_finish(sal_run *run, sal_error *err);

#endif
