/* SPDX-License-Identifier: MIT */
#include "run/coupling/coupling.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/fingerprint.h"

/* ---- opening */

/* Give the chains of a run the random numbers of the pairs, `ahead` steps after the start, and
 * refresh them. What the sampler drew for a chain at its start stays. */
static void share_numbers(sal_run *run, uint64_t seed, bool apart, int64_t ahead)
{
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_chains *chains = run->shards[k].chains;
        chains->seed = apart ? sali_hash_whole(seed, k) : seed;
        for (int64_t c = 0; c < chains->n; c++) {
            chains->step[c] += (uint64_t)ahead;
        }
    }
    sali_run_refresh(run);
}

/* The rows of shard k in coupling->before. */
static int32_t *states_before(const sali_coupling *coupling, int64_t k)
{
    const sali_run_shard *x = &coupling->x->shards[k];
    return coupling->before + x->first * x->chains->space->n_variables;
}

/* Give each chain the codes of its partner before a step. X steps first, so the codes of Y itself
 * serve X. */
static void set_partners(const sali_coupling *coupling)
{
    for (int64_t k = 0; k < coupling->x->n_shards; k++) {
        sali_chains *x = coupling->x->shards[k].chains, *y = coupling->y->shards[k].chains;
        x->partner = y->codes;
        x->noise = y->noise = coupling->noise + k * (x->space->slots + 2);
        y->partner = states_before(coupling, k);
        y->second = true;
    }
}

/* Write the number of unmet pairs of each shard at the start. */
static void count_pairs(sali_coupling *coupling)
{
    for (int64_t k = 0; k < coupling->x->n_shards; k++) {
        coupling->unmet[k] = coupling->x->shards[k].chains->n;
    }
}

sal_status sali_coupling_open(sal_model *model, const sal_run_options *options, uint64_t seed,
                              bool apart, int64_t lag, int64_t *tau, sali_coupling *coupling,
                              sal_error *err)
{
    sal_run_options o = *options;
    *coupling = (sali_coupling){ .lag = lag, .tau = tau };
    o.seed = sali_hash_whole(seed, 0);
    sal_status status = sali_run_endless(model, &o, apart, 0, &coupling->x, err);
    o.seed = sali_hash_whole(seed, 1);
    status = status ? status : sali_run_endless(model, &o, apart, 0, &coupling->y, err);
    if (status != SAL_OK) {
        return status;
    }
    coupling->unmet = SALI_NEW_ARRAY(int64_t, coupling->x->n_shards);
    const sal_space *space = coupling->x->model->space;
    const int64_t numbers = coupling->x->n_shards * (space->slots + 2);
    coupling->before = SALI_NEW_ARRAY(int32_t, o.chains * space->n_variables);
    coupling->noise = SALI_NEW_ARRAY(double, numbers);
    if (!coupling->unmet || !coupling->before || !coupling->noise) {
        return sali_fail_memory(err);
    }
    set_partners(coupling);
    share_numbers(coupling->x, coupling->x->stream_seed, apart, 0);
    share_numbers(coupling->y, coupling->x->stream_seed, apart, lag);
    count_pairs(coupling);
    memset(tau, -1, (size_t)o.chains * sizeof *tau);
    return SAL_OK;
}

void sali_coupling_close(sali_coupling *coupling)
{
    sal_run_destroy(coupling->x);
    sal_run_destroy(coupling->y);
    sali_free(coupling->unmet);
    sali_free(coupling->before);
    sali_free(coupling->noise);
    *coupling = (sali_coupling){ 0 };
}

/* ---- steps */

/* Whether row c of the n rows of two items is the same. */
static bool same_row(const sali_state_item *a, const sali_state_item *b, int64_t n, int64_t c)
{
    const size_t bytes = (size_t)(a->count / n) * sali_state_bytes(a->type);
    const size_t at = (size_t)c * bytes;
    return memcmp((const char *)a->data + at, (const char *)b->data + at, bytes) == 0;
}

bool sali_coupling_is_met(const sali_coupling *coupling, int64_t k, int64_t c)
{
    const sali_run_shard *x = &coupling->x->shards[k], *y = &coupling->y->shards[k];
    const int64_t V = x->chains->space->n_variables;
    sali_state_item of_x[SALI_MOST_STATE], of_y[SALI_MOST_STATE];
    if (memcmp(x->chains->codes + c * V, y->chains->codes + c * V,
               (size_t)V * sizeof *x->chains->codes) != 0) {
        return false;
    }
    const sali_sampler *sampler = coupling->x->sampler;
    const int64_t items = sali_sampler_items(sampler, NULL, x->self, SALI_STATE_KEPT, of_x);
    sali_sampler_items(sampler, NULL, y->self, SALI_STATE_KEPT, of_y);
    bool same = true;
    for (int64_t i = 0; i < items; i++) {
        same = same && same_row(&of_x[i], &of_y[i], x->chains->n, c);
    }
    return same;
}

void sali_coupling_step(const sali_coupling *coupling, int64_t k)
{
    const sali_run_shard *x = &coupling->x->shards[k], *y = &coupling->y->shards[k];
    memcpy(states_before(coupling, k), x->chains->codes,
           (size_t)(x->chains->n * x->chains->space->n_variables) * sizeof *x->chains->codes);
    sali_sampler_steps(coupling->x->sampler, x->self, x->chains, 1);
    sali_sampler_steps(coupling->y->sampler, y->self, y->chains, 1);
}

/* Note which pairs of shard k have met after step t of X. */
static void note_meetings(const sali_coupling *coupling, int64_t k, int64_t t)
{
    int64_t *tau = coupling->tau + coupling->x->shards[k].first;
    for (int64_t c = 0; c < coupling->x->shards[k].chains->n; c++) {
        if (tau[c] < 0 && sali_coupling_is_met(coupling, k, c)) {
            tau[c] = t;
            coupling->unmet[k]--;
        }
    }
}

/* The coupling, and the number of steps that its shards make. */
typedef struct advance_work {
    const sali_coupling *coupling;
    int64_t n;
} advance_work;

static void advance_shard(void *context, int64_t k)
{
    const advance_work *work = context;
    const sali_coupling *c = work->coupling;
    const sali_run_shard *x = &c->x->shards[k];
    const int64_t end = c->steps + work->n, left = c->lag - c->steps;
    const int64_t alone = left < 0 ? 0 : left < work->n ? left : work->n;
    if (alone > 0) {
        sali_sampler_steps(c->x->sampler, x->self, x->chains, alone);
    }
    for (int64_t t = c->steps + alone; t < end && c->unmet[k] > 0; t++) {
        sali_coupling_step(c, k);
        note_meetings(c, k, t + 1);
    }
}

sal_status sali_coupling_advance(sali_coupling *coupling, int64_t n, sal_error *err)
{
    advance_work work = { coupling, n };
    sali_run_shards(coupling->x, advance_shard, &work);
    coupling->steps += n;
    const sal_status status = sali_run_check(coupling->x, err);
    return status ? status : sali_run_check(coupling->y, err);
}

int64_t sali_coupling_unmet(const sali_coupling *coupling)
{
    int64_t unmet = 0;
    for (int64_t k = 0; k < coupling->x->n_shards; k++) {
        unmet += coupling->unmet[k];
    }
    return unmet;
}
