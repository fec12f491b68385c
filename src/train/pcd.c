/* Persistent contrastive divergence with a buffer of chains. Rhodes & Gutmann 2022, algorithm L.6.
 * A chain is a slot of the buffer: its random stream is its slot, its step the number of steps that
 * it has made in its life. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <saltus/train.h>
#include "ad/workspace.h"
#include "core/adam.h"
#include "core/alloc.h"
#include "core/blas.h"
#include "core/error.h"
#include "core/shard.h"
#include "models/tape_model.h"
#include "samplers/run.h"

/* What a shard of the minibatch needs: chains that move, and a workspace for parameter gradients.
 */
typedef struct train_shard {
    int64_t first, n; /* rows of the minibatch */
    sali_chains *chains;
    void *self;
    sali_workspace *ws;
    int32_t *codes; /* [n x V] of data */
    void *x;        /* real [n x N] of data */
    double *weight, *f;
    double sum_data, sum_samples; /* of f */
} train_shard;

typedef struct trainer {
    sal_model *model;
    sali_tape_model *tape;
    const sal_data *data;
    sal_train_options options;
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    void *shared; /* of the sampler */
    int64_t n_shards;
    train_shard *shards;
    sali_workspace **workspaces; /* [n_shards], for the reduction */

    int32_t *buffer;        /* [buffer x V] */
    uint64_t *life;         /* [buffer] steps made */
    uint32_t *rows, *slots; /* [batch] of this iteration */
    uint32_t *row_work, *slot_work;

    sali_adam adam;
    double *values, *good, *gradient; /* [parameters_size] */
    int64_t iteration;
    double accepted, jump, moves; /* since the last report */
    double sampling_seconds, gradient_seconds, start;
} trainer;

/* ---- creation */

static sal_status resolve(trainer *t, sal_error *err)
{
    sal_train_options *o = &t->options;
    o->sampler = o->sampler ? o->sampler : "gwg";
    o->steps = o->steps ? o->steps : 20;
    o->iterations = o->iterations ? o->iterations : 2000;
    o->batch = o->batch ? o->batch : 50;
    o->buffer = o->buffer ? o->buffer : o->batch > 1000 ? o->batch : 1000;
    o->learning_rate = o->learning_rate == 0 ? 1e-3 : o->learning_rate;
    o->report_every = o->report_every ? o->report_every : 100;
    if (o->steps < 1 || o->iterations < 1 || o->batch < 1 || o->report_every < 1 ||
        o->threads < 0 || o->threads > 4096 || o->buffer < 1 || o->buffer > INT32_MAX) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: steps %lld, iterations %lld, batch %lld, report_every %lld, "
                         "buffer %lld, threads %d; expected positive numbers, a buffer below "
                         "2^31, at most 4096 threads",
                         (long long)o->steps, (long long)o->iterations, (long long)o->batch,
                         (long long)o->report_every, (long long)o->buffer, o->threads);
    }
    if (o->buffer < o->batch || t->data->rows < o->batch) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: a batch of %lld needs as many chains and data rows; there are "
                         "%lld and %lld",
                         (long long)o->batch, (long long)o->buffer, (long long)t->data->rows);
    }
    if (!(o->learning_rate > 0) || !(o->weight_decay >= 0)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: learning_rate %g, weight_decay %g; expected numbers that are not "
                         "negative",
                         o->learning_rate, o->weight_decay);
    }
    return SAL_OK;
}

static sal_status check_data(const trainer *t, sal_error *err)
{
    const sal_space *space = t->model->space;
    if (t->data->variables != space->n_variables || !t->data->codes) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT, "train: the data have %lld variables and %s has %lld",
            (long long)t->data->variables, t->model->name, (long long)space->n_variables);
    }
    for (int64_t r = 0; r < t->data->rows; r++) {
        for (int64_t v = 0; v < space->n_variables; v++) {
            int code = t->data->codes[r * space->n_variables + v];
            if (!sali_has_code(&space->variables[v], code)) {
                return sali_fail(err, SAL_ERR_ARGUMENT,
                                 "train: data row %lld, variable %lld: code %d; expected 0 to %d",
                                 (long long)r, (long long)v, code,
                                 sali_last_code(&space->variables[v]));
            }
        }
    }
    return SAL_OK;
}

