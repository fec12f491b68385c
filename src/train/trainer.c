/* SPDX-License-Identifier: MIT */
/* Creating a trainer, and its end. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <saltus/program.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/threads/shard.h"
#include "models/clamp.h"
#include "train/data.h"
#include "train/sync.h"

/* ---- creation */

const sal_model *sali_train_model_at(const sal_trainer *t, int64_t level)
{
    return t->levels ? t->levels->at[level] : t->model;
}

static void set_level(void *context, int64_t level)
{
    const sal_trainer *t = context;
    sali_params_set(sali_model_tape(sali_train_model_at(t, level))->params, t->values);
}

void sali_train_set_params(sal_trainer *t)
{
    if (t->levels) {
        sal_threads_run(t->levels->n, t->options.threads, set_level, t);
    } else {
        set_level(t, 0);
    }
}

void sali_train_start_at(sal_trainer *t)
{
    const size_t bytes = (size_t)t->optimiser.n * sizeof *t->values;
    sali_train_set_params(t);
    memcpy(t->good, t->values, bytes);
    if (t->averages) {
        memcpy(t->averages, t->values, bytes);
    }
}

const double *sali_train_shown(const sal_trainer *t)
{
    return t->levels && t->averages ? t->averages : t->values;
}

void sali_train_show_params(sal_trainer *t)
{
    if (t->levels) {
        sali_params_set(t->tape->params, sali_train_shown(t));
    }
}

void sali_train_forget_faults(sal_trainer *t)
{
    for (int64_t k = 0; t->sampler && k < t->n_shards; k++) {
        t->chains[k]->bad_chain = -1;
    }
}

/* Make shard k: its room for rows, its chains and its workspace. For a shard of another rank only
 * counters and codes of its chains. */
static sal_status create_shard(sal_trainer *t, int64_t k, sal_error *err)
{
    sali_train_shard *shard = &t->shards[k];
    const sal_space *space = t->model->space;
    const int64_t level = shard->level = k / (t->n_shards / sali_levels_count(t->levels));
    const sal_model *model = sali_train_model_at(t, level);
    const sali_tape_model *tape = sali_model_tape(model);
    const bool is_first = k % (t->n_shards / sali_levels_count(t->levels)) == 0; /* gets the sum */
    const unsigned wants = SALI_WANT_PARAM_GRADIENT | (is_first ? 0 : SALI_WANT_PARAM_PART);
    shard->first = t->row_begin[k];
    shard->n = t->row_begin[k + 1] - shard->first;
    shard->f = SALI_TAKE(&t->memory, double, shard->n);
    shard->means = SALI_TAKE(&t->memory, double, t->centring.n_offsets);
    if (!sali_ranks_own(&t->ranks, k)) {
        sal_status status = sali_memory_status(&t->memory, err);
        status = status || !t->sampler
                     ? status
                     : sali_chains_create_remote(model, shard->n, true, t->options.seed,
                                                 &shard->chains, err);
        t->chains[k] = shard->chains;
        return status;
    }
    shard->codes = SALI_TAKE(&t->memory, int32_t, shard->n * space->n_variables);
    shard->x =
        sali_memory_take(&t->memory, shard->n * space->width, sali_dtype_size(t->model->dtype));
    shard->weight = SALI_TAKE(&t->memory, double, shard->n);
    sal_status status = sali_memory_status(&t->memory, err);
    if (status == SAL_OK && t->sampler) {
        status = sali_chains_create(model, shard->n, sali_sampler_wants(t->sampler),
                                    t->options.seed, &shard->chains, err);
        status = status ? status
                        : sali_workspace_create(tape->program, tape->params, shard->n, wants,
                                                &shard->ws, err);
    }
    t->workspaces[k] = shard->ws;
    t->chains[k] = shard->chains;
    return status;
}

/* Parameter gradients of all shards of a level, in elements, that make no shards larger than usual;
 * and the shards that there may be in any case, so that processors have work. */
enum { GRADIENT_ROOM = 1 << 23, ENOUGH_SHARDS = 16 };

/* Shards of `rows` rows of one of `levels` levels. Each gathers a gradient as large as the
 * parameters. Where these are many, larger shards take less memory, and fewer sums. Several levels
 * keep processors busy with one shard each. */
static int64_t count_shards(const sal_trainer *t, int64_t rows, int64_t levels)
{
    const int64_t usual = levels > 1 && rows <= SALI_SHARD_TARGET ? 1 : sali_shard_count(rows);
    const int64_t room = GRADIENT_ROOM / t->tape->program->parameters_size / 2 * 2;
    const int64_t most = room > ENOUGH_SHARDS ? room : ENOUGH_SHARDS;
    return usual < most ? usual : most;
}

