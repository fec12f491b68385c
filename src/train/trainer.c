/* A training from start to end: create, iterate, report. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/blas.h"
#include "core/error.h"
#include "core/shard.h"
#include "models/clamp.h"
#include "samplers/run.h"
#include "train/trainer.h"

/* ---- creation */

static sal_status create_shard(sal_trainer *t, int64_t k, sal_error *err)
{
    sali_train_shard *shard = &t->shards[k];
    const sal_space *space = t->model->space;
    sal_status status = SAL_OK;
    shard->first = sali_shard_first(t->options.batch, t->n_shards, k);
    shard->n = sali_shard_first(t->options.batch, t->n_shards, k + 1) - shard->first;
    shard->codes = SALI_NEW_ARRAY(int32_t, shard->n * space->n_variables);
    shard->x = sali_alloc(shard->n * space->width, sali_dtype_size(t->model->dtype));
    shard->weight = SALI_NEW_ARRAY(double, shard->n);
    shard->f = SALI_NEW_ARRAY(double, shard->n);
    if (!shard->codes || !shard->x || !shard->weight || !shard->f) {
        return sali_fail_memory(err);
    }
    if (t->sampler) {
        status = sali_chains_create(t->model, shard->n, sali_sampler_wants(t->sampler),
                                    t->options.seed, &shard->chains, err);
        status = status ? status
                        : sali_sampler_open(t->sampler, &t->settings, t->shared, shard->chains,
                                            &shard->self, err);
    }
    if (status == SAL_OK && t->sampler) {
        status = sali_workspace_create(t->tape->program, t->tape->params, shard->n,
                                       SALI_WANT_PARAM_GRADIENT, &shard->ws, err);
    }
    t->workspaces[k] = shard->ws;
    t->chains[k] = shard->chains;
    t->selves[k] = shard->self;
    return status;
}

static sal_status create_shards(sal_trainer *t, sal_error *err)
{
    bool coupled = t->sampler && t->sampler->flags & SALI_SAMPLER_COUPLED;
    sal_status status = SAL_OK;
    t->n_shards = coupled ? 1 : sali_shard_count(t->options.batch);
    t->shards = SALI_NEW_ARRAY(sali_train_shard, t->n_shards);
    t->workspaces = SALI_NEW_ARRAY(sali_workspace *, t->n_shards);
    t->chains = SALI_NEW_ARRAY(sali_chains *, t->n_shards);
    t->selves = SALI_NEW_ARRAY(void *, t->n_shards);
    if (!t->shards || !t->workspaces || !t->chains || !t->selves) {
        return sali_fail_memory(err);
    }
    for (int64_t k = 0; status == SAL_OK && k < t->n_shards; k++) {
        status = create_shard(t, k, err);
    }
    if (status == SAL_OK && !t->sampler) {
        status = sali_pseudo_likelihood_create(t->model, t->n_shards, t->shards[0].n,
                                               &t->pseudo_likelihood, err);
    }
    return status;
}

static sal_status create_sampler(sal_trainer *t, sal_error *err)
{
    const sal_train_options *o = &t->options;
    if (o->objective == SAL_PSEUDO_LIKELIHOOD) {
        return SAL_OK;
    }
    t->settings.preconditioner = o->preconditioner;
    sal_status status =
        sali_sampler_choose(o->sampler, t->model, o->step_size, &t->sampler, &t->settings, err);
    if (status == SAL_OK && t->sampler->share) {
        status = t->sampler->share(t->model, &t->settings, &t->shared, err);
    }
    if (status == SAL_OK && o->step_size == 0 && sali_sampler_adapts(t->sampler)) {
        t->follows = true;
        sali_adapt_begin(&t->step_size, t->model->space, t->settings.step_size);
    }
    return status;
}

static sal_status create_optimiser(sal_trainer *t, sal_error *err)
{
    const sal_train_options *o = &t->options;
    const int64_t n = t->tape->program->parameters_size;
    const sali_optimiser_kind kinds[] = {
        [SAL_ADAM] = SALI_ADAM, [SAL_ADAMW] = SALI_ADAMW, [SAL_SGD] = SALI_SGD
    };
    t->optimiser = (sali_optimiser){
        .kind = kinds[o->optimiser],
        .learning_rate = o->learning_rate,
        .weight_decay = o->weight_decay,
        .momentum = o->momentum,
        .beta2 = o->beta2,
        .epsilon = o->epsilon,
    };
    t->values = SALI_NEW_ARRAY(double, n);
    t->good = SALI_NEW_ARRAY(double, n);
    t->gradient = SALI_NEW_ARRAY(double, n);
    t->averages = o->averaging > 0 ? SALI_NEW_ARRAY(double, n) : NULL;
    bool ok = sali_optimiser_create(&t->optimiser, n) && t->values && t->good && t->gradient &&
              (t->averages || o->averaging == 0);
    if (ok && o->weight_decay > 0) {
        t->optimiser.decays = SALI_NEW_ARRAY(double, n);
        ok = t->optimiser.decays != NULL;
    }
    if (!ok) {
        return sali_fail_memory(err);
    }
    if (t->optimiser.decays) {
        sali_constraints_decays(&t->constraints, t->optimiser.decays);
    }
    return SAL_OK;
}

