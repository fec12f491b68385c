/* SPDX-License-Identifier: MIT */
/* What the sampler itself adapts in warm-up: a part of every run. */
#include <stdio.h>

#include "core/error.h"
#include "core/saved/tuning.h"
#include "run/part.h"
#include "run/sync.h"

/* Set what the sampler adapts from the tuning that the run was given. */
static sal_status take_tuned(sal_run *run, sal_error *err)
{
    const sal_tuning *tuning = run->options.tuning;
    sali_state_item items[SALI_MOST_STATE];
    int64_t n = sali_sampler_items(run->sampler, run->shared, NULL, SALI_STATE_TUNED, items);
    sal_status status = SAL_OK;
    for (int64_t k = 0; status == SAL_OK && k < n; k++) {
        char name[128];
        snprintf(name, sizeof name, SALI_TUNED_OWN "%s", items[k].name);
        items[k].name = name;
        status = sali_tuning_take(tuning, &items[k], err);
    }
    if (status == SAL_OK && n > 0 && sali_engine(run->sampler)->changed) {
        status = sali_engine(run->sampler)->changed(run->shared, NULL, err);
        status = status == SAL_ERR_DATA ? sali_fail_prefix(err, status, "the tuning") : status;
    }
    return status;
}

static sal_status create(void *self, sal_error *err)
{
    sal_run *run = self;
    return run->options.tuning ? take_tuned(run, err) : SAL_OK;
}

/* The shards, as the sampler sees them in warm-up. */
static sali_warmup warmup_view(const sal_run *run)
{
    return (sali_warmup){
        .model = run->model,
        .seed = run->stream_seed,
        .n_shards = run->n_shards,
        .ranks = &run->ranks,
        .chains = run->shard_chains,
        .selves = run->shard_selves,
    };
}

/* Let the sampler adapt after a window of warm-up, unless a tuning gave its values. */
static sal_status window(void *self, const sali_window *w, bool *refresh, sal_error *err)
{
    sal_run *run = self;
    const sal_sampler_engine *engine = sali_engine(run->sampler);
    if (!w->warmup || !engine->adapt || run->tuned) {
        return SAL_OK;
    }
    sali_warmup warmup = warmup_view(run);
    warmup.window = w->steps;
    warmup.done = run->warmup_done;
    warmup.total = run->options.warmup;
    bool changed = false;
    const sal_status status = engine->adapt(run->shared, &warmup, &changed, err);
    *refresh |= changed;
    return sali_sync_status(run, status, err);
}

static int64_t items(void *self, sali_run_shard *shard, sali_state_item *items)
{
    const sal_run *run = self;
    if (shard) {
        return shard->self
                   ? sali_sampler_items(run->sampler, NULL, shard->self, SALI_STATE_KEPT, items)
                   : 0;
    }
    return sali_sampler_items(run->sampler, run->shared, NULL, SALI_STATE_KEPT, items);
}

static sal_status restore(void *self, sali_run_state_reader *reader, sal_error *err)
{
    sal_run *run = self;
    const sali_warmup at = warmup_view(run);
    return sali_sampler_restore(run->sampler, run->shared, &at, reader, err);
}

static sal_status summarise(const void *self, sal_run_summary *summary, sal_error *err)
{
    const sal_run *run = self;
    const sal_sampler_engine *engine = sali_engine(run->sampler);
    (void)err;
    summary->missed = engine->missed && run->shared ? engine->missed(run->shared) : NULL;
    return SAL_OK;
}

const sali_run_part sali_part_sampler = {
    .name = "sampler",
    .prefix = "sampler.",
    .create = create,
    .window = window,
    .items = items,
    .restore = restore,
    .summarise = summarise,
};
