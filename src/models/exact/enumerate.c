/* SPDX-License-Identifier: MIT */
/* The oracle that enumerates all states. They are divided into shards, whose number depends on the
 * model only. Each shard has sums relative to the largest f that it has met; the sums of the shards
 * are added in the order of the shards. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <saltus/program.h>
#include "core/choose.h"
#include "core/memory.h"
#include "core/error.h"
#include "core/rng.h"
#include "core/threads/shard.h"
#include "models/exact/exact.h"
#include "models/states.h"

/* States evaluated at a time; states of a shard; most shards. */
#define ROWS 256
#define SHARD_STATES 4096
#define MOST_SHARDS 64
/* Most numbers in the pairs of all shards together. */
#define MOST_PAIRS (INT64_C(1) << 24)

/* Sums over the states of a shard. Weights are exp(f - largest). */
typedef struct sums {
    double largest; /* largest f met; -INFINITY at first */
    double weight;
    double weighted_f;
    double *marginals; /* [R] */
    double *pairs;     /* [R x R] i < j, or NULL */
} sums;

typedef struct shard {
    sums sums;
    sal_status status;
    sal_error error;
} shard;

typedef struct walk {
    sali_memory memory;
    const sal_model *model;
    int64_t count, n_shards;
    shard *shards;
    double *table; /* [count] f of every state; NULL: states are summed instead */
} walk;

/* ---- one shard */

typedef struct batch {
    sali_memory memory;
    sali_evaluator *evaluator;
    int32_t *codes; /* [rows x V] */
    void *x;        /* real [rows x N] */
    double *f;      /* [rows] */
} batch;

/* Allocate *b for `rows` states. On failure *b is still to be freed (evaluator and memory). */
static sal_status batch_create(const sal_model *model, int64_t rows, batch *b, sal_error *err)
{
    const sal_space *space = model->space;
    *b = (batch){ 0 };
    b->codes = SALI_TAKE(&b->memory, int32_t, rows * space->n_variables);
    b->x = SALI_TAKE(&b->memory, double, rows * space->width);
    b->f = SALI_TAKE(&b->memory, double, rows);
    return b->memory.refused
               ? sali_fail_memory(err)
               : sali_evaluator_create(model, rows, SALI_WANT_VALUE, &b->evaluator, err);
}

static void scale_numbers(double *numbers, int64_t n, double factor)
{
    for (int64_t i = 0; i < n; i++) {
        numbers[i] *= factor;
    }
}

/* Rescale the sums so that they are relative to `largest`, which is above s->largest. */
static void raise_largest(const sal_space *space, sums *s, double largest)
{
    double factor = s->largest == -INFINITY ? 0 : exp(s->largest - largest);
    int64_t R = space->n_states;
    s->largest = largest;
    s->weight *= factor;
    s->weighted_f *= factor;
    scale_numbers(s->marginals, R, factor);
    scale_numbers(s->pairs, s->pairs ? R * R : 0, factor);
}

/* Add the state `codes` [V], with value f, to the sums; f <= s->largest. */
static void add_state(const sal_space *space, sums *s, const int32_t *codes, double f)
{
    double w = exp(f - s->largest);
    int64_t R = space->n_states, at = 0;
    s->weight += w;
    s->weighted_f += w * f;
    for (int64_t i = 0; i < space->n_variables; at += space->variables[i++].states) {
        int64_t a = at + codes[i], next = at + space->variables[i].states;
        s->marginals[a] += w;
        for (int64_t j = i + 1; s->pairs && j < space->n_variables; j++) {
            s->pairs[a * R + next + codes[j]] += w;
            next += space->variables[j].states;
        }
    }
}

/* Add the n evaluated states of *b to the sums, except those with f = -inf. */
static void add_batch(const sal_space *space, sums *s, int64_t n, const batch *b)
{
    double largest = s->largest;
    for (int64_t c = 0; c < n; c++) {
        largest = fmax(largest, b->f[c]);
    }
    if (largest > s->largest) {
        raise_largest(space, s, largest);
    }
    for (int64_t c = 0; c < n; c++) {
        if (b->f[c] > -INFINITY) {
            add_state(space, s, b->codes + c * space->n_variables, b->f[c]);
        }
    }
}

/* Evaluate all states of shard k; write f to w->table if there is one, else add the states to the
 * sums of the shard. Returns: SAL_ERR_MODEL for f = NaN or +inf; SAL_ERR_MEMORY. */
