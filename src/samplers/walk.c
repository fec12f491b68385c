#include "samplers/walk.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

/* Steps of walks are numbered from here on: no other step has their random numbers. */
#define FIRST_STEP (UINT64_C(1) << 62)
/* The most steps for each of a window's, where they need evaluations: the windows that may end with
 * a walk are an eighth of warm-up. */
#define MOST_STEPS 8

static const sali_sampler *gibbs(void)
{
    return sali_sampler_find("gibbs");
}

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
    void *shared;   /* of the Gibbs sampler */
    sali_sampler_settings settings;
} walk;

/* The chains that stand still, as chains of their own. */
static void take(const sali_chains *from, sali_chains *still)
{
    int64_t V = from->space->n_variables, i = 0;
    for (int64_t c = 0; c < from->n; c++) {
        if (stands_still(from, c)) {
            memcpy(still->codes + i * V, from->codes + c * V, (size_t)V * sizeof *from->codes);
            still->id[i] = from->id[c];
            still->beta[i++] = from->beta[c];
        }
    }
    sali_chains_embed(still);
}

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

/* Each walk goes on where the one before left off: step t is variable t mod V. */
static void sweep(const walk *w, void *self, sali_chains *still)
{
    const sali_sampler *sampler = gibbs();
    int64_t steps = still->space->n_variables, most = MOST_STEPS * w->window;
    sampler->refresh(self, still);
    if (!sampler->follows(self) && steps > most) {
        steps = most;
    }
    for (int64_t c = 0; c < still->n; c++) {
        int64_t number = w->run->warmup_done / SALI_ADAPT_WINDOW;
        still->step[c] = FIRST_STEP + (uint64_t)(number * steps);
    }
    sali_sampler_steps(sampler, self, still, steps);
}

static sal_status walk_chains(const walk *w, sali_run_shard *shard, sal_error *err)
{
    int64_t n = count_still(shard->chains);
    sali_chains *still = NULL;
    void *self = NULL;
    if (n == 0) {
        return SAL_OK;
    }
    sal_status status = sali_chains_create(w->run->model, n, sali_sampler_wants(gibbs()),
                                           w->run->options.seed, &still, err);
    status =
        status ? status : sali_sampler_open(gibbs(), &w->settings, w->shared, still, &self, err);
    if (status == SAL_OK) {
        take(shard->chains, still);
        sweep(w, self, still);
        put_back(shard->chains, still);
        status = still->bad_chain < 0
                     ? SAL_OK
                     : sali_chains_report(still, gibbs(),
                                          still->id[still->bad_chain] / w->run->ladder.n, err);
    }
    if (self) {
        gibbs()->destroy(self);
    }
    sali_chains_destroy(still);
    return status;
}

static void walk_shard(void *context, int64_t k)
{
    const walk *w = context;
    sali_run_shard *shard = &w->run->shards[k];
    shard->status = walk_chains(w, shard, &shard->error);
}

/* ---- all of them */

static bool is_due(const sal_run *run, int64_t window)
{
    int64_t done = run->warmup_done, warmup = run->options.warmup, still = 0;
    bool early = done > warmup / 8 && done - window < warmup / 4;
    if (run->step_sizes.rule == SAL_STEP_SIZE_USUAL || !early) {
        return false;
    }
    for (int64_t k = 0; k < run->n_shards; k++) {
        still += count_still(run->shards[k].chains);
    }
    return still > 0 && sali_sampler_serves(gibbs(), run->model);
}

sal_status sali_walk(sal_run *run, int64_t window, bool *walked, sal_error *err)
{
    walk w = { .run = run, .window = window };
    const sali_sampler *sampler = NULL;
    if (!is_due(run, window)) {
        return SAL_OK;
    }
    sal_status status = sali_sampler_choose("gibbs", run->model, 0, &sampler, &w.settings, err);
    status = status ? status : sampler->share(run->model, &w.settings, &w.shared, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_shard_run(run->n_shards, run->options.threads, walk_shard, &w);
    sampler->unshare(w.shared);
    status = sali_run_shards_status(run, err);
    *walked = status == SAL_OK;
    return status;
}
