/* SPDX-License-Identifier: MIT */
/* Chains run in shards of a fixed size, which depends only on the number of chains: results do not
 * depend on the number of threads. */
#ifndef SALI_SHARD_H
#define SALI_SHARD_H

#include <stdbool.h>
#include <stdint.h>

/* About this many chains make a shard: enough rows for an efficient matrix product. */
#define SALI_SHARD_TARGET 32

/* Number of shards for `chains` chains: an even number of shards of about SALI_SHARD_TARGET chains
 * (two cores stay busy), or 1 for a single chain. */
int64_t sali_shard_count(int64_t chains);

/* First chain of shard `k` of `shards`; shard k holds chains first(k) .. first(k + 1) - 1, sizes
 * differ by at most one. */
int64_t sali_shard_first(int64_t chains, int64_t shards, int64_t k);

/* What was measured of repeated work, to decide whether several threads share the next call.
 * Initialise with zeros. */
typedef struct sali_pace {
    double alone;   /* seconds that a unit of work usually takes one thread */
    double shared;  /* seconds of shared calls since one thread was measured */
    double wait;    /* seconds that one thread has to work alone before sharing is tried (again) */
    double balance; /* seconds that sharing has saved of late, or lost; only so many are counted */
    int64_t calls;
} sali_pace;

/* Whether one thread should do the next call alone: where there is too little to share, or where
 * the machine is busy and threads wait for one another. What sharing loses is bounded by a small
 * share of the time. `amount` is the amount of work of the call. */
bool sali_pace_is_alone(const sali_pace *pace, double amount);

/* Note how long the call took, by one thread or shared. */
void sali_pace_note(sali_pace *pace, bool alone, double amount, double seconds);

/* sal_threads_run (saltus/program.h), but on one thread where sali_pace_is_alone says so. The first
 * call runs on one thread to measure, so it should be a small one. Results do not depend on the
 * choice. Threads: one call at a time for each pace. */
void sali_shard_run_paced(sali_pace *pace, double amount, int64_t shards, int threads,
                          void (*work)(void *context, int64_t shard), void *context);

#endif
