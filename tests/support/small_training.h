/* SPDX-License-Identifier: MIT */
/* Training in miniature, without the gradient: two shards of a sampler move chains of a buffer, and
 * adapt all the time. */
#ifndef SMALL_TRAINING_H
#define SMALL_TRAINING_H

#include "core/error.h"
#include "run/parts/step_size.h"
#include "transition.h"

enum { SHARDS = 2, SLOTS = 7, CHAINS = 5 };

/* Chains of each shard: the samplers see two sizes. */
static const int64_t shard_first[SHARDS + 1] = { 0, 2, CHAINS };

typedef struct training {
    const sali_sampler *sampler;
    const sal_model *model;
    void *shared, *selves[SHARDS];
    sali_chains *chains[SHARDS];
    sali_step_sizes step_sizes;
    sali_memory memory; /* of the step sizes */
    int32_t buffer[SLOTS * TINY_MOST_REALS];
    uint64_t life[SLOTS];
    int64_t windows, done;
} training;

static inline training training_open(const sali_sampler *sampler, const sal_model *model,
                                     const sali_sampler_settings *settings)
{
    training t = { .sampler = sampler, .model = model };
    int64_t V = model->space->n_variables;
    sal_error err;
    if (sali_engine(sampler)->share) {
        ck_ok(sali_sampler_share(sampler, model, settings, &t.shared, &err), &err);
    }
    for (int k = 0; k < SHARDS; k++) {
        ck_ok(sali_chains_create(model, shard_first[k + 1] - shard_first[k],
                                 sali_sampler_wants(sampler), 77, &t.chains[k], &err),
              &err);
        ck_ok(sali_sampler_open(sampler, settings, t.shared, t.chains[k], &t.selves[k], &err),
              &err);
    }
    ck_ok(sali_step_sizes_create(&t.step_sizes, &t.memory, model->space, 1, SAL_STEP_SIZE_ADAPT,
                                 settings->step_size, NULL, &err),
          &err);
    for (int64_t slot = 0; slot < SLOTS; slot++) {
        state_codes(model->space, 3 * slot % states_count(model->space), t.buffer + slot * V);
    }
    return t;
}

static inline void training_close(training *t)
{
    for (int k = 0; k < SHARDS; k++) {
        sali_engine(t->sampler)->destroy(t->selves[k]);
        sali_chains_destroy(t->chains[k]);
    }
    if (t->shared) {
        sali_engine(t->sampler)->unshare(t->shared);
    }
    sali_memory_free(&t->memory);
}

static inline sali_warmup training_shows(training *t, int64_t steps)
{
    return (sali_warmup){ .model = t->model,
                          .seed = 77,
                          .n_shards = SHARDS,
                          .chains = t->chains,
                          .selves = t->selves,
                          .window = steps,
                          .done = t->done,
                          .total = SALI_WARMUP_ENDLESS };
}

/* The slot that chain c of shard k moves in this window. */
static inline int64_t slot_of(const training *t, int k, int64_t c)
{
    return (3 * t->windows + shard_first[k] + c) % SLOTS;
}

/* Slots into shard k, its steps, and back. In odd windows some chains are ahead of others. */
static inline void move_shard(training *t, int k, int64_t steps)
{
    sali_chains *chains = t->chains[k];
    int64_t V = t->model->space->n_variables;
    for (int64_t c = 0; c < chains->n; c++) {
        int64_t slot = slot_of(t, k, c);
        memcpy(chains->codes + c * V, t->buffer + slot * V, (size_t)V * sizeof *chains->codes);
        chains->id[c] = (uint32_t)slot;
        chains->step[c] = t->windows % 2 ? t->life[slot] : (uint64_t)t->done;
    }
    sali_chains_embed(chains);
    sali_sampler_forget(t->sampler, t->selves[k]);
    sali_engine(t->sampler)->refresh(t->selves[k], chains);
    sali_sampler_steps(t->sampler, t->selves[k], chains, steps);
    for (int64_t c = 0; c < chains->n; c++) {
        int64_t slot = slot_of(t, k, c);
        memcpy(t->buffer + slot * V, chains->codes + c * V, (size_t)V * sizeof *chains->codes);
        t->life[slot] = chains->step[c];
    }
}

/* Steps of all shards; they are to be looked at before `training_learn`. */
static inline void training_move(training *t, int64_t steps)
{
    for (int k = 0; k < SHARDS; k++) {
        move_shard(t, k, steps);
    }
    t->windows++;
    t->done += steps;
}

static inline void training_learn(training *t, int64_t steps)
{
    sali_warmup warmup = training_shows(t, steps);
    bool changed = false;
    sal_error err;
    if (sali_engine(t->sampler)->adapt) {
        ck_ok(sali_engine(t->sampler)->adapt(t->shared, &warmup, &changed, &err), &err);
    }
    if (t->sampler->has_step_size && sali_sampler_adapts(t->sampler)) {
        sali_step_sizes_learn(&t->step_sizes, SHARDS, t->chains, steps, t->done,
                              SALI_WARMUP_ENDLESS);
    }
    for (int k = 0; k < SHARDS; k++) {
        sali_chains_take_sums(t->chains[k]);
    }
}

/* ---- what has to be kept */

static inline struct sal_run_state keep(int64_t n, const sali_state_item *items)
{
    struct sal_run_state k = { 0 };
    for (int64_t i = 0; i < n; i++) {
        ck_assert(sali_run_state_put(&k, &items[i]));
    }
    return k;
}

static inline struct sal_run_state keep_sampler(training *t)
{
    sali_state_item items[SALI_MOST_STATE];
    return keep(sali_sampler_items(t->sampler, t->shared, NULL, SALI_STATE_KEPT, items), items);
}

static inline struct sal_run_state keep_step_sizes(training *t)
{
    sali_state_item items[SALI_MOST_STATE];
    return keep(sali_step_sizes_state(&t->step_sizes, items), items);
}

/* All that was kept is fetched, once. */
static inline sal_status kept_restore(const struct sal_run_state *k, training *to, sal_error *err)
{
    sali_warmup at = training_shows(to, 0);
    sali_run_state_reader reader = { .state = k, .prefix = "" };
    sal_status status = sali_sampler_restore(to->sampler, to->shared, &at, &reader, err);
    ck_assert(status != SAL_OK || reader.fetched == k->n);
    return status;
}

/* A training newly opened that goes on where another one stands. */
static inline training training_resume(training *from, const sali_sampler_settings *settings)
{
    training t = training_open(from->sampler, from->model, settings);
    struct sal_run_state own = keep_sampler(from), sizes = keep_step_sizes(from);
    sali_run_state_reader reader = { .state = &sizes, .prefix = "" };
    sali_state_item items[SALI_MOST_STATE];
    sal_error err;
    memcpy(t.buffer, from->buffer, sizeof t.buffer);
    memcpy(t.life, from->life, sizeof t.life);
    t.windows = from->windows;
    t.done = from->done;
    ck_ok(kept_restore(&own, &t, &err), &err);
    ck_ok(sali_run_state_fill(&reader, sali_step_sizes_state(&t.step_sizes, items), items, &err),
          &err);
    ck_ok(
        sali_step_sizes_restored(&t.step_sizes, t.model->dtype, t.done, SALI_WARMUP_ENDLESS, &err),
        &err);
    if (t.sampler->has_step_size && sali_sampler_adapts(t.sampler)) {
        sali_step_sizes_set(&t.step_sizes, SHARDS, t.chains);
    }
    sali_run_state_clear(&own);
    sali_run_state_clear(&sizes);
    return t;
}

#endif
