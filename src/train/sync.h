/* SPDX-License-Identifier: MIT */
/* A training on several ranks. All have the data, the parameters and the buffer, and go through the
 * same iterations; each moves the chains of its own shards of the batch, and gathers its part of
 * the gradient. Parts are added in a tree of shards that does not depend on the ranks. Files and
 * callbacks are rank 0's. On one rank nothing here sends anything. All functions are collective.
 *
 * What fails to be sent is noted in the trainer and told by the next sali_train_sync_status. */
#ifndef SALI_TRAIN_SYNC_H
#define SALI_TRAIN_SYNC_H

#include "train/trainer.h"

/* Whose the shards are, and room for what is sent, once there are shards. SAL_ERR_MEMORY,
 * SAL_ERR_IO. */
sal_status sali_train_sync_create(sal_trainer *trainer, sal_error *err);

/* Refuses a rank with another model, data or options than rank 0's. SAL_ERR_ARGUMENT. */
sal_status sali_train_sync_compare(sal_trainer *trainer, sal_error *err);

/* The first status of all ranks that is not SAL_OK, with its message. */
sal_status sali_train_sync_status(sal_trainer *trainer, sal_status status, sal_error *err);

/* Call work(trainer, k) for this rank's shards, on the trainer's threads. */
void sali_train_shards(sal_trainer *trainer, sali_pace *pace,
                       void (*work)(void *context, int64_t shard), void *context);

/* The states, sums and faults of all chains, after they were moved. */
void sali_train_sync_chains(sal_trainer *trainer);

/* Of all shards: sums of f, f of the samples, means of centring. */
void sali_train_sync_sums(sal_trainer *trainer);

/* Numbers of n items that shards divide among them, [n x each]. */
void sali_train_sync_rows(sal_trainer *trainer, int64_t n, int64_t each, double *numbers);

/* The buffer's rows of the batch after visits of the shards: codes and life. */
void sali_train_sync_buffer(sal_trainer *trainer);

/* Sum what this rank's workspaces of n shards gathered, and the others', into flat
 * [parameters_size]. */
void sali_train_reduce(sal_trainer *trainer, sali_workspace *const *workspaces, double *flat);

/* Rank 0's answer of its callbacks. */
void sali_train_sync_answer(sal_trainer *trainer, bool *stopped, bool *lost);

#endif
