/* SPDX-License-Identifier: MIT */
/* The buffer of persistent chains, and the minibatches of an iteration. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "samplers/start.h"
#include "train/data.h"
#include "train/trainer.h"

/* A row of the data drawn by element k of the stream, in proportion to the rows' weights. */
static uint32_t pick_row(const sal_trainer *t, const sali_stream *stream, uint32_t k)
{
    const double *below = t->buffer.below;
    if (!below) {
        return sali_rng_below(stream, k, (uint32_t)t->data->rows);
    }
    double u = sali_rng_uniform_at(stream, k);
    int64_t low = 0, high = t->data->rows - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (below[middle] < u) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (uint32_t)low;
}

/* The code of variable v in a row; drawn from its intensity, if there is one, by element k of the
 * stream. */
static int32_t pick_code(const sal_data *data, int64_t row, int64_t v, const sali_stream *stream,
                         uint32_t k)
{
    int64_t at = row * data->variables + v;
    return data->intensity ? sali_rng_uniform_at(stream, k) < data->intensity[at] : data->codes[at];
}

/* Put a slot at a starting state. `start` numbers the starts of a slot, so that each draws other
 * random numbers. */
static void start_slot(const sal_trainer *t, int64_t slot, uint64_t start)
{
    const sal_space *space = t->model->space;
    const int64_t V = space->n_variables;
    const sali_stream stream = {
        .seed = t->options.seed, .chain = (uint32_t)slot, .step = start, .purpose = SALI_RNG_INIT
    };
    uint32_t row = pick_row(t, &stream, 0);
    for (int64_t v = 0; v < V; v++) {
        int32_t *code = &t->buffer.codes[slot * V + v];
        if (t->options.buffer.start == SAL_BUFFER_UNIFORM) {
            uint32_t states = (uint32_t)space->variables[v].states;
            *code = (int32_t)sali_rng_below(&stream, (uint32_t)v, states);
            continue;
        }
        if (t->options.buffer.start == SAL_BUFFER_MEAN) {
            row = pick_row(t, &stream, (uint32_t)v);
        }
        *code = pick_code(t->data, row, v, &stream, (uint32_t)(V + v));
    }
}

/* Fill buffer.below with cumulative shares of the rows' weights; NULL stays if there are no
 * weights. */
static sal_status sum_weights(sal_trainer *t, sal_error *err)
{
    const int64_t rows = t->data->rows;
    double sum = 0;
    if (!t->data->weight) {
        return SAL_OK;
    }
    double *below = t->buffer.below = SALI_TAKE(&t->memory, double, rows);
    for (int64_t r = 0; below && r < rows; r++) {
        below[r] = sum += t->data->weight[r];
    }
    for (int64_t r = 0; below && r < rows; r++) {
        below[r] /= sum;
    }
    return sali_memory_status(&t->memory, err);
}

sal_status sali_buffer_create(sal_trainer *t, sal_error *err)
{
    sali_buffer *b = &t->buffer;
    int64_t rows = t->data->rows, V = t->model->space->n_variables;
    b->slots = t->objective->chains(&t->options);
    b->codes = SALI_TAKE(&t->memory, int32_t, b->slots * V);
    b->life = SALI_TAKE(&t->memory, uint64_t, b->slots);
    b->slot = SALI_TAKE(&t->memory, uint32_t, t->options.batch);
    b->fresh = SALI_TAKE(&t->memory, bool, t->options.batch);
    b->row = SALI_TAKE(&t->memory, uint32_t, t->options.batch);
    b->work = SALI_TAKE(&t->memory, uint32_t, b->slots > rows ? b->slots : rows);
    b->order = SALI_TAKE(&t->memory, uint32_t, b->slots);
    sal_status status = sali_memory_status(&t->memory, err);
    status = status ? status : sum_weights(t, err);
    for (int64_t slot = 0; status == SAL_OK && slot < b->slots; slot++) {
        start_slot(t, slot, 0);
    }
    for (int64_t c = 0; status == SAL_OK && c < t->options.batch; c++) {
        b->slot[c] = (uint32_t)c;
    }
    return status;
}

static sali_stream stream_of(const sal_trainer *t, sali_purpose purpose)
{
    return (
        sali_stream){ .seed = t->options.seed, .step = (uint64_t)t->iteration, .purpose = purpose };
}

/* Restart chains of the batch at random, and mark as fresh those and the chains that have never
 * moved. The stream's `start` is the iteration plus one, because 0 was the first start. */
static void restart_chains(sal_trainer *t)
{
    const int64_t batch = t->options.batch;
    const sali_buffer *b = &t->buffer;
    const sali_stream stream = stream_of(t, SALI_RNG_RESTART);
    for (int64_t c = 0; c < batch; c++) {
        b->fresh[c] = b->life[b->slot[c]] == 0;
        if (t->options.buffer.restart > 0 &&
            sali_rng_uniform_at(&stream, (uint32_t)c) < t->options.buffer.restart) {
            start_slot(t, b->slot[c], (uint64_t)t->iteration + 1);
            b->fresh[c] = true;
        }
    }
}

