/* SPDX-License-Identifier: MIT */
/* Move chains that stand still towards the typical set by Gibbs sweeps, early in a warm-up that
 * adapts step sizes. Where f is steep, or its slopes differ much from what single changes do, every
 * step size that moves a random start is rejected; step sizes would then shrink to suit a place
 * that draws never come from.
 *
 * When more than an eighth of warm-up is over, and the window began before a quarter was, each
 * chain that has not moved in the window makes a Gibbs sweep at its temperature. If a Gibbs step
 * needs evaluations, a sweep makes at most 8 steps for each step of the window, and all sweeps
 * together about as many as warm-up has; later ones continue with other variables. */
#include <string.h>

#include "core/error.h"
#include "run/part.h"
#include "run/sync.h"
#include "samplers/settle.h"

/* The most Gibbs steps for each step of a window, if they need evaluations. The windows that may
 * end with a sweep are an eighth of warm-up. */
#define MOST_STEPS 8

static bool stands_still(const sali_chains *chains, int64_t c)
{
    return chains->jump_sum[c] == 0;
}

static int64_t count_still(const sali_chains *chains)
{
    int64_t n = 0;
    for (int64_t c = 0; c < chains->n; c++) {
        n += stands_still(chains, c);
    }
    return n;
}

/* ---- one shard */

typedef struct walk {
    sal_run *run;
    int64_t window; /* steps */
    sali_settling settling;
} walk;

/* Copy the chains of `from` that stand still into the chains `still`. */
static void take_still_chains(const sali_chains *from, sali_chains *still)
{
    int64_t V = from->space->n_variables, i = 0;
    for (int64_t c = 0; c < from->n; c++) {
        if (stands_still(from, c)) {
            memcpy(still->codes + i * V, from->codes + c * V, (size_t)V * sizeof *from->codes);
            still->id[i] = from->id[c];
            still->beta[i++] = from->beta[c];
        }
    }
}

/* Copy the states of `still` back to the chains of `to` that stand still, and embed them. */
static void put_back(sali_chains *to, const sali_chains *still)
{
    int64_t V = to->space->n_variables, i = 0;
    for (int64_t c = 0; c < to->n; c++) {
        if (stands_still(to, c)) {
            memcpy(to->codes + c * V, still->codes + i++ * V, (size_t)V * sizeof *to->codes);
        }
    }
    sali_chains_embed(to);
}

/* Make the Gibbs sweep of those chains of a shard that stand still. */
static sal_status walk_chains(const walk *w, sali_chains *chains, sal_error *err)
{
    int64_t n = count_still(chains);
    sali_chains *still = NULL;
    if (n == 0) {
        return SAL_OK;
    }
    sal_status status = sali_settling_chains(&w->settling, n, w->run->stream_seed, &still, err);
    if (status == SAL_OK) {
        take_still_chains(chains, still);
        status = sali_settle(&w->settling, still, 1, MOST_STEPS * w->window,
                             w->run->warmup_done / SALI_ADAPT_WINDOW, err);
    }
    if (status == SAL_OK && still->bad_chain >= 0) {
        int64_t chain = still->id[still->bad_chain] / w->run->replicas;
        status = sali_chains_report(still, w->run->sampler, chain, err);
    }
    if (status == SAL_OK) {
        put_back(chains, still);
    }
    sali_chains_destroy(still);
    return status;
}

static void walk_shard(void *context, int64_t k)
{
    const walk *w = context;
    sali_run_shard *shard = &w->run->shards[k];
    shard->status = walk_chains(w, shard->chains, &shard->error);
}

/* ---- all of them */

/* Whether a sweep is due after a window of `window` steps: warm-up is early, and some chain of any
 * shard stands still. */
static bool is_due(const sal_run *run, int64_t window)
{
    int64_t done = run->warmup_done, warmup = run->options.warmup, still = 0;
    bool early = done > warmup / 8 && done - window < warmup / 4;
    if (!early) {
        return false;
    }
    for (int64_t k = 0; k < run->n_shards; k++) {
        still += count_still(run->shards[k].chains);
    }
    return still > 0 && sali_settles(run->model);
}

static bool is_wanted(const sal_run *run)
{
    return run->options.step_size_rule != SAL_STEP_SIZE_USUAL;
}

/* Sweep the chains that stand still if that is due; *refresh then becomes true. Collective. */
static sal_status window(void *self, const sali_window *window, bool *refresh, sal_error *err)
{
    sal_run *run = self;
    walk w = { .run = run, .window = window->steps };
    if (!window->warmup || !is_due(run, window->steps)) {
        return SAL_OK;
    }
    sal_status status =
        sali_sync_status(run, sali_settling_open(&w.settling, run->model, err), err);
    if (status != SAL_OK) {
        return status;
    }
    sali_run_shards(run, walk_shard, &w);
    sali_settling_close(&w.settling);
    status = sali_sync_status(run, sali_run_shards_status(run, err), err);
    for (int64_t k = run->ranks.first; status == SAL_OK && k < run->ranks.end; k++) {
        sali_sampler_forget(run->sampler, run->shards[k].self);
    }
    *refresh = true;
    return status;
}

const sali_run_part sali_part_settle_stuck = {
    .name = "settle_stuck",
    .wanted = is_wanted,
    .window = window,
};