static sal_status create_shard(trainer *t, int64_t k, sal_error *err)
{
    train_shard *shard = &t->shards[k];
    const sal_space *space = t->model->space;
    unsigned wants = sali_sampler_wants(t->sampler);
    shard->first = sali_shard_first(t->options.batch, t->n_shards, k);
    shard->n = sali_shard_first(t->options.batch, t->n_shards, k + 1) - shard->first;
    shard->codes = SALI_NEW_ARRAY(int32_t, shard->n * space->n_variables);
    shard->x = sali_alloc(shard->n * space->width, sali_dtype_size(t->model->dtype));
    shard->weight = SALI_NEW_ARRAY(double, shard->n);
    shard->f = SALI_NEW_ARRAY(double, shard->n);
    if (!shard->codes || !shard->x || !shard->weight || !shard->f) {
        return sali_fail_memory(err);
    }
    sal_status status =
        sali_chains_create(t->model, shard->n, wants, t->options.seed, &shard->chains, err);
    status = status ? status
                    : sali_sampler_open(t->sampler, &t->settings, t->shared, shard->chains,
                                        &shard->self, err);
    status = status ? status
                    : sali_workspace_create(t->tape->program, t->tape->params, shard->n,
                                            SALI_WANT_PARAM_GRADIENT, &shard->ws, err);
    t->workspaces[k] = shard->ws;
    return status;
}

static sal_status allocate(trainer *t, sal_error *err)
{
    const sal_train_options *o = &t->options;
    int64_t V = t->model->space->n_variables, n = t->tape->program->parameters_size;
    t->n_shards = t->sampler->flags & SALI_SAMPLER_COUPLED ? 1 : sali_shard_count(o->batch);
    t->shards = SALI_NEW_ARRAY(train_shard, t->n_shards);
    t->workspaces = SALI_NEW_ARRAY(sali_workspace *, t->n_shards);
    t->buffer = SALI_NEW_ARRAY(int32_t, o->buffer * V);
    t->life = SALI_NEW_ARRAY(uint64_t, o->buffer);
    t->rows = SALI_NEW_ARRAY(uint32_t, o->batch);
    t->slots = SALI_NEW_ARRAY(uint32_t, o->batch);
    t->row_work = SALI_NEW_ARRAY(uint32_t, t->data->rows);
    t->slot_work = SALI_NEW_ARRAY(uint32_t, o->buffer);
    t->values = SALI_NEW_ARRAY(double, n);
    t->good = SALI_NEW_ARRAY(double, n);
    t->gradient = SALI_NEW_ARRAY(double, n);
    bool ok = t->shards && t->workspaces && t->buffer && t->life && t->rows && t->slots &&
              t->row_work && t->slot_work && t->values && t->good && t->gradient &&
              sali_adam_create(&t->adam, n, o->learning_rate, o->weight_decay);
    return ok ? SAL_OK : sali_fail_memory(err);
}

static void trainer_free(trainer *t)
{
    for (int64_t k = 0; t->shards && k < t->n_shards; k++) {
        train_shard *shard = &t->shards[k];
        if (shard->self) {
            t->sampler->destroy(shard->self);
        }
        sali_chains_destroy(shard->chains);
        sali_workspace_destroy(shard->ws);
        sali_free(shard->codes);
        sali_free(shard->x);
        sali_free(shard->weight);
        sali_free(shard->f);
    }
    if (t->shared) {
        t->sampler->unshare(t->shared);
    }
    sali_free(t->shards);
    sali_free(t->workspaces);
    sali_free(t->buffer);
    sali_free(t->life);
    sali_free(t->rows);
    sali_free(t->slots);
    sali_free(t->row_work);
    sali_free(t->slot_work);
    sali_free(t->values);
    sali_free(t->good);
    sali_free(t->gradient);
    sali_adam_free(&t->adam);
}

