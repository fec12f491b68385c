/* SPDX-License-Identifier: MIT */
/* The counts of swaps and arrivals in sweeps over the levels of a training's trajectory. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "run/part.h"
#include "run/trajectory/trajectory.h"

typedef struct level_counts {
    sal_run *run;
    double *counts; /* at the end [n_shards x (levels + 2)]: sali_trajectory_counts; NULL: passes
                       down a denoising chain count nothing */
} level_counts;

static bool is_wanted(const sal_run *run)
{
    return run->inner != NULL;
}

static void count_shard(void *context, int64_t k, double *counts)
{
    sali_trajectory_counts(((sal_run *)context)->shard_selves[k], counts);
}

/* Gather the counts of all shards, at all ranks. */
static sal_status finish(void *self, sal_error *err)
{
    level_counts *s = self;
    sal_run *run = s->run;
    const sali_warmup shown = { .n_shards = run->n_shards, .ranks = &run->ranks };
    const int64_t n = run->levels + 2;
    double *counts = NULL;
    if (run->sampler != &sali_trajectory_record) {
        return SAL_OK;
    }
    sal_status status = sali_warmup_gather(&shown, n, count_shard, run, &counts, err);
    if (status == SAL_OK) {
        s->counts = sali_memory_copy(&run->memory, counts, run->n_shards * n, sizeof *counts);
        status = sali_memory_status(&run->memory, err);
    }
    sali_free(counts);
    return status;
}

/* Report the number of levels, the least rate of swaps, and the arrivals per chain. */
static sal_status summarise(const void *self, sal_run_summary *summary, sal_error *err)
{
    const level_counts *s = self;
    const sal_run *run = s->run;
    summary->levels = run->levels;
    if (!s->counts) {
        return SAL_OK;
    }
    double *rate = SALI_NEW_ARRAY(double, run->levels);
    if (!rate) {
        return sali_fail_memory(err);
    }
    sali_trajectory_rates(run->n_shards, run->levels, s->counts, (double)run->options.chains, rate,
                          &summary->arrivals);
    summary->level_rate_min = 1;
    for (int64_t k = 0; k < run->levels; k++) {
        summary->level_rate_min = fmin(summary->level_rate_min, rate[k]);
    }
    sali_free(rate);
    return SAL_OK;
}

const sali_run_part sali_part_levels = {
    .name = "levels",
    .wanted = is_wanted,
    .size = sizeof(level_counts),
    .finish = finish,
    .summarise = summarise,
};