/* Parameters as they are, made to fulfil the constraints. */
static void start_values(sal_trainer *t)
{
    const size_t bytes = (size_t)t->optimiser.n * sizeof *t->values;
    sali_params_get(t->tape->params, t->values);
    sali_constraints_start(&t->constraints, t->values);
    sali_params_set(t->tape->params, t->values);
    memcpy(t->good, t->values, bytes);
    if (t->averages) {
        memcpy(t->averages, t->values, bytes);
    }
}

static sal_status prepare(sal_trainer *t, sal_error *err)
{
    sal_status status = sali_train_resolve(&t->options, t->model, t->data, err);
    status = status ? status : sali_constraints_create(&t->constraints, t->model, &t->options, err);
    status = status ? status : create_sampler(t, err);
    status = status ? status : create_optimiser(t, err);
    status = status ? status : create_shards(t, err);
    status = status ? status : sali_buffer_create(t, err);
    if (status == SAL_OK) {
        t->sampler_name = sali_strdup(t->options.sampler);
        t->directory = sali_strdup(t->options.checkpoint);
        status = t->sampler_name && (t->directory || !t->options.checkpoint)
                     ? SAL_OK
                     : sali_fail_memory(err);
    }
    if (status == SAL_OK) {
        t->fingerprint = sali_train_fingerprint(t->model, t->data, &t->options);
        status = t->fingerprint ? SAL_OK : sali_fail_memory(err);
    }
    t->options.sampler = t->sampler_name;
    t->options.checkpoint = t->directory;
    t->options.couplings = t->options.fixed = NULL;
    t->options.preconditioner = NULL;
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
    sal_trainer *t = SALI_NEW(sal_trainer);
    if (!t) {
        return sali_fail_memory(err);
    }
    t->model = model;
    t->tape = tape;
    t->data = data;
    t->options = options ? *options : (sal_train_options){ 0 };
    sal_status status = prepare(t, err);
    if (status != SAL_OK) {
        sal_trainer_destroy(t);
        return status;
    }
    start_values(t);
    *out = t;
    return SAL_OK;
}

static void free_shards(sal_trainer *t)
{
    for (int64_t k = 0; t->shards && k < t->n_shards; k++) {
        sali_train_shard *shard = &t->shards[k];
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
    sali_free(t->shards);
    sali_free(t->workspaces);
    sali_free(t->chains);
    sali_free(t->selves);
}

void sal_trainer_destroy(sal_trainer *t)
{
    if (!t) {
        return;
    }
    free_shards(t);
    if (t->shared) {
        t->sampler->unshare(t->shared);
    }
    sali_pseudo_likelihood_destroy(t->pseudo_likelihood);
    sali_buffer_free(&t->buffer);
    sali_constraints_free(&t->constraints);
    sali_optimiser_free(&t->optimiser);
    json_decref(t->fingerprint);
    sali_free(t->sampler_name);
    sali_free(t->directory);
    sali_free(t->values);
    sali_free(t->good);
    sali_free(t->gradient);
    sali_free(t->averages);
    sali_free(t);
}

/* ---- one iteration */

static double norm(int64_t n, const double *values)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) {
        sum += values[i] * values[i];
    }
    return sqrt(sum);
}

/* Exponential moving averages. Early on they are means of what there was: the decay at update t is
 * at most t / (t + 9). */
static void average(sal_trainer *t)
{
    double updates = (double)t->optimiser.updates;
    double decay = fmin(t->options.averaging, updates / (updates + 9));
    for (int64_t i = 0; t->averages && i < t->optimiser.n; i++) {
        t->averages[i] += (1 - decay) * (t->values[i] - t->averages[i]);
    }
}

static void update(sal_trainer *t)
{
    double share = t->iteration < t->options.rate_warmup
                       ? (double)(t->iteration + 1) / (double)t->options.rate_warmup
                       : 1;
    sali_constraints_gradient(&t->constraints, t->values, t->gradient);
    t->gradient_norm = norm(t->optimiser.n, t->gradient);
    sali_optimiser_update(&t->optimiser, share, t->gradient, t->values);
    average(t);
    sali_params_set(t->tape->params, t->values);
}