/* Each variable of each chain independently takes the value of a random data row. */
static void start_buffer(trainer *t)
{
    int64_t V = t->model->space->n_variables;
    for (int64_t slot = 0; slot < t->options.buffer; slot++) {
        sali_stream stream = { .seed = t->options.seed,
                               .chain = (uint32_t)slot,
                               .purpose = SALI_RNG_INIT };
        for (int64_t v = 0; v < V; v++) {
            uint32_t row = sali_rng_below(&stream, (uint32_t)v, (uint32_t)t->data->rows);
            t->buffer[slot * V + v] = t->data->codes[row * V + v];
        }
    }
}

/* ---- one iteration */

static void choose_minibatches(trainer *t)
{
    sali_stream data = { .seed = t->options.seed,
                         .step = (uint64_t)t->iteration,
                         .purpose = SALI_RNG_DATA };
    sali_stream buffer = { .seed = t->options.seed,
                           .step = (uint64_t)t->iteration,
                           .purpose = SALI_RNG_BUFFER };
    sali_rng_choose(&data, (uint32_t)t->data->rows, (uint32_t)t->options.batch, t->row_work,
                    t->rows);
    sali_rng_choose(&buffer, (uint32_t)t->options.buffer, (uint32_t)t->options.batch, t->slot_work,
                    t->slots);
}

/* Move this shard's slots of the buffer by K steps. */
static void sample_shard(void *context, int64_t k)
{
    trainer *t = context;
    train_shard *shard = &t->shards[k];
    sali_chains *chains = shard->chains;
    int64_t V = t->model->space->n_variables;
    for (int64_t c = 0; c < shard->n; c++) {
        uint32_t slot = t->slots[shard->first + c];
        memcpy(chains->codes + c * V, t->buffer + slot * V, (size_t)V * sizeof *chains->codes);
        chains->id[c] = slot;
        chains->step[c] = t->life[slot];
    }
    sali_chains_embed(chains);
    t->sampler->refresh(shard->self, chains);
    for (int64_t i = 0; i < t->options.steps; i++) {
        t->sampler->step(shard->self, chains);
    }
    for (int64_t c = 0; c < shard->n; c++) {
        uint32_t slot = t->slots[shard->first + c];
        memcpy(t->buffer + slot * V, chains->codes + c * V, (size_t)V * sizeof *chains->codes);
        t->life[slot] = chains->step[c];
    }
}

static double add_gradient(train_shard *shard, const int32_t *codes, const void *x, double weight)
{
    double sum = 0;
    for (int64_t c = 0; c < shard->n; c++) {
        shard->weight[c] = weight;
    }
    sali_workspace_param_gradient(shard->ws, shard->n, codes, x, shard->weight, shard->f);
    for (int64_t c = 0; c < shard->n; c++) {
        sum += shard->f[c];
    }
    return sum;
}

/* Gradient of mean f(data) - mean f(samples) over this shard's rows. */
static void gradient_shard(void *context, int64_t k)
{
    trainer *t = context;
    train_shard *shard = &t->shards[k];
    int64_t V = t->model->space->n_variables;
    double weight = 1 / (double)t->options.batch;
    for (int64_t c = 0; c < shard->n; c++) {
        const uint8_t *row = t->data->codes + t->rows[shard->first + c] * V;
        for (int64_t v = 0; v < V; v++) {
            shard->codes[c * V + v] = row[v];
        }
    }
    sali_model_embed(t->model, shard->n, shard->codes, shard->x);
    sali_workspace_param_zero(shard->ws);
    shard->sum_data = add_gradient(shard, shard->codes, shard->x, weight);
    shard->sum_samples = add_gradient(shard, shard->chains->codes, shard->chains->x, -weight);
}

static double norm(int64_t n, const double *values)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += values[i] * values[i];
    }
    return sqrt(sum);
}

