/* SPDX-License-Identifier: MIT */
/* An iteration's samples, and the gradient of the objective: mean f(data) - mean f(samples), minus
 * the penalty on the magnitude of f; or the gradient that the objective computes instead. */
#include <math.h>
#include <string.h>

#include "ad/polynomial.h"
#include "core/vector/blas.h"
#include "core/error.h"
#include "train/data.h"
#include "train/sync.h"

/* ---- samples */

static int64_t steps_of(const sal_trainer *t, int64_t k)
{
    return t->objective->steps ? t->objective->steps(t, k) : t->options.steps;
}

/* Load the chains of shard k from the buffer, move them by K steps, and store them. */
static void sample_shard(void *context, int64_t k)
{
    sal_trainer *t = context;
    sali_train_shard *shard = &t->shards[k];
    void *self = t->state.selves[k];
    if (t->objective->begin_shard) {
        t->objective->begin_shard(t, k);
    }
    sali_buffer_load(t, shard);
    shard->error.status = sali_buffer_repair(t, shard, &shard->error);
    if (shard->error.status != SAL_OK) {
        return;
    }
    for (int64_t c = 0; t->follows && c < shard->n; c++) {
        shard->chains->step_size[c] = exp(t->step_size.log_step[shard->level]);
    }
    sali_sampler_go(t->sampler, self, shard->chains, steps_of(t, k));
    sali_buffer_store(t, shard);
}

sali_warmup sali_train_shows(const sal_trainer *t, void *const *selves)
{
    int64_t done;
    bool large = __builtin_mul_overflow(t->iteration + 1, t->options.steps, &done);
    return (sali_warmup){
        .model = t->model,
        .seed = t->options.seed,
        .n_shards = t->n_shards,
        .ranks = &t->ranks,
        .chains = t->chains,
        .selves = selves,
        .window = t->options.steps,
        .done = large ? INT64_MAX - 1 : done,
        .total = SALI_WARMUP_ENDLESS,
    };
}

/* Adapt the step size of each level to the mean probability of acceptance there. */
static void follow_levels(sal_trainer *t)
{
    const int64_t shards = t->n_shards / t->levels->n;
    for (int64_t level = 0; level < t->levels->n; level++) {
        double sum = 0, steps = 0;
        for (int64_t k = level * shards; k < (level + 1) * shards; k++) {
            for (int64_t c = 0; c < t->chains[k]->n; c++) {
                sum += t->chains[k]->acceptance_sum[c];
                steps += (double)steps_of(t, k);
            }
        }
        sali_adapt_follow(&t->step_size, level, sum / steps);
    }
}

/* Adapt step sizes, and let the sampler adapt, after the steps of this iteration. */
static sal_status adapt_sampler(sal_trainer *t, sal_error *err)
{
    const sali_warmup warmup = sali_train_shows(t, t->state.selves);
    if (t->follows && t->levels) {
        follow_levels(t);
    } else if (t->follows) {
        sali_adapt_follow(&t->step_size, 0, sali_warmup_acceptance(&warmup));
    }
    bool changed = false; /* not needed: every iteration begins with a refresh */
    return sali_engine(t->sampler)->adapt
               ? sali_engine(t->sampler)->adapt(t->state.shared, &warmup, &changed, err)
               : SAL_OK;
}

/* The error for a chain of shard k that met NaN or +inf, with its number in the batch. */
static sal_status report_bad(const sal_trainer *t, int64_t k, sal_error *err)
{
    const sali_chains *chains = t->chains[k];
    return sali_chains_report(chains, t->sampler, t->shards[k].first + chains->bad_chain, err);
}

sal_status sali_train_move(sal_trainer *t, sal_error *err)
{
    sal_status status = SAL_OK;
    sali_train_shards(t, &t->sampling_pace, sample_shard, t);
    for (int64_t k = 0; k < t->n_shards; k++) {
        (void)sali_chains_take_sums(t->chains[k]);
        if (status == SAL_OK && sali_ranks_own(&t->ranks, k) && t->chains[k]->bad_chain >= 0) {
            status = report_bad(t, k, err);
        }
    }
    sali_train_sync_chains(t);
    return sali_train_sync_status(t, status, err);
}

