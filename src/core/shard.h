/* SPDX-License-Identifier: MIT */
/* Chains run in shards of a fixed size, which depends only on the number of chains: results do not
 * depend on the number of threads. */
#ifndef SALI_SHARD_H
#define SALI_SHARD_H

#include <stdint.h>

/* About this many chains make a shard: enough rows for an efficient matrix product. */
#define SALI_SHARD_TARGET 32

/* Number of shards for `chains` chains: an even number of shards of about SALI_SHARD_TARGET chains
 * (two cores stay busy), or 1 for a single chain. */
int64_t sali_shard_count(int64_t chains);

/* First chain of shard `k` of `shards`; shard k holds chains first(k) .. first(k + 1) - 1, sizes
 * differ by at most one. */
int64_t sali_shard_first(int64_t chains, int64_t shards, int64_t k);

/* Measured time of repeated work per unit of its amount, by one thread and by all. Initialise with
 * zeros. */
typedef struct sali_pace {
    double alone, shared; /* seconds; 0: not known yet */
    int64_t calls;
} sali_pace;

/* sali_shard_run, but on one thread where that has not been slower: where there is too little to
 * share, or where the machine is busy and threads wait for one another. The first call runs on one
 * thread to measure, so it should be a small one. `amount` is the amount of work of this call.
 * Results do not depend on the choice. Threads: one call at a time for each pace. */
void sali_shard_run_paced(sali_pace *pace, double amount, int64_t shards, int threads,
                          void (*work)(void *context, int64_t shard), void *context);

/* Call work(context, k) for k = 0 .. shards - 1 on up to `threads` threads (0: OpenMP's choice).
 * BLAS calls inside run on one thread. Returns when all are done. */
void sali_shard_run(int64_t shards, int threads, void (*work)(void *context, int64_t shard),
                    void *context);

/* The number of threads that `threads` stands for: itself, or OpenMP's choice for 0
 * (OMP_NUM_THREADS, all processors). */
int sali_shard_threads(int threads);

#endif
