/* SPDX-License-Identifier: MIT */
#include "parallel/ranks.h"

#include <saltus/program.h>
#include "core/error.h"

sal_status sali_ranks_create(sali_ranks *ranks, sal_comm *comm, int64_t n_shards,
                             sali_memory *memory, sal_error *err)
{
    *ranks = (sali_ranks){ .comm = comm,
                           .n_shards = n_shards,
                           .bytes = SALI_TAKE(memory, int64_t, sal_comm_size(comm)),
                           .counts = SALI_TAKE(memory, int64_t, sal_comm_size(comm)) };
    ranks->first = sali_ranks_first(ranks, sal_comm_rank(comm));
    ranks->end = sali_ranks_first(ranks, sal_comm_rank(comm) + 1);
    return sali_memory_status(memory, err);
}

int64_t sali_ranks_first(const sali_ranks *ranks, int64_t rank)
{
    return sali_shard_first(ranks->n_shards, sal_comm_size(ranks->comm), rank);
}

/* Maps the thread pool's shards 0, 1, .. to this rank's shards `first`, first + 1, .. */
typedef struct own_shards {
    int64_t first;
    void (*work)(void *context, int64_t shard);
    void *context;
} own_shards;

static void call_own(void *context, int64_t k)
{
    const own_shards *own = context;
    own->work(own->context, own->first + k);
}

void sali_ranks_run(const sali_ranks *ranks, sali_pace *pace, double amount, int threads,
                    void (*work)(void *context, int64_t shard), void *context)
{
    own_shards own = { ranks->first, work, context };
    const int64_t n = ranks->end - ranks->first;
    if (pace) {
        sali_shard_run_paced(pace, amount, n, threads, call_own, &own);
    } else {
        sal_threads_run(n, threads, call_own, &own);
    }
}

int64_t sali_ranks_owner(const sali_ranks *ranks, int64_t shard)
{
    int64_t low = 0, high = sal_comm_size(ranks->comm) - 1;
    while (low < high) { /* the last rank whose first shard is not beyond */
        const int64_t middle = (low + high + 1) / 2;
        if (sali_ranks_first(ranks, middle) <= shard) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

static void list_bytes(const sali_ranks *ranks, const int64_t *begin, size_t size)
{
    for (int64_t r = 0; r < sal_comm_size(ranks->comm); r++) {
        ranks->bytes[r] =
            (begin[sali_ranks_first(ranks, r + 1)] - begin[sali_ranks_first(ranks, r)]) *
            (int64_t)size;
    }
}

sal_status sali_ranks_gather(const sali_ranks *ranks, void *all, const int64_t *begin, size_t size,
                             sal_error *err)
{
    list_bytes(ranks, begin, size);
    return sali_comm_gather(ranks->comm, all, ranks->bytes, err);
}

sal_status sali_ranks_collect_part(const sali_ranks *ranks, const void *part, void *all,
                                   const int64_t *begin, size_t size, sal_error *err)
{
    list_bytes(ranks, begin, size);
    return sali_comm_collect(ranks->comm, part, all, ranks->bytes, err);
}