sal_status sali_train_sample(sal_trainer *t, bool *good, sal_error *err)
{
    sal_status status = SAL_OK;
    sali_train_shards(t, &t->sampling_pace, sample_shard, t);
    for (int64_t k = t->ranks.first; status == SAL_OK && k < t->ranks.end; k++) {
        if (t->shards[k].error.status != SAL_OK) {
            status = sali_fail(err, t->shards[k].error.status, "%s", t->shards[k].error.message);
        }
    }
    sali_train_sync_chains(t);
    status = sali_train_sync_status(t, status, err);
    if (status != SAL_OK) {
        return status;
    }
    status = adapt_sampler(t, err);
    for (int64_t k = 0; k < t->n_shards; k++) {
        sali_chains_sums sums = sali_chains_take_sums(t->chains[k]);
        t->sums.accepted += sums.accepted;
        t->sums.jump += sums.jump;
        t->sums.moves += (double)t->shards[k].n * (double)steps_of(t, k);
        *good &= t->chains[k]->bad_chain < 0;
        if (status == SAL_OK && sali_ranks_own(&t->ranks, k) && t->chains[k]->bad_chain >= 0 &&
            t->chains[k]->bad_what) {
            status = report_bad(t, k, err);
        }
    }
    return sali_train_sync_status(t, status, err);
}

/* ---- gradient */

static double sum_values(int64_t n, const double *values)
{
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        total += values[i];
    }
    return total;
}

/* Add the gradient of sign mean f - a mean f^2 over these rows to the shard's workspace, a being
 * the magnitude penalty. Returns the sum of f over the rows. */
static double add_gradient(const sal_trainer *t, sali_train_shard *shard, const int32_t *codes,
                           const void *x, double sign)
{
    const double unit = 1 / (double)t->options.batch, a = t->options.magnitude_penalty;
    if (a > 0) {
        sali_workspace_value(shard->ws, shard->n, codes, x, shard->f);
    }
    for (int64_t c = 0; c < shard->n; c++) {
        shard->weight[c] = unit * (a > 0 ? sign - 2 * a * shard->f[c] : sign);
    }
    sali_workspace_param_gradient(shard->ws, shard->n, codes, x, shard->weight, shard->f);
    return sum_values(shard->n, shard->f);
}

/* Fill the shard's codes and x with its rows of the batch, from the objective or the data. */
static void take_data(const sal_trainer *t, sali_train_shard *shard)
{
    const int64_t V = t->model->space->n_variables;
    for (int64_t c = 0; c < shard->n; c++) {
        if (t->objective->row) {
            t->objective->row(t, shard->first + c, shard->codes + c * V);
        } else {
            sali_train_row(t, shard->first + c, shard->codes + c * V);
        }
    }
    sali_model_embed(t->model, shard->n, shard->codes, shard->x);
}

/* Gather the shard's part of the gradient, in its workspace or by the objective, and the sums of
 * f. */
static void gradient_shard(void *context, int64_t k)
{
    sal_trainer *t = context;
    sali_train_shard *shard = &t->shards[k];
    if (!t->data_gradient) {
        take_data(t, shard);
    }
    if (t->objective->gradient_shard) {
        shard->sum_data = t->objective->gradient_shard(t, k);
        return;
    }
    sali_workspace_param_zero(shard->ws);
    if (!t->data_gradient) {
        shard->sum_data = add_gradient(t, shard, shard->codes, shard->x, 1);
        sali_centring_gathered(&t->centring, t->tape->program, shard->ws, shard->means);
    }
    shard->sum_samples = add_gradient(t, shard, shard->chains->codes, shard->chains->x, -1);
}

/* Update the offsets of centring from the means over data and samples. */
static void follow_offsets(sal_trainer *t)
{
    sali_centring *c = &t->centring;
    if (c->n_offsets == 0) {
        return;
    }
    memset(c->means, 0, (size_t)c->n_offsets * sizeof *c->means);
    for (int64_t k = 0; k < t->n_shards; k++) {
        for (int64_t i = 0; i < c->n_offsets; i++) {
            c->means[i] += t->shards[k].means[i];
        }
    }
    sali_centring_follow(c, t->optimiser.updates, t->gradient);
}