/* Sampling, gradient, update; false if something is not finite any more. */
static bool iterate(trainer *t, sal_train_report *report)
{
    double before = sali_now();
    choose_minibatches(t);
    sali_shard_run(t->n_shards, t->options.threads, sample_shard, t);
    double between = sali_now();
    sali_shard_run(t->n_shards, t->options.threads, gradient_shard, t);
    sali_workspace_param_reduce(t->workspaces, t->n_shards, t->gradient);
    report->gradient_norm = norm(t->adam.n, t->gradient);
    sali_adam_update(&t->adam, t->gradient, t->values);
    sali_params_set(t->tape->params, t->values);
    t->sampling_seconds += between - before;
    t->gradient_seconds += sali_now() - between;

    report->log_prob_data = report->log_prob_samples = 0;
    bool good = isfinite(report->gradient_norm);
    for (int64_t k = 0; k < t->n_shards; k++) {
        sali_chains *chains = t->shards[k].chains;
        report->log_prob_data += t->shards[k].sum_data / (double)t->options.batch;
        report->log_prob_samples += t->shards[k].sum_samples / (double)t->options.batch;
        sali_chains_sums sums = sali_chains_take_sums(chains);
        t->accepted += sums.accepted;
        t->jump += sums.jump;
        good &= chains->bad_chain < 0;
    }
    t->moves += (double)(t->options.batch * t->options.steps);
    return good && isfinite(norm(t->adam.n, t->values));
}

/* ---- the whole */

static int send_report(trainer *t, sal_train_report *report)
{
    const sal_train_options *o = &t->options;
    report->iteration = t->iteration;
    report->iterations = o->iterations;
    report->seconds = sali_now() - t->start;
    report->acceptance_rate = t->accepted / t->moves;
    report->mean_jump = t->jump / t->moves;
    report->sampling_seconds = t->sampling_seconds;
    report->gradient_seconds = t->gradient_seconds;
    report->model = t->model;
    report->buffer = o->buffer;
    report->samples = t->buffer;
    t->accepted = t->jump = t->moves = 0;
    memcpy(t->good, t->values, (size_t)t->adam.n * sizeof *t->good);
    return o->report ? o->report(report, o->report_data) : 0;
}

static sal_status loop(trainer *t, sal_error *err)
{
    sal_train_report report = { 0 };
    int64_t every = t->options.report_every;
    t->start = sali_now();
    while (t->iteration < t->options.iterations) {
        bool good = iterate(t, &report);
        t->iteration++;
        if (!good) {
            sali_params_set(t->tape->params, t->good);
            return sali_fail(err, SAL_ERR_MODEL,
                             "training diverged at iteration %lld: f, its gradient or a parameter "
                             "is not finite; the parameters are those of iteration %lld; try a "
                             "smaller learning rate or more steps",
                             (long long)t->iteration,
                             (long long)((t->iteration - 1) / every * every));
        }
        if ((t->iteration % every == 0 || t->iteration == t->options.iterations) &&
            send_report(t, &report) != 0) {
            break;
        }
    }
    return SAL_OK;
}

static sal_status prepare(trainer *t, sal_error *err)
{
    sal_status status = resolve(t, err);
    status = status ? status : check_data(t, err);
    status = status ? status
                    : sali_sampler_choose(t->options.sampler, t->model, t->options.step_size,
                                          &t->sampler, &t->settings, err);
    status = status ? status : allocate(t, err);
    if (status == SAL_OK && t->sampler->share) {
        status = t->sampler->share(t->model, &t->settings, &t->shared, err);
    }
    for (int64_t k = 0; status == SAL_OK && k < t->n_shards; k++) {
        status = create_shard(t, k, err);
    }
    return status;
}

sal_status sal_train(sal_model *model, const sal_data *data, const sal_train_options *options,
                     sal_error *err)
{
    if (!model || !data) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_train: the model or the data are NULL");
    }
    sali_tape_model *tape = sali_model_tape(model);
    if (!tape || tape->program->n_parameters == 0) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED, "train: %s has no parameters", model->name);
    }
    trainer t = {
        .model = model,
        .tape = tape,
        .data = data,
        .options = options ? *options : (sal_train_options){ 0 },
    };
    sali_blas_single_thread_begin();
    sal_status status = prepare(&t, err);
    if (status == SAL_OK) {
        start_buffer(&t);
        sali_params_get(tape->params, t.values);
        memcpy(t.good, t.values, (size_t)t.adam.n * sizeof *t.good);
        status = loop(&t, err);
    }
    sali_blas_single_thread_end();
    trainer_free(&t);
    return status;
}
