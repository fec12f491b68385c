/* SPDX-License-Identifier: MIT */
/* The states that chains start from: given ones, or found by a search. */
#include "core/alloc.h"
#include "core/error.h"
#include "run/run.h"
#include "run/sync.h"
#include "samplers/start.h"

/* *codes receives the starting codes of the free variables [chains x replicas x V] from init
 * [chains x V of base], each replica as its chain; NULL without init. The caller frees it. */
static sal_status restrict_init(sal_run *run, const int32_t *init, int32_t **codes, sal_error *err)
{
    int64_t V = run->model->space->n_variables, whole = run->base->space->n_variables;
    *codes = NULL;
    if (!init) {
        return SAL_OK;
    }
    sal_status status = sali_codes_check(run->base->space, run->options.chains, init, err);
    if (status != SAL_OK) {
        return sali_fail_prefix(err, status, "init");
    }
    *codes = SALI_NEW_ARRAY(int32_t, run->options.chains * run->replicas * V);
    if (!*codes) {
        return sali_fail_memory(err);
    }
    for (int64_t c = 0; c < run->options.chains * run->replicas; c++) {
        sali_run_restrict(run, 1, init + c / run->replicas * whole, *codes + c * V);
    }
    return SAL_OK;
}

/* The searches for starting states, by shard. */
typedef struct start_work {
    sal_run *run;
    const int32_t *init;
    const sal_model *guide;
    sali_start_search **searches; /* [n_shards] NULL for shards of other ranks */
    bool *over;                   /* [n_shards] */
} start_work;

static void begin_shard(void *context, int64_t k)
{
    start_work *work = context;
    sali_run_shard *shard = &work->run->shards[k];
    const int64_t first = work->run->slot_begin[k] * work->run->model->space->n_variables;
    shard->status = sali_start_search_create(shard->chains, work->init ? work->init + first : NULL,
                                             work->guide, &work->searches[k], &shard->error);
}

static void step_shard(void *context, int64_t k)
{
    start_work *work = context;
    work->over[k] = sali_start_search_step(work->searches[k]);
}

/* End a shard's search: its chains are at their starting states, unless the run was stopped. */
static void end_shard(void *context, int64_t k)
{
    start_work *work = context;
    sali_run_shard *shard = &work->run->shards[k];
    shard->status = sali_start_search_status(work->searches[k], &shard->error);
    if (shard->status == SAL_OK && work->over[k]) {
        sali_engine(work->run->sampler)->refresh(shard->self, shard->chains);
    }
}

/* Step all shards' searches until all are over or the caller, who is asked between steps, stops the
 * run. */
static sal_status search_starts(start_work *work, sal_error *err)
{
    sal_run *run = work->run;
    bool more = true;
    sali_run_shards(run, begin_shard, work);
    sal_status status = sali_sync_status(run, sali_run_shards_status(run, err), err);
    while (status == SAL_OK && more && !run->stopped) {
        sali_run_shards(run, step_shard, work);
        more = false;
        for (int64_t k = run->ranks.first; k < run->ranks.end; k++) {
            more |= !work->over[k];
        }
        status = sali_sync_any(run, &more, err);
        if (status == SAL_OK && more) {
            status = sali_run_ask(run, 0, err);
        }
    }
    if (status == SAL_OK) {
        sali_run_shards(run, end_shard, work);
        status = sali_run_shards_status(run, err);
    }
    return status;
}

sal_status sali_run_start_chains(sal_run *run, const int32_t *init, sal_error *err)
{
    int32_t *codes = NULL;
    sal_model *guide = NULL;
    start_work work = { .run = run };
    sal_status status = restrict_init(run, init, &codes, err);
    if (status == SAL_OK && run->model->ops->feasibility) {
        status = run->model->ops->feasibility(run->model, &guide, err);
    }
    work.init = codes;
    work.guide = guide;
    work.searches = SALI_NEW_ARRAY(sali_start_search *, run->n_shards);
    work.over = SALI_NEW_ARRAY(bool, run->n_shards);
    if (status == SAL_OK && !(work.searches && work.over)) {
        status = sali_fail_memory(err);
    }
    status = sali_sync_status(run, status, err);
    status = status ? status : search_starts(&work, err);
    for (int64_t k = 0; work.searches && k < run->n_shards; k++) {
        sali_start_search_destroy(work.searches[k]);
    }
    sali_free(work.searches);
    sali_free(work.over);
    sal_model_destroy(guide);
    sali_free(codes);
    status = status ? status : sali_run_check(run, err);
    return sali_sync_status(run, status, err);
}