/* Gather the mean gradient of f over every n_shards-th stretch of the rows, using the shard's room
 * for a batch. */
static void whole_data_shard(void *context, int64_t k)
{
    sal_trainer *t = context;
    sali_train_shard *shard = &t->shards[k];
    const int64_t V = t->model->space->n_variables, rows = t->data->rows;
    const int64_t stretch = t->options.batch / t->n_shards; /* fits into every shard */
    const double all = sali_data_weight(t->data);
    sali_workspace_param_zero(shard->ws);
    shard->sum_data = 0;
    for (int64_t first = k * stretch; first < rows; first += t->n_shards * stretch) {
        const int64_t n = rows - first < stretch ? rows - first : stretch;
        for (int64_t c = 0; c < n; c++) {
            sali_data_binarise(t->data, first + c, 0, 0, shard->codes + c * V);
            shard->weight[c] = (t->data->weight ? t->data->weight[first + c] : 1) / all;
        }
        sali_model_embed(t->model, n, shard->codes, shard->x);
        sali_workspace_param_gradient(shard->ws, n, shard->codes, shard->x, shard->weight,
                                      shard->f);
        for (int64_t c = 0; c < n; c++) {
            shard->sum_data += shard->weight[c] * shard->f[c];
        }
    }
}

sal_status sali_train_takes_whole_data(const sal_train_options *o, const sal_model *model,
                                       const sal_data *data, bool *takes, sal_error *err)
{
    const sali_objective *objective = sali_objective_of(o->objective);
    *takes = false;
    const bool wanted = objective->whole_data && !(objective->persistent && o->batch < data->rows);
    return !wanted || data->intensity || o->centring == SAL_CENTRING_ON || o->magnitude_penalty > 0
               ? SAL_OK
               : sali_program_is_linear_in_params(sali_model_tape(model)->program, takes, err);
}

sal_status sali_train_whole_data(sal_trainer *t, sal_error *err)
{
    bool linear = false;
    sal_status status = sali_train_takes_whole_data(&t->options, t->given, t->data, &linear, err);
    if (status == SAL_OK && linear) {
        t->data_gradient = SALI_TAKE(&t->memory, double, t->optimiser.n);
        status = t->data_gradient ? SAL_OK : sali_fail_memory(err);
    }
    status = sali_train_sync_status(t, status, err);
    if (status != SAL_OK || !linear) {
        return status;
    }
    sali_params_set(t->tape->params, t->data_gradient); /* zeros */
    sali_blas_single_thread_begin();
    sali_train_shards(t, NULL, whole_data_shard, t);
    sali_blas_single_thread_end();
    sali_train_reduce(t, t->workspaces, t->data_gradient);
    sali_train_sync_sums(t);
    for (int64_t k = 0; k < t->n_shards; k++) {
        t->data_constant += t->shards[k].sum_data;
    }
    sali_params_set(t->tape->params, t->values);
    return SAL_OK;
}

void sali_train_gradient(sal_trainer *t)
{
    const double unit = 1 / (double)t->options.batch;
    const sali_objective *o = t->objective;
    if (o->gradient_begin) {
        o->gradient_begin(t);
    }
    sali_train_shards(t, &t->gradient_pace, gradient_shard, t);
    sali_train_reduce(t, o->gathered ? o->gathered(t) : t->workspaces, t->gradient);
    sali_train_sync_sums(t);
    if (!o->gradient_shard) {
        follow_offsets(t);
    }
    for (int64_t i = 0; t->data_gradient && i < t->optimiser.n; i++) {
        t->gradient[i] += t->data_gradient[i];
    }
    t->sums.log_prob_data = 0;
    t->sums.log_prob_samples = t->sampler ? 0 : NAN;
    for (int64_t k = 0; k < t->n_shards; k++) {
        t->sums.log_prob_data += t->shards[k].sum_data * unit;
        t->sums.log_prob_samples += t->shards[k].sum_samples * unit;
    }
    if (t->data_gradient) {
        t->sums.log_prob_data = t->data_constant;
        for (int64_t i = 0; i < t->optimiser.n; i++) {
            t->sums.log_prob_data += t->values[i] * t->data_gradient[i];
        }
    }
}