static sal_status walk_shard(walk *w, int64_t k, sal_error *err)
{
    const sal_space *space = w->model->space;
    int64_t V = space->n_variables, end = sali_shard_first(w->count, w->n_shards, k + 1);
    batch b;
    sal_status status = batch_create(w->model, w->count < ROWS ? w->count : ROWS, &b, err);
    for (int64_t at = sali_shard_first(w->count, w->n_shards, k), n; status == SAL_OK && at < end;
         at += n) {
        n = end - at < ROWS ? end - at : ROWS;
        sali_states_at(space, at, b.codes);
        for (int64_t c = 1; c < n; c++) {
            memcpy(b.codes + c * V, b.codes + (c - 1) * V, (size_t)V * sizeof *b.codes);
            sali_states_next(space, b.codes + c * V);
        }
        sali_model_embed(w->model, n, b.codes, b.x);
        sali_value(b.evaluator, n, b.codes, b.x, b.f);
        status = sali_states_check(w->model, n, b.codes, b.f, err);
        if (status == SAL_OK && w->table) {
            memcpy(w->table + at, b.f, (size_t)n * sizeof *b.f);
        } else if (status == SAL_OK) {
            add_batch(space, &w->shards[k].sums, n, &b);
        }
    }
    sali_evaluator_destroy(b.evaluator);
    sali_memory_free(&b.memory);
    return status;
}

static void run_shard(void *context, int64_t k)
{
    walk *w = context;
    w->shards[k].status = walk_shard(w, k, &w->shards[k].error);
}

/* ---- all of them */

/* Number of shards for `states` states: fewer if the pairs [R x R] of each shard would take too
 * much memory together. */
static int64_t shard_count(int64_t states, int64_t R, bool pairs)
{
    int64_t n = (states + SHARD_STATES - 1) / SHARD_STATES;
    n = n > MOST_SHARDS ? MOST_SHARDS : n;
    int64_t room = pairs ? MOST_PAIRS / R / R : n;
    return n <= room ? n : room > 1 ? room : 1;
}

/* Choose the number of shards and allocate them, with empty sums if `with_sums` (`pairs`: and with
 * sums of pairs). */
static sal_status walk_create(walk *w, bool with_sums, bool pairs, sal_error *err)
{
    int64_t R = w->model->space->n_states;
    w->n_shards = shard_count(w->count, R, pairs);
    w->shards = SALI_TAKE(&w->memory, shard, w->n_shards);
    for (int64_t k = 0; !w->memory.refused && with_sums && k < w->n_shards; k++) {
        sums *s = &w->shards[k].sums;
        s->largest = -INFINITY;
        s->marginals = SALI_TAKE(&w->memory, double, R);
        s->pairs = pairs ? SALI_TAKE(&w->memory, double, R *R) : NULL;
    }
    return w->memory.refused ? sali_fail_memory(err) : SAL_OK;
}

/* Run all shards. Returns the error of the first shard that failed. */
static sal_status walk_run(walk *w, int threads, sal_error *err)
{
    sal_threads_run(w->n_shards, threads, run_shard, w);
    for (int64_t k = 0; k < w->n_shards; k++) {
        if (w->shards[k].status != SAL_OK) {
            if (err) {
                *err = w->shards[k].error;
            }
            return w->shards[k].status;
        }
    }
    return SAL_OK;
}

sal_status sali_fail_all_forbidden(const sal_model *model, sal_error *err)
{
    return sali_fail(err, SAL_ERR_MODEL, "%s: f is -inf at all states: there is no distribution",
                     model->name);
}

/* Fill the outputs of the request from the sums of the shards. Returns: SAL_ERR_MODEL if f is -inf
 * at all states. */
static sal_status combine_shards(const walk *w, sali_question *q, sal_error *err)
{
    int64_t R = w->model->space->n_states;
    double largest = -INFINITY, weight = 0, weighted_f = 0;
    for (int64_t k = 0; k < w->n_shards; k++) {
        largest = fmax(largest, w->shards[k].sums.largest);
    }
    if (largest == -INFINITY) {
        return sali_fail_all_forbidden(w->model, err);
    }
    for (int64_t k = 0; k < w->n_shards; k++) {
        const sums *s = &w->shards[k].sums;
        double factor = exp(s->largest - largest);
        weight += factor * s->weight;
        weighted_f += factor * s->weighted_f;
        for (int64_t a = 0; a < R; a++) {
            q->marginals[a] += factor * s->marginals[a];
        }
        for (int64_t a = 0; q->pairs && a < R * R; a++) {
            q->pairs[a] += factor * s->pairs[a];
        }
    }
    scale_numbers(q->marginals, R, 1 / weight);
    scale_numbers(q->pairs, q->pairs ? R * R : 0, 1 / weight);
    q->log_z = largest + log(weight);
    q->log_prob_mean = weighted_f / weight;
    return SAL_OK;
}

