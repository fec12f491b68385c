/* SPDX-License-Identifier: MIT */
/* A run on several ranks. Each advances its own shards; between windows all make the same
 * decisions, from what they send each other here. Each rank also has the shards of other ranks,
 * with only the counters and sums of their chains. Draws go to rank 0 window by window, where the
 * caller's functions are called; records go to rank 0 at the end. On one rank nothing here does
 * anything. All functions are collective. */
#ifndef SALI_SYNC_H
#define SALI_SYNC_H

#include "run/part.h"

/* Called first. All ranks learn which functions rank 0 calls. SAL_ERR_IO. */
sal_status sali_sync_begin(sal_run *run, sal_error *err);

/* Called once the options are stored, and nothing else is. Refuses a rank of another version, or
 * with other options or another model than rank 0's. SAL_ERR_ARGUMENT. */
sal_status sali_sync_compare(const sal_run *run, sal_error *err);

/* Make room for what is sent of each shard, once the parts are open. SAL_ERR_MEMORY. */
sal_status sali_sync_create(sal_run *run, sal_error *err);

/* The status, with its message, of the first rank whose status is not SAL_OK. */
sal_status sali_sync_status(const sal_run *run, sal_status status, sal_error *err);

/* The same; if all is well, also send the items of all shards that are SENT (core/state.h) to all
 * ranks. */
sal_status sali_sync_window(sal_run *run, sal_status status, sal_error *err);

/* Send f of the draws that were made since number `before`, in log_prob [chains x options.draws],
 * to all ranks. */
sal_status sali_sync_log_probs(sal_run *run, double *log_prob, int64_t before, sal_error *err);

/* Send rank 0's `bytes` of value to all ranks. */
sal_status sali_sync_value(const sal_run *run, void *value, int64_t bytes, sal_error *err);

/* Send rank 0's run->stopped, whether the caller asked to stop, to all ranks. */
sal_status sali_sync_stop(sal_run *run, sal_error *err);

/* *any receives whether it is true at any rank. Returns: SAL_ERR_IO. */
sal_status sali_sync_any(const sal_run *run, bool *any, sal_error *err);

/* Bring draws for the caller, [draws x lists x chains] elements of `bytes`, to rank 0, whose queue
 * has room for all chains. The queues of other ranks have their own chains only. */
sal_status sali_sync_draw_rows(sal_run *run, int64_t draws, int64_t lists, size_t bytes,
                               void *queue, sal_error *err);

/* Bring the parts of n items of the shards that all ranks have in run->state together in rank
 * 0's. */
sal_status sali_sync_state(sal_run *run, int64_t n, const sali_state_item *items, sal_error *err);

/* For an array of all shards, of which `own` elements are at this rank: *first receives where these
 * begin, *total how many there are in all. */
sal_status sali_sync_place(const sal_run *run, int64_t own, int64_t *first, int64_t *total,
                           sal_error *err);

/* Bring records to rank 0: the first `each` elements, of `size` bytes, of rows [chains x stride].
 * Rank 0 has room for all chains; other ranks may have rows from chain row0 on only. NULL `rows`:
 * nothing is sent. */
sal_status sali_sync_rows(sal_run *run, int64_t row0, void *rows, int64_t stride, int64_t each,
                          size_t size, sal_error *err);

/* Called at the end: send the items that are SENT, and bring those that are LAST to rank 0
 * (core/state.h). */
sal_status sali_sync_finish(sal_run *run, sal_error *err);

#endif