void sali_train_row(const sal_trainer *t, int64_t c, int32_t *codes)
{
    uint64_t use = (uint64_t)t->iteration * (uint64_t)t->options.batch + (uint64_t)c;
    sali_data_binarise(t->data, t->buffer.row[c], t->options.seed, use, codes);
}

void sali_buffer_start_at_data(sal_trainer *t)
{
    const int64_t V = t->model->space->n_variables;
    for (int64_t c = 0; c < t->options.batch; c++) {
        t->buffer.slot[c] = (uint32_t)c;
        sali_train_row(t, c, t->buffer.codes + c * V);
    }
}

/* Choose the batch's slots, all different: at random, or the next ones of a pass. */
static void choose_slots(sal_trainer *t)
{
    sali_buffer *b = &t->buffer;
    const int64_t batch = t->options.batch, length = b->slots / batch;
    sali_stream stream = stream_of(t, SALI_RNG_BUFFER);
    uint32_t place = 0;
    if (t->options.buffer.order == SAL_BUFFER_PASSES) {
        stream.step = (uint64_t)(t->iteration / length);
        place = (uint32_t)(t->iteration % length * batch);
    }
    sali_rng_choose(&stream, (uint32_t)b->slots, place + (uint32_t)batch, b->work, b->order);
    memcpy(b->slot, b->order + place, (size_t)batch * sizeof *b->slot);
}

void sali_buffer_take_turns(sal_trainer *t)
{
    choose_slots(t);
    restart_chains(t);
}

void sali_buffer_choose(sal_trainer *t)
{
    sali_buffer *b = &t->buffer;
    const uint32_t batch = (uint32_t)t->options.batch;
    const sali_stream data = stream_of(t, SALI_RNG_DATA);
    for (uint32_t c = 0; !t->data_gradient && b->below && c < batch; c++) {
        b->row[c] = pick_row(t, &data, c);
    }
    if (!t->data_gradient && !b->below) {
        sali_rng_choose(&data, (uint32_t)t->data->rows, batch, b->work, b->row);
    }
    if (t->objective->choose) {
        t->objective->choose(t);
    }
}

void sali_buffer_load(const sal_trainer *t, sali_train_shard *shard)
{
    const sali_buffer *b = &t->buffer;
    sali_chains *chains = shard->chains;
    const int64_t V = t->model->space->n_variables;
    for (int64_t c = 0; c < shard->n; c++) {
        uint32_t slot = b->slot[shard->first + c];
        memcpy(chains->codes + c * V, b->codes + slot * V, (size_t)V * sizeof *chains->codes);
        chains->id[c] = slot;
        chains->step[c] = b->life[slot];
    }
    sali_chains_embed(chains);
}

/* Whether some chain of the shard has just started, at a state where f = -inf. */
static bool starts_forbidden(const sal_trainer *t, const sali_train_shard *shard)
{
    bool any = false, forbidden = false;
    for (int64_t c = 0; c < shard->n; c++) {
        any |= t->buffer.fresh[shard->first + c];
    }
    if (any) {
        sali_chains_start(shard->chains, false);
    }
    for (int64_t c = 0; any && c < shard->n; c++) {
        forbidden |= t->buffer.fresh[shard->first + c] && shard->chains->f[c] == -INFINITY;
    }
    return forbidden;
}

sal_status sali_buffer_repair(const sal_trainer *t, sali_train_shard *shard, sal_error *err)
{
    sali_chains *chains = shard->chains;
    if (!starts_forbidden(t, shard)) {
        return SAL_OK;
    }
    sal_model *guide = NULL;
    int32_t *codes =
        sali_memdup(chains->codes, shard->n * t->model->space->n_variables, sizeof *codes);
    sal_status status = codes ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK && t->model->ops->feasibility) {
        status = t->model->ops->feasibility(t->model, &guide, err);
    }
    status = status ? status : sali_start(chains, codes, guide, err);
    sal_model_destroy(guide);
    sali_free(codes);
    return status ? sali_fail_prefix(err, status, "train: a persistent chain's start") : SAL_OK;
}

void sali_buffer_store(sal_trainer *t, const sali_train_shard *shard)
{
    sali_buffer *b = &t->buffer;
    const sali_chains *chains = shard->chains;
    const int64_t V = t->model->space->n_variables;
    for (int64_t c = 0; c < shard->n; c++) {
        uint32_t slot = b->slot[shard->first + c];
        memcpy(b->codes + slot * V, chains->codes + c * V, (size_t)V * sizeof *chains->codes);
        b->life[slot] = chains->step[c];
    }
}
