#include "core/shard.h"

#include <omp.h>

#include "core/blas.h"

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
