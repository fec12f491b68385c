/* SPDX-License-Identifier: MIT */
#include "core/shard.h"

#include <omp.h>
#include <stdbool.h>

#include "core/vector/blas.h"

int64_t sali_shard_count(int64_t chains)
{
    if (chains < 2) {
        return chains;
    }
    int64_t shards = (chains + SALI_SHARD_TARGET - 1) / SALI_SHARD_TARGET;
    return shards + shards % 2;
}

int64_t sali_shard_first(int64_t chains, int64_t shards, int64_t k)
{
    int64_t size = chains / shards, larger = chains % shards;
    return k * size + (k < larger ? k : larger);
}

int sali_shard_threads(int threads)
{
    return threads > 0 ? threads : omp_get_max_threads();
}

/* Seconds of work below which waking a thread up costs more than it saves. */
#define WORTH_SHARING 1e-4
/* The slower of the two ways is tried again after this many calls, then after twice as many, and so
 * on. */
#define RETRY 64

static bool is_alone(const sali_pace *p, double amount)
{
    if (p->alone == 0 || p->alone * amount < WORTH_SHARING) {
        return true;
    }
    const bool again = p->calls >= RETRY && (p->calls & (p->calls - 1)) == 0;
    return p->shared > 0 && (p->shared > p->alone) != again;
}

void sali_shard_run_paced(sali_pace *pace, double amount, int64_t shards, int threads,
                          void (*work)(void *context, int64_t shard), void *context)
{
    const bool alone = is_alone(pace, amount);
    double *seconds = alone ? &pace->alone : &pace->shared, start = omp_get_wtime();
    sali_shard_run(shards, alone ? 1 : threads, work, context);
    const double now = (omp_get_wtime() - start) / amount;
    *seconds = *seconds > 0 ? (*seconds + now) / 2 : now;
    pace->calls++;
}

void sali_shard_run(int64_t shards, int threads, void (*work)(void *context, int64_t shard),
                    void *context)
{
    sali_blas_single_thread_begin();
    int team = sali_shard_threads(threads);
    team = team > shards ? (int)shards : team;
    if (team <= 1) {
        for (int64_t k = 0; k < shards; k++) {
            work(context, k);
        }
    } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
        for (int64_t k = 0; k < shards; k++) {
            work(context, k);
        }
    }
    sali_blas_single_thread_end();
}
