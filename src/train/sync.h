/* SPDX-License-Identifier: MIT */
/* A training on several ranks. All have the data, the parameters and the buffer, and go through the
 * same iterations; each moves the chains of its own shards of the batch, and gathers its part of
 * the gradient. Parts are added in a tree of shards that does not depend on the ranks. Only rank 0
 * writes files and calls the caller's functions. On one rank nothing here sends anything. All
 * functions are collective.
 *
 * A failure to send is stored in the trainer and returned by the next sali_train_sync_status. */
#ifndef SALI_TRAIN_SYNC_H
#define SALI_TRAIN_SYNC_H

#include "train/trainer.h"

/* Decide which rank owns each shard, and make room for what is sent, once the number of shards is
 * known. SAL_ERR_MEMORY, SAL_ERR_IO. */
sal_status sali_train_sync_create(sal_trainer *trainer, sal_error *err);

/* Refuses a rank with another model, data or options than rank 0's. SAL_ERR_ARGUMENT. */
sal_status sali_train_sync_compare(sal_trainer *trainer, sal_error *err);

/* The first status of all ranks that is not SAL_OK, with its message. */
sal_status sali_train_sync_status(sal_trainer *trainer, sal_status status, sal_error *err);

/* Call work(trainer, k) for this rank's shards, on the trainer's threads. */
void sali_train_shards(sal_trainer *trainer, sali_pace *pace,
                       void (*work)(void *context, int64_t shard), void *context);

/* Send the states, sums and faults of all chains to all ranks, after chains were moved. */
void sali_train_sync_chains(sal_trainer *trainer);

/* Send sums of f, f of the samples and means of centring of all shards to all ranks. */
void sali_train_sync_sums(sal_trainer *trainer);

/* Send numbers of n items, which shards divide among them, [n x each], to all ranks. */
void sali_train_sync_rows(sal_trainer *trainer, int64_t n, int64_t each, double *numbers);

/* Send the buffer's rows of the batch (codes and life) to all ranks, after visits of the shards. */
void sali_train_sync_buffer(sal_trainer *trainer);

/* Sum what the workspaces of all shards gathered, over all ranks, into flat [parameters_size]. */
void sali_train_reduce(sal_trainer *trainer, sali_workspace *const *workspaces, double *flat);

/* Send rank 0's answer of its callbacks to all ranks. */
void sali_train_sync_answer(sal_trainer *trainer, bool *stopped, bool *lost);

#endif