/* Divide the batch into shards, each of one level, and make them. A sampler that couples its chains
 * has one shard. */
static sal_status create_shards(sal_trainer *t, sal_error *err)
{
    bool coupled = t->sampler && sali_engine(t->sampler)->coupled;
    const int64_t levels = sali_levels_count(t->levels);
    t->n_shards = coupled ? 1 : levels * count_shards(t, t->options.batch / levels, levels);
    t->shards = SALI_TAKE(&t->memory, sali_train_shard, t->n_shards);
    t->workspaces = SALI_TAKE(&t->memory, sali_workspace *, t->n_shards);
    t->chains = SALI_TAKE(&t->memory, sali_chains *, t->n_shards);
    sal_status status = sali_memory_status(&t->memory, err);
    status = status ? status : sali_train_sync_create(t, err);
    for (int64_t k = 0; status == SAL_OK && k < t->n_shards; k++) {
        status = create_shard(t, k, err);
    }
    return status;
}

sal_status sali_train_open_sampler(sal_trainer *t, sali_train_sampler *state, sal_error *err)
{
    *state = (sali_train_sampler){ .selves = SALI_NEW_ARRAY(void *, t->n_shards) };
    sal_status status = state->selves ? SAL_OK : sali_fail_memory(err);
    status = status ? status
                    : sali_sampler_share(t->sampler, t->model, &t->settings, &state->shared, err);
    for (int64_t k = t->ranks.first; status == SAL_OK && k < t->ranks.end; k++) {
        status = sali_sampler_open(t->sampler, &t->settings, state->shared, t->chains[k],
                                   &state->selves[k], err);
    }
    return status;
}

void sali_train_close_sampler(const sal_trainer *t, sali_train_sampler *state)
{
    for (int64_t k = 0; state->selves && k < t->n_shards; k++) {
        sali_sampler_close(t->sampler, state->selves[k]);
    }
    sali_sampler_unshare(t->sampler, state->shared);
    sali_free(state->selves);
    *state = (sali_train_sampler){ 0 };
}

/* Options that outlive this call: loading a checkpoint needs the preconditioner again. */
static sal_status keep_options(sal_trainer *t, sal_error *err)
{
    sal_train_options *o = &t->options;
    const int64_t N = t->model->space->width;
    o->sampler = sali_memory_text(&t->memory, o->sampler);
    o->checkpoint.directory = sali_memory_text(&t->memory, o->checkpoint.directory);
    if (o->preconditioner) {
        o->preconditioner =
            sali_memory_copy(&t->memory, o->preconditioner, N * N, sizeof *o->preconditioner);
    }
    return sali_memory_status(&t->memory, err);
}

/* Choose the sampler, unless the objective needs no samples, and decide whether its step size is
 * adapted. */
static sal_status choose_sampler(sal_trainer *t, sal_error *err)
{
    const sal_train_options *o = &t->options;
    const int64_t N = t->model->space->width;
    if (t->objective->chains(o) == 0) {
        return SAL_OK;
    }
    sal_status status = sali_sampler_choose_from(o->own_samplers, o->sampler, t->model,
                                                 o->step_size, &t->sampler, &t->settings, err);
    if (status == SAL_OK && t->objective->check_sampler) {
        status = t->objective->check_sampler(t->sampler, err);
    }
    if (status == SAL_OK && o->preconditioner && !sali_engine(t->sampler)->preconditioned) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: a preconditioner is given, which %s does not take; pavg does",
                         t->sampler->name);
    }
    t->settings.preconditioner = o->preconditioner;
    /* Preparations that cost N gradients at each change of parameters pay off only if many more
     * steps lie between two changes. */
    t->settings.training = (double)o->batch * (double)o->steps < 4 * (double)N;
    t->follows = status == SAL_OK && o->step_size == 0 && sali_sampler_adapts(t->sampler);
    status = t->follows ? sali_sampler_check_adapts(t->sampler, &t->settings, err) : status;
    if (!t->follows || status != SAL_OK) {
        return status;
    }
    const sal_space *space = t->model->space;
    const double most = sali_engine(t->sampler)->most_step * sali_default_step_size(space, 1);
    status = sali_adapt_begin(&t->step_size, &t->memory, sali_levels_count(t->levels), space,
                              t->settings.step_size, err);
    if (most > 0 && t->levels) { /* beyond this the reverse proposal would be too long */
        t->step_size.high = fmin(t->step_size.high, log(most));
    }
    return status;
}