static sal_status answer(sali_question *q, const sali_offer *offer, sal_error *err)
{
    (void)offer;
    walk w = { .model = q->model, .count = (int64_t)sali_states_count(q->model->space) };
    sal_status status = walk_create(&w, true, q->pairs != NULL, err);
    status = status ? status : walk_run(&w, q->options.threads, err);
    status = status ? status : combine_shards(&w, q, err);
    sali_memory_free(&w.memory);
    return status;
}

/* ---- draws */

/* Draws of a block. */
#define BLOCK 128

typedef struct drawer {
    const sal_space *space;
    const sali_exact_draws *draws;
    int64_t count, n_shards, n_blocks;
    const double *cumulative; /* [count] sums of p over the states up to each */
} drawer;

static void draw_shard(void *context, int64_t at)
{
    const drawer *d = context;
    const int64_t V = d->space->n_variables,
                  end = sali_shard_first(d->n_blocks, d->n_shards, at + 1);
    uint32_t chain[BLOCK];
    double uniform[BLOCK], unused[BLOCK];
    for (int64_t k = sali_shard_first(d->n_blocks, d->n_shards, at); k < end; k++) {
        const int64_t first = k * BLOCK, left = d->draws->n - first,
                      n = left < BLOCK ? left : BLOCK;
        const sali_stream stream = { .seed = d->draws->seed,
                                     .step = (uint64_t)first >> 32,
                                     .purpose = SALI_RNG_EXACT_DRAW };
        for (int64_t j = 0; j < n; j++) {
            chain[j] = (uint32_t)(first + j);
        }
        sali_rng_uniform_pairs(&stream, n, chain, uniform, unused);
        for (int64_t j = 0; j < n; j++) {
            const int64_t state = sali_choose_cumulative(d->count, d->cumulative,
                                                         uniform[j] * d->cumulative[d->count - 1]);
            sali_states_at(d->space, state, d->draws->codes + (first + j) * V);
        }
    }
}

static sal_status draw(sali_question *q, const sali_offer *offer, sal_error *err)
{
    (void)offer;
    const int64_t count = (int64_t)sali_states_count(q->model->space);
    double *p = SALI_NEW_ARRAY(double, count), sum = 0, mean = 0;
    sal_status status =
        p ? sali_enumerate_table(q->model, count, q->options.threads, p, &q->log_z, err)
          : sali_fail_memory(err);
    for (int64_t i = 0; status == SAL_OK && i < count; i++) {
        const double probability = exp(p[i]);
        mean += probability > 0 ? probability * (p[i] + q->log_z) : 0;
        p[i] = sum += probability;
    }
    if (status == SAL_OK) {
        drawer d = { q->model->space, q->draws, count, 0, (q->draws->n - 1) / BLOCK + 1, p };
        d.n_shards = d.n_blocks < MOST_SHARDS ? d.n_blocks : MOST_SHARDS;
        q->log_prob_mean = mean / sum;
        sal_threads_run(d.n_shards, q->options.threads, draw_shard, &d);
    }
    sali_free(p);
    return status;
}

static sal_status offer(const sali_question *q, sali_offer *offer, sal_error *err)
{
    (void)err;
    const sal_space *space = q->model->space;
    double count = sali_states_count(space), V = (double)space->n_variables;
    offer->serves = !space->unbounded && count <= (double)q->options.limit &&
                    count < (space->fixed ? 0x1p40 : 0x1p62);
    offer->cost = count * (20 + 4 * V + (q->with_pairs ? V * V : 0)) +
                  (q->draws ? 100 * (double)q->draws->n : 0) + sali_draws_cost(q);
    if (space->unbounded) {
        snprintf(offer->why, sizeof offer->why, "it has counts without a cap");
    } else {
        char text[32];
        snprintf(offer->why, sizeof offer->why, "it has %s states, more than the limit of %lld",
                 sali_print_power(sali_states_log10(space), text), (long long)q->options.limit);
    }
    return SAL_OK;
}

const sali_oracle sali_oracle_enumeration = { "enumeration", true, offer, answer, NULL, draw };

sal_status sali_enumerate_table(const sal_model *model, int64_t count, int threads, double *log_p,
                                double *log_z, sal_error *err)
{
    walk w = { .model = model, .count = count, .table = log_p };
    sal_status status = walk_create(&w, false, false, err);
    status = status ? status : walk_run(&w, threads, err);
    sali_memory_free(&w.memory);
    if (status != SAL_OK) {
        return status;
    }
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < count; i++) {
        largest = fmax(largest, log_p[i]);
    }
    for (int64_t i = 0; i < count; i++) {
        sum += largest > -INFINITY ? exp(log_p[i] - largest) : 0;
    }
    *log_z = largest + log(sum);
    for (int64_t i = 0; i < count; i++) {
        log_p[i] -= *log_z;
    }
    return largest > -INFINITY ? SAL_OK : sali_fail_all_forbidden(model, err);
}
