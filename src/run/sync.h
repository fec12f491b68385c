/* SPDX-License-Identifier: MIT */
/* A run on several ranks. Each advances its own shards; between windows all make the same
 * decisions, from what they tell each other here. The shards of other ranks are there, with the
 * numbers of their chains but no more. Draws go to rank 0 window by window, where the caller's
 * functions are called; what was recorded goes there at the end. On one rank nothing here does
 * anything. All functions are collective. */
#ifndef SALI_SYNC_H
#define SALI_SYNC_H

#include "run/part.h"

/* At first: which functions rank 0 calls. SAL_ERR_IO. */
sal_status sali_sync_begin(sal_run *run, sal_error *err);

/* Once the options are noted, and nothing else is: refuses a rank of another version, with other
 * options or another model than rank 0's. SAL_ERR_ARGUMENT. */
sal_status sali_sync_compare(const sal_run *run, sal_error *err);

/* Room for what is told of each shard, once the parts are open. SAL_ERR_MEMORY. */
sal_status sali_sync_create(sal_run *run, sal_error *err);

/* The status of the first rank that has another than SAL_OK, with its message. */
sal_status sali_sync_status(const sal_run *run, sal_status status, sal_error *err);

/* The same; if all is well, the items of all shards that are SENT (core/state.h). */
sal_status sali_sync_window(sal_run *run, sal_status status, sal_error *err);

/* f [chains x options.draws] of the draws that were made since number `before`, to all ranks. */
sal_status sali_sync_log_probs(sal_run *run, double *log_prob, int64_t before, sal_error *err);

/* Rank 0's value. */
sal_status sali_sync_value(const sal_run *run, void *value, int64_t bytes, sal_error *err);

/* Whether the caller asked to stop. */
sal_status sali_sync_stop(sal_run *run, sal_error *err);

/* *any receives whether it is true at any rank. Returns: SAL_ERR_IO. */
sal_status sali_sync_any(const sal_run *run, bool *any, sal_error *err);

/* Draws for the caller, [draws x lists x chains] elements of `bytes`, to rank 0, which has room for
 * all; other ranks have them of their own chains only. */
sal_status sali_sync_draw_rows(sal_run *run, int64_t draws, int64_t lists, size_t bytes,
                               void *queue, sal_error *err);

/* The parts of n items of the shards in run->state, to rank 0's. */
sal_status sali_sync_state(sal_run *run, int64_t n, const sali_state_item *items, sal_error *err);

/* Of an array of all shards, of which `own` elements are here: where these begin, and how many
 * there are in all. */
sal_status sali_sync_place(const sal_run *run, int64_t own, int64_t *first, int64_t *total,
                           sal_error *err);

/* What was recorded, the first `each` elements of `size` bytes of rows [chains x stride], to rank
 * 0, which has room for all; other ranks may have rows from chain row0 on only. NULL rows are none.
 */
sal_status sali_sync_rows(sal_run *run, int64_t row0, void *rows, int64_t stride, int64_t each,
                          size_t size, sal_error *err);

/* At the end: what is SENT, and what is to be at rank 0 at LAST (core/state.h). */
sal_status sali_sync_finish(sal_run *run, sal_error *err);

#endif
