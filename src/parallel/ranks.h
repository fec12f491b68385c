/* SPDX-License-Identifier: MIT */
/* Shards over ranks: each rank owns a range of consecutive shards. Shards do not depend on the
 * number of ranks, and gathered arrays are in the order of the shards, so results do not depend on
 * the number of ranks either. */
#ifndef SALI_RANKS_H
#define SALI_RANKS_H

#include "core/memory.h"
#include "core/threads/shard.h"
#include "parallel/comm.h"

typedef struct sali_ranks {
    sal_comm *comm; /* NULL: all shards are here */
    int64_t n_shards;
    int64_t first, end;      /* the shards of this rank: first .. end - 1; there may be none */
    int64_t *bytes, *counts; /* [ranks] scratch */
} sali_ranks;

/* Distribute n_shards shards over the ranks of `comm`; arrays come from `memory`.
 * SAL_ERR_MEMORY. */
sal_status sali_ranks_create(sali_ranks *ranks, sal_comm *comm, int64_t n_shards,
                             sali_memory *memory, sal_error *err);

static inline bool sali_ranks_several(const sali_ranks *ranks)
{
    return sal_comm_size(ranks->comm) > 1;
}

static inline bool sali_ranks_own(const sali_ranks *ranks, int64_t shard)
{
    return ranks->first <= shard && shard < ranks->end;
}

/* The first shard of a rank. */
int64_t sali_ranks_first(const sali_ranks *ranks, int64_t rank);

/* The rank that owns a shard. */
int64_t sali_ranks_owner(const sali_ranks *ranks, int64_t shard);

/* Call work(context, k) for this rank's shards k on up to `threads` threads; with a pace, as
 * sali_shard_run_paced, where `amount` is in the unit of the pace. */
void sali_ranks_run(const sali_ranks *ranks, sali_pace *pace, double amount, int threads,
                    void (*work)(void *context, int64_t shard), void *context);

/* Complete an array of all shards at every rank: elements begin[k] .. begin[k + 1] - 1, of `size`
 * bytes each, belong to shard k. Each rank has filled the parts of its own shards; `begin` is the
 * same at all ranks. Returns: SAL_ERR_IO. */
sal_status sali_ranks_gather(const sali_ranks *ranks, void *all, const int64_t *begin, size_t size,
                             sal_error *err);

/* Complete such an array at rank 0 only, where rank 0's own part is in its place. Other ranks pass
 * theirs as `part`, and may pass NULL as `all`. Returns: SAL_ERR_IO. */
sal_status sali_ranks_collect_part(const sali_ranks *ranks, const void *part, void *all,
                                   const int64_t *begin, size_t size, sal_error *err);

#endif