static sal_status diverged(sal_trainer *t, bool finite, sal_error *err)
{
    double difference = t->log_prob_data - t->log_prob_samples;
    sali_params_set(t->tape->params, t->good);
    return finite
               ? sali_fail(err, SAL_ERR_MODEL,
                           "training diverged at iteration %lld: mean f of the data less mean f "
                           "of the samples is %g; the parameters are those of iteration %lld; "
                           "try a smaller learning rate or more steps",
                           (long long)(t->iteration + 1), difference, (long long)t->good_iteration)
               : sali_fail(err, SAL_ERR_MODEL,
                           "training diverged at iteration %lld: f, its gradient or a parameter "
                           "is not finite; the parameters are those of iteration %lld; try a "
                           "smaller learning rate or more steps",
                           (long long)(t->iteration + 1), (long long)t->good_iteration);
}

/* Sampling, gradient, update. */
static sal_status iterate(sal_trainer *t, sal_error *err)
{
    bool good = true;
    double before = sali_now();
    sali_buffer_choose(t);
    sal_status status = t->sampler ? sali_train_sample(t, &good, err) : SAL_OK;
    if (status != SAL_OK) {
        return status;
    }
    double between = sali_now();
    sali_train_gradient(t);
    update(t);
    t->sampling_seconds += between - before;
    t->gradient_seconds += sali_now() - between;
    double difference = fabs(t->log_prob_data - t->log_prob_samples);
    good = good && isfinite(t->gradient_norm) && isfinite(norm(t->optimiser.n, t->values));
    if (!good || (t->sampler && !(difference <= t->options.largest_difference))) {
        return diverged(t, good && isfinite(difference), err);
    }
    t->iteration++;
    return SAL_OK;
}

/* ---- the whole */

int64_t sal_trainer_iteration(const sal_trainer *t)
{
    return t->iteration;
}

void sal_trainer_report(const sal_trainer *t, sal_train_report *report)
{
    double step_size = t->follows ? exp(t->step_size.log_step) : t->options.step_size;
    *report = (sal_train_report){
        .iteration = t->iteration,
        .iterations = t->options.iterations,
        .seconds = t->start > 0 ? sali_now() - t->start : 0,
        .log_prob_data = t->log_prob_data,
        .log_prob_samples = t->log_prob_samples,
        .acceptance_rate = t->accepted / t->moves,
        .mean_jump = t->jump / t->moves,
        .step_size = step_size,
        .gradient_norm = t->gradient_norm,
        .sampling_seconds = t->sampling_seconds,
        .gradient_seconds = t->gradient_seconds,
        .model = t->model,
        .averages = t->averages,
        .buffer = t->buffer.slots,
        .samples = t->buffer.slots > 0 ? t->buffer.codes : NULL,
    };
}

/* Whether the caller asks to stop. */
static bool show_progress(sal_trainer *t)
{
    sal_train_report report;
    if (!t->options.progress) {
        return false;
    }
    sal_trainer_report(t, &report);
    return t->options.progress(&report, t->options.progress_data) != 0;
}

static bool send_report(sal_trainer *t)
{
    sal_train_report report;
    sal_trainer_report(t, &report);
    t->accepted = t->jump = t->moves = 0;
    memcpy(t->good, t->values, (size_t)t->optimiser.n * sizeof *t->good);
    t->good_iteration = t->iteration;
    return t->options.report && t->options.report(&report, t->options.report_data) != 0;
}

static bool is_due(const sal_trainer *t, int64_t every)
{
    return t->iteration % every == 0 || t->iteration == t->options.iterations;
}

/* One iteration with all that follows it. A report comes before the checkpoint: then what the
 * checkpoint goes on from was reported. */
static sal_status advance(sal_trainer *t, bool *stopped, sal_error *err)
{
    const sal_train_options *o = &t->options;
    sal_status status = iterate(t, err);
    if (status != SAL_OK) {
        return status;
    }
    *stopped = show_progress(t);
    if (*stopped || is_due(t, o->report_every)) {
        *stopped |= send_report(t);
    }
    return t->directory && (*stopped || is_due(t, o->checkpoint_every))
               ? sal_trainer_save(t, t->directory, err)
               : SAL_OK;
}

sal_status sal_trainer_run(sal_trainer *t, int64_t count, sal_error *err)
{
    const int64_t last = t->options.iterations;
    const int64_t end = count < last - t->iteration ? t->iteration + count : last;
    sal_status status = SAL_OK;
    bool stopped = false;
    t->start = t->start > 0 ? t->start : sali_now();
    sali_blas_single_thread_begin();
    while (status == SAL_OK && !stopped && t->iteration < end) {
        status = advance(t, &stopped, err);
    }
    sali_blas_single_thread_end();
    return status;
}

sal_status sal_train(sal_model *model, const sal_data *data, const sal_train_options *options,
                     sal_error *err)
{
    sal_trainer *t = NULL;
    sal_status status = sal_trainer_create(model, data, options, &t, err);
    if (status == SAL_OK && t->options.resume) {
        status = sal_trainer_load(t, t->directory, err);
    }
    if (status == SAL_OK) {
        status = sal_trainer_run(t, t->options.iterations, err);
    }
    sal_trainer_destroy(t);
    return status;
}