/* Find the couplings whose gradient is centred. options.centring then tells what is centred: OFF
 * nothing, AUTO an RBM's couplings, ON symmetric couplings too. The default leaves symmetric
 * couplings out, because centring them makes Adam slower where biases start far from what the data
 * want. Where the gradients by biases are not means over data and samples, nothing is centred. */
static sal_status create_centring(sal_trainer *t, sal_error *err)
{
    const sal_train_options *o = &t->options;
    char objective[64];
    snprintf(objective, sizeof objective, "objective %s", sali_objective_words[o->objective]);
    const char *against = !t->sampler                ? objective
                          : t->levels                ? objective
                          : o->magnitude_penalty > 0 ? "magnitude_penalty"
                                                     : NULL;
    const bool must = o->centring == SAL_CENTRING_ON;
    sal_status status = SAL_OK;
    if (must && against) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "train: centring does not go with %s", against);
    }
    if (o->centring != SAL_CENTRING_OFF && !against) {
        status = sali_centring_create(&t->centring, &t->memory, t->tape->program, must,
                                      t->constraints.learned, err);
    }
    if (status == SAL_OK && must && t->centring.n_couplings == 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: centring needs couplings with a learned bias on both sides, as in "
                         "sum softplus(W s + c) + b's or s'Js + b's; %s has none",
                         t->model->name);
    }
    bool symmetric = false;
    for (int64_t k = 0; k < t->centring.n_couplings; k++) {
        symmetric |= t->centring.couplings[k].symmetric;
    }
    t->options.centring = t->centring.n_couplings == 0 ? SAL_CENTRING_OFF
                          : symmetric                  ? SAL_CENTRING_ON
                                                       : SAL_CENTRING_AUTO;
    return status;
}

/* Make the optimiser by the options, and the arrays of parameters: values, gradients, averages. */
static sal_status create_optimiser(sal_trainer *t, sal_error *err)
{
    const sal_train_options *o = &t->options;
    const int64_t n = t->tape->program->parameters_size;
    const sali_optimiser_kind kinds[] = {
        [SAL_ADAM] = SALI_ADAM, [SAL_ADAMW] = SALI_ADAMW, [SAL_SGD] = SALI_SGD
    };
    t->optimiser = (sali_optimiser){
        .kind = kinds[o->optimiser.method],
        .learning_rate = o->learning_rate,
        .weight_decay = o->optimiser.weight_decay,
        .momentum = fmax(o->optimiser.momentum, 0),
        .beta2 = fmax(o->optimiser.beta2, 0),
        .epsilon = o->optimiser.epsilon,
    };
    t->values = SALI_TAKE(&t->memory, double, n);
    t->good = SALI_TAKE(&t->memory, double, n);
    t->gradient = SALI_TAKE(&t->memory, double, n);
    t->part = t->levels ? SALI_TAKE(&t->memory, double, n) : NULL;
    t->averages = o->averaging > 0 ? SALI_TAKE(&t->memory, double, n) : NULL;
    bool ok = sali_optimiser_create(&t->optimiser, n);
    if (ok && o->optimiser.weight_decay > 0) {
        t->optimiser.decays = SALI_NEW_ARRAY(double, n);
        ok = t->optimiser.decays != NULL;
    }
    if (!ok || t->memory.refused) {
        return sali_fail_memory(err);
    }
    if (t->optimiser.decays) {
        sali_constraints_decays(&t->constraints, t->optimiser.decays);
    }
    return SAL_OK;
}

/* Begin at the model's present parameters, changed to satisfy the constraints. */
static void start_values(sal_trainer *t)
{
    sali_params_get(t->tape->params, t->values);
    sali_constraints_start(&t->constraints, t->values);
    sali_sparsity_start(&t->sparsity, &t->constraints, t->values);
    sali_train_start_at(t);
}

/* Room for the best parameters by held-out rows, if the objective judges by them. */
static sal_status create_best(sal_trainer *t, sal_error *err)
{
    const sal_data *test = t->options.ptt.test;
    if (!t->objective->judge || !test || test->rows == 0) {
        return SAL_OK;
    }
    sal_status status = sali_data_check("the held-out rows", test, t->model->space, err);
    if (status != SAL_OK) {
        return status;
    }
    t->best = SALI_TAKE(&t->memory, double, t->optimiser.n);
    t->best_likelihood = -INFINITY;
    return sali_memory_status(&t->memory, err);
}

