/* SPDX-License-Identifier: MIT */
#include "run/parts/best.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "run/sync.h"
#include "samplers/start.h"

/* ---- best states of shards */

sali_best *sali_best_create(sal_run *run)
{
    sali_best *best = SALI_TAKE(&run->memory, sali_best, run->n_shards);
    for (int64_t k = 0; best && k < run->n_shards; k++) {
        const int64_t n = run->shards[k].chains->n;
        best[k].worth = SALI_TAKE(&run->memory, double, n);
        if (sali_ranks_own(&run->ranks, k) || run->rank == 0) {
            best[k].codes = SALI_TAKE(&run->memory, int32_t, n * run->model->space->n_variables);
        }
        for (int64_t c = 0; best[k].worth && c < n; c++) {
            best[k].worth[c] = -INFINITY;
            if (run->model->space->fixed && best[k].codes) { /* until there is one: any state */
                const sali_stream stream = { .purpose = SALI_RNG_INIT };
                sali_random_codes(run->model->space, &stream,
                                  best[k].codes + c * run->model->space->n_variables);
            }
        }
    }
    return run->memory.refused ? NULL : best;
}

int64_t sali_best_items(const sal_run *run, const sali_run_shard *shard, const sali_best *best,
                        const char *name, const char *name_codes, sali_state_item *items)
{
    const int64_t n = shard->chains->n;
    const sali_state_item worth = sali_state_f64(name, n, best->worth);
    items[0] = sali_state_within(worth, -INFINITY, DBL_MAX);
    items[0].kept = SALI_STATE_KEPT | SALI_STATE_SENT;
    items[1] = sali_state_codes(name_codes, run->model->space, n, best->codes);
    items[1].kept = SALI_STATE_KEPT | SALI_STATE_LAST;
    return 2;
}

int64_t sali_best_of_all(const sal_run *run, const sali_best *best, int64_t *chain, double *worth)
{
    int64_t found = -1;
    *worth = -INFINITY;
    for (int64_t k = 0; best && k < run->n_shards; k++) {
        for (int64_t c = 0; c < run->shards[k].chains->n; c++) {
            if (best[k].worth[c] > *worth) {
                *worth = best[k].worth[c];
                found = k;
                *chain = c;
            }
        }
    }
    return found;
}

/* ---- of a run, by f */

typedef struct best_states {
    sal_run *run;
    sali_best *of; /* [n_shards] */
} best_states;

static bool is_wanted(const sal_run *run)
{
    return run->options.annealing.on || run->options.record.best;
}

static sal_status open(void *self, sal_error *err)
{
    best_states *s = self;
    s->of = sali_best_create(s->run);
    return s->of ? SAL_OK : sali_fail_memory(err);
}

/* Keep the states of the shard's chains that have the largest f so far, after warm-up. */
static bool after(void *self, const sali_window *w, sali_run_shard *shard)
{
    const best_states *s = self;
    const sali_best *best = &s->of[shard->k];
    const sali_chains *chains = shard->chains;
    const int64_t V = chains->space->n_variables;
    for (int64_t c = 0; !w->warmup && c < chains->n; c++) {
        if (chains->f[c] > best->worth[c]) {
            best->worth[c] = chains->f[c] + 0.0; /* 0 instead of -0, which would be printed */
            memcpy(best->codes + c * V, chains->codes + c * V, (size_t)V * sizeof *chains->codes);
        }
    }
    return false;
}

static int64_t items(void *self, sali_run_shard *shard, sali_state_item *items)
{
    const best_states *s = self;
    return shard ? sali_best_items(s->run, shard, &s->of[shard->k], "best", "best_codes", items)
                 : 0;
}

static sal_status summarise(const void *self, sal_run_summary *summary, sal_error *err)
{
    const best_states *s = self;
    (void)err;
    sal_run_best(s->run, NULL, &summary->best_log_prob, NULL);
    return SAL_OK;
}

const sali_run_part sali_part_best = {
    .name = "best",
    .each_step = true,
    .wanted = is_wanted,
    .size = sizeof(best_states),
    .open = open,
    .after = after,
    .items = items,
    .summarise = summarise,
};

const sali_best *sali_run_best(const sal_run *run)
{
    const best_states *s = run->selves[SALI_PART_best];
    return s ? s->of : NULL;
}

double sali_best_mean(const sal_run *run, double *variance)
{
    const sali_best *best = sali_run_best(run);
    const double n = (double)run->options.chains;
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < run->n_shards; k++) {
        for (int64_t c = 0; c < run->shards[k].chains->n; c++) {
            sum += best[k].worth[c];
        }
    }
    for (int64_t k = 0; k < run->n_shards; k++) {
        for (int64_t c = 0; c < run->shards[k].chains->n; c++) {
            const double d = best[k].worth[c] - sum / n;
            squares += d * d;
        }
    }
    *variance = n > 1 ? squares / (n - 1) / n : 0;
    return sum / n;
}

sal_status sali_best_share(sal_run *run, int32_t *codes, bool *known, sal_error *err)
{
    const int64_t V = run->model->space->n_variables;
    const sali_best *best = sali_run_best(run);
    double worth;
    int64_t chain;
    const int64_t k = sali_best_of_all(run, best, &chain, &worth);
    *known = k >= 0;
    if (k < 0) {
        return SAL_OK;
    }
    if (sali_ranks_own(&run->ranks, k)) {
        memcpy(codes, best[k].codes + chain * V, (size_t)V * sizeof *codes);
    }
    return sali_comm_broadcast(run->ranks.comm, sali_ranks_owner(&run->ranks, k), codes,
                               V * (int64_t)sizeof *codes, err);
}

sal_status sal_run_best(const sal_run *run, int32_t *codes, double *log_prob, sal_error *err)
{
    if (sali_run_check_results(run, "sal_run_best", err) != SAL_OK) {
        return SAL_ERR_ARGUMENT;
    }
    const sali_best *best = sali_run_best(run);
    double largest;
    int64_t c;
    const int64_t k = sali_best_of_all(run, best, &c, &largest);
    if (k < 0) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT,
            "the run noted no best state: it needs annealing or record.best, and a step "
            "after warm-up");
    }
    if (codes) {
        sali_run_expand(run, 1, best[k].codes + c * run->model->space->n_variables, codes);
    }
    if (log_prob) {
        *log_prob = largest;
    }
    return SAL_OK;
}