/* Set t->model, the model over the data's variables, and with an objective of levels t->levels. */
static sal_status open_levels(sal_trainer *t, sal_error *err)
{
    t->model = t->given;
    if (!t->objective->levels) {
        return SAL_OK;
    }
    sal_status status = sali_levels_create(t->given, &t->model, err);
    t->levels = status == SAL_OK ? sali_model_levels(t->model) : NULL;
    return status ? sali_fail_prefix(err, status, "train: objective %s",
                                     sali_objective_words[t->options.objective])
                  : SAL_OK;
}

/* Make everything of a trainer except the objective's own part. Afterwards t->options has no
 * pointers of the caller's that it does not need. */
static sal_status prepare_trainer(sal_trainer *t, sal_error *err)
{
    t->objective = sali_objective_of(t->options.objective);
    sal_status status = open_levels(t, err);
    status = status ? status : sali_train_resolve(&t->options, t->model, t->data, err);
    status = status
                 ? status
                 : sali_constraints_create(&t->constraints, &t->memory, t->given, &t->options, err);
    status = status ? status : keep_options(t, err);
    status = status ? status : choose_sampler(t, err);
    status = status ? status : create_centring(t, err);
    status = status ? status : create_optimiser(t, err);
    status = status ? status : create_shards(t, err);
    if (status == SAL_OK && t->sampler) {
        status = sali_train_open_sampler(t, &t->state, err);
    }
    status = status ? status : sali_buffer_create(t, err);
    status = status ? status : create_best(t, err);
    status = status ? status : sali_pearson_create(t, err);
    status = status ? status
                    : sali_sparsity_create(&t->sparsity, &t->memory, t->given, &t->options,
                                           &t->constraints, &t->pairs.of, &t->pairs.data,
                                           &t->pairs.samples, sali_data_weight(t->data), err);
    if (status == SAL_OK) {
        t->fingerprint = sali_train_fingerprint(t->given, t->data, &t->options);
        status = t->fingerprint ? SAL_OK : sali_fail_memory(err);
    }
    t->options.couplings.names = t->options.fixed = NULL;
    t->options.own_samplers = NULL;
    return status;
}

sal_status sal_trainer_create(sal_model *model, const sal_data *data,
                              const sal_train_options *options, sal_trainer **out, sal_error *err)
{
    if (!model || !data || !out) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_trainer_create: the model, the data or the trainer are NULL");
    }
    sali_tape_model *tape = sali_model_tape(model);
    if (!tape || tape->program->n_parameters == 0) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED, "train: %s has no parameters", model->name);
    }
    if (sali_clamp_inner(model) != model) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED, "train: %s has clamped variables", model->name);
    }
    sal_status free = sali_space_check_free(model->space, model->name, "training", err);
    if (free != SAL_OK) {
        return free;
    }
    sal_trainer *t = SALI_NEW(sal_trainer);
    sal_status status =
        sal_comm_agree(options ? options->comm : NULL, t ? SAL_OK : sali_fail_memory(err), err);
    if (status != SAL_OK) {
        sali_free(t);
        return status;
    }
    t->now.log_z = t->now.log_z_error = t->now.log_likelihood = t->now.pearson = NAN;
    t->model = t->given = model;
    t->tape = tape;
    t->data = data;
    t->options = options ? *options : (sal_train_options){ 0 };
    if (sal_comm_rank(t->options.comm) > 0) {
        t->options.callbacks = (sal_train_callbacks){ 0 };
    }
    status = sali_train_sync_status(t, prepare_trainer(t, err), err);
    if (status == SAL_OK) {
        start_values(t);
        status = sali_train_sync_compare(t, err);
        status = status ? status : sali_train_whole_data(t, err);
    }
    if (status == SAL_OK && t->objective->create) {
        status = t->objective->create(t, err);
    }
    status = sali_train_sync_status(t, status, err);
    return SALI_GIVE(status, t, out, sal_trainer_destroy);
}

void sal_trainer_destroy(sal_trainer *t)
{
    if (!t) {
        return;
    }
    if (t->own) {
        t->objective->destroy(t);
    }
    sali_train_close_sampler(t, &t->state);
    for (int64_t k = 0; t->shards && k < t->n_shards; k++) {
        sali_chains_destroy(t->shards[k].chains);
        sali_workspace_destroy(t->shards[k].ws);
    }
    sali_optimiser_free(&t->optimiser);
    json_decref(t->fingerprint);
    json_decref(t->resumes);
    if (t->levels) {
        sal_model_destroy(t->model);
    }
    sali_memory_free(&t->memory);
    sali_free(t);
}
