/* SPDX-License-Identifier: MIT */
/* Iterations, and the reports and checkpoints between them. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/vector/blas.h"
#include "core/error.h"
#include "core/clock.h"
#include "train/sync.h"

/* ---- one iteration */

/* The Euclidean norm of values [n]. */
static double norm(int64_t n, const double *values)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) {
        sum += values[i] * values[i];
    }
    return sqrt(sum);
}

/* Update the exponential moving averages. Early on they are means of all updates: the decay at
 * update t is at most t / (t + 9). */
static void average_values(sal_trainer *t)
{
    /* with levels a training may go back; then the optimiser forgets its updates, but averages
     * stay */
    double updates = (double)(t->levels ? t->iteration + 1 : t->optimiser.updates);
    double decay = fmin(t->options.averaging, updates / (updates + 9));
    for (int64_t i = 0; t->averages && i < t->optimiser.n; i++) {
        t->averages[i] += (1 - decay) * (t->values[i] - t->averages[i]);
    }
}

/* Scale a gradient that is longer than clip_norm to that length; leave a gradient that is not
 * finite. */
static void clip_gradient(sal_trainer *t)
{
    const double most = t->options.optimiser.clip_norm, length = t->sums.gradient_norm;
    if (most > 0 && length > most && isfinite(length)) {
        const double share = most / length;
        for (int64_t i = 0; i < t->optimiser.n; i++) {
            t->gradient[i] *= share;
        }
    }
}

static double cooldown_share(const sal_train_options *o, int64_t iteration)
{
    const double left = (double)(o->iterations - iteration);
    const double falling = left / (o->rate.cooldown * (double)o->iterations);
    return o->rate.cooldown > 0 ? fmin(fmax(falling, 0), 1) : 1;
}

/* The share of the learning rate that the schedule leaves since the end of the rate's warm-up. */
static double schedule_share(const sal_train_options *o, int64_t iteration)
{
    const int64_t T = o->iterations - o->rate.warmup, over = iteration - o->rate.warmup;
    const double t = over > 0 && T > 0 ? fmin((double)over / (double)T, 1) : 0;
    switch (o->rate.schedule) {
    case SAL_RATE_CONSTANT:
        return 1;
    case SAL_RATE_COSINE:
        return (1 + cos(M_PI * t)) / 2;
    case SAL_RATE_EXPONENTIAL:
        return pow(0.01, t);
    }
    return 1;
}

double sali_train_rate_share(const sal_trainer *t, int64_t iteration)
{
    const sal_train_options *o = &t->options;
    const double made = (double)iteration + 1;
    const double rising = made < (double)o->rate.warmup ? made / (double)o->rate.warmup : 1;
    return fmin(rising, cooldown_share(o, iteration)) * schedule_share(o, iteration);
}

/* One update of the parameters along t->gradient, within the constraints. */
static void update_values(sal_trainer *t)
{
    const double share = sali_train_rate_share(t, t->iteration);
    sali_centring_gradient(&t->centring, t->gradient);
    sali_constraints_gradient(&t->constraints, t->values, t->gradient);
    t->sums.gradient_norm = norm(t->optimiser.n, t->gradient);
    clip_gradient(t);
    sali_centring_before(&t->centring, t->values);
    sali_optimiser_update(&t->optimiser, share, t->gradient, t->values);
    sali_constraints_shrink(
        &t->constraints, share * t->optimiser.learning_rate / t->options.learning_rate, t->values);
    sali_centring_after(&t->centring, t->values);
    average_values(t);
    sali_train_set_params(t);
}

/* End the trainer's use after a failure: the model receives the best parameters, or the last good
 * ones. */
static void give_up(sal_trainer *t)
{
    sali_params_set(t->tape->params, t->best && isfinite(t->best_likelihood) ? t->best : t->good);
    t->failed = true;
}

/* Give up, with the error that training diverged; `finite`: because mean f of data and samples
 * differ too much, else because a number is not finite. */
static sal_status report_divergence(sal_trainer *t, bool finite, sal_error *err)
{
    double difference = t->sums.log_prob_data - t->sums.log_prob_samples;
    give_up(t);
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

/* Whether all parameters are numbers of the model's type. */
static bool values_fit_type(const sal_trainer *t)
{
    return norm(t->optimiser.n, t->values) <= (t->model->dtype == SAL_F32 ? FLT_MAX : DBL_MAX);
}

/* One iteration: sample, compute the gradient, update the parameters, and check that all numbers
 * are sound. */
static sal_status make_iteration(sal_trainer *t, sal_error *err)
{
    bool good = true;
    double before = sali_now();
    sali_buffer_choose(t);
    sal_status status = t->sampler ? sali_train_sample(t, &good, err) : SAL_OK;
    if (status != SAL_OK) {
        t->failed = true;
        return status;
    }
    double between = sali_now();
    sali_train_gradient(t);
    update_values(t);
    t->sampling_seconds += between - before;
    t->gradient_seconds += sali_now() - between;
    double difference = fabs(t->sums.log_prob_data - t->sums.log_prob_samples);
    good = good && isfinite(t->sums.gradient_norm) && values_fit_type(t);
    bool finite = good && isfinite(t->sampler ? difference : t->sums.log_prob_data);
    good = finite && !(t->sampler && difference > t->options.largest_difference);
    if (!good && !t->objective->after) {
        return report_divergence(t, finite, err);
    }
    t->iteration++;
    status = t->objective->after ? t->objective->after(t, good, err) : SAL_OK;
    status = sali_train_sync_status(t, status, err);
    if (status != SAL_OK) {
        give_up(t);
    }
    return status;
}

/* ---- the whole */

/* The step size in use; 0: the sampler has none. */
double sali_train_step_size(const sal_trainer *t)
{
    if (!t->sampler || !t->sampler->has_step_size) {
        return 0;
    }
    return t->follows ? exp(t->step_size.log_step[0]) : t->settings.step_size;
}

void sal_trainer_report(const sal_trainer *t, sal_train_report *report)
{
    const sali_train_sums *s = &t->sums;
    const int64_t last = t->iteration > 0 ? t->iteration - 1 : 0;
    *report = (sal_train_report){
        .iteration = t->iteration,
        .iterations = t->options.iterations,
        .seconds = t->start > 0 ? sali_now() - t->start : 0,
        .log_prob_data = s->log_prob_data,
        .log_prob_samples = s->log_prob_samples,
        .acceptance_rate = s->moves > 0 ? s->accepted / s->moves : NAN,
        .mean_jump = s->moves > 0 ? s->jump / s->moves : NAN,
        .step_size = sali_train_step_size(t),
        .gradient_norm = s->gradient_norm,
        .learning_rate = t->optimiser.learning_rate * sali_train_rate_share(t, last),
        .swap_rate = NAN,
        .log_z = t->now.log_z,
        .log_z_error = t->now.log_z_error,
        .log_likelihood = t->now.log_likelihood,
        .pearson = t->now.pearson,
        .pearson_limit = t->pairs.limit,
        .density = sali_sparsity_density(&t->sparsity),
        .reached = t->reached,
        .best = t->worse == 0,
        .sampling_seconds = t->sampling_seconds,
        .gradient_seconds = t->gradient_seconds,
        .resumed_with = t->resumed_with[0] ? t->resumed_with : NULL,
        .model = t->given,
        .averages = t->levels ? NULL : t->averages,
        .buffer = t->buffer.slots,
        .samples = t->buffer.slots > 0 ? t->buffer.codes : NULL,
    };
    if (t->objective->report) {
        t->objective->report(t, report);
    }
}

bool sali_train_show_progress(sal_trainer *t)
{
    sal_train_report report;
    if (!t->options.callbacks.progress) {
        return false;
    }
    sal_trainer_report(t, &report);
    sali_model_release(t->given); /* a callback may set parameters */
    const int stop = t->options.callbacks.progress(&report, t->options.callbacks.progress_data);
    sali_model_use(t->given);
    return stop != 0;
}

/* Judge the model by the held-out rows, and note whether they have never been more likely. Only
 * reports that are `due` count, so that a training that was stopped in between ends as if it had
 * not been. */
static sal_status judge_held_out(sal_trainer *t, bool due, sal_error *err)
{
    const bool asked = !t->objective->slow_judge || t->options.ptt.patience > 0;
    if (!t->objective->judge || !asked) {
        t->now.log_likelihood = NAN; /* a resumed training may have had one */
        t->best_likelihood = -INFINITY;
        t->worse = 0;
        return SAL_OK;
    }
    sal_status status = t->objective->judge(t, err);
    if (status != SAL_OK) {
        return status;
    }
    if (due && t->best && t->now.log_likelihood > t->best_likelihood) {
        t->best_likelihood = t->now.log_likelihood;
        t->best_iteration = t->iteration;
        memcpy(t->best, sali_train_shown(t), (size_t)t->optimiser.n * sizeof *t->best);
        t->worse = 0;
    } else if (due && t->best) {
        t->worse++;
    }
    return SAL_OK;
}

/* Send a report, and make the present parameters the last good ones. Returns what the callback
 * returns: not 0 stops the training. */
static int send_report(sal_trainer *t, bool due)
{
    sal_train_report report;
    sal_trainer_report(t, &report);
    if (!due) { /* a report that is not due is not judged; its model is saved if no model has been
                   judged */
        report.best = !t->best || !isfinite(t->best_likelihood);
    }
    t->sums.accepted = t->sums.jump = t->sums.moves = 0;
    memcpy(t->good, t->values, (size_t)t->optimiser.n * sizeof *t->good);
    t->good_iteration = t->iteration;
    if (!t->options.callbacks.report) {
        return 0;
    }
    sali_model_release(t->given);
    const int stop = t->options.callbacks.report(&report, t->options.callbacks.report_data);
    sali_model_use(t->given);
    return stop;
}

static bool is_due(const sal_trainer *t, int64_t every)
{
    return t->iteration % every == 0 || t->iteration == t->options.iterations;
}

/* Whether the samples have the correlation, and the couplings the density, at which training ends.
 */
static bool has_reached(const sal_trainer *t)
{
    const double target = t->options.pearson;
    return target > 0 && t->now.pearson >= target && sali_sparsity_is_done(&t->sparsity);
}

/* A step of sparsity, which changes what couplings are active unless training ends here. Returns
 * whether it does. */
static bool step_couplings(sal_trainer *t)
{
    const sali_optimiser *o = &t->optimiser;
    double *const arrays[] = { t->values, o->m, o->kind == SALI_SGD ? NULL : o->v, t->averages };
    sali_pearson_measure(t);
    if (has_reached(t)) {
        return true;
    }
    const bool near = t->options.pearson > 0 && t->now.pearson >= t->options.pearson;
    if (sali_sparsity_step(&t->sparsity, &t->constraints, near, 4, arrays)) {
        sali_train_set_params(t);
    }
    return false;
}

/* One iteration, and the report and the checkpoint that follow it. The report comes first, so that
 * a training resumed from the checkpoint need not repeat it. */
static sal_status advance_training(sal_trainer *t, bool *stopped, sal_error *err)
{
    const sal_train_options *o = &t->options;
    sal_status status = make_iteration(t, err);
    if (status != SAL_OK) {
        return status;
    }
    bool lost = false;
    const bool step = sali_sparsity_is_time(&t->sparsity, t->iteration);
    t->reached = step && step_couplings(t);
    *stopped = sali_train_show_progress(t);
    sali_train_sync_answer(t, stopped, &lost);
    const bool due = t->reached || is_due(t, o->report_every);
    if (*stopped || due) {
        sali_train_show_params(t); /* the parameters that are judged and reported */
        sali_pearson_measure(t);
        t->reached |= !step && has_reached(t);
        status = sali_train_sync_status(t, judge_held_out(t, due, err), err);
        if (status != SAL_OK) {
            give_up(t);
            return status;
        }
        const int answer = send_report(t, due);
        lost = answer < 0;
        *stopped |= answer != 0;
        *stopped |= o->ptt.patience > 0 && t->worse >= o->ptt.patience;
        *stopped |= t->reached;
        sali_train_sync_answer(t, stopped, &lost);
    }
    return o->checkpoint.directory && !lost && (*stopped || is_due(t, o->checkpoint.every))
               ? sal_trainer_save(t, o->checkpoint.directory, err)
               : SAL_OK;
}

sal_status sal_trainer_run(sal_trainer *t, int64_t count, sal_error *err)
{
    const int64_t last = t->options.iterations;
    const int64_t end = count < last - t->iteration ? t->iteration + count : last;
    sal_status status = SAL_OK;
    bool stopped = false;
    if (t->failed) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: this trainer has failed; create another one, or load a "
                         "checkpoint");
    }
    t->start = t->start > 0 ? t->start : sali_now();
    sali_model_use(t->given);
    sali_blas_single_thread_begin();
    if (t->objective->begin) {
        status = sali_train_sync_status(t, t->objective->begin(t, &stopped, err), err);
        if (status != SAL_OK) {
            give_up(t);
        }
    }
    while (status == SAL_OK && !stopped && t->iteration < end) {
        status = advance_training(t, &stopped, err);
    }
    if (status == SAL_OK) {
        sali_train_show_params(t);
    }
    sali_blas_single_thread_end();
    sali_model_release(t->given);
    return status;
}

sal_status sal_train(sal_model *model, const sal_data *data, const sal_train_options *options,
                     sal_error *err)
{
    sal_trainer *t = NULL;
    sal_status status = sal_trainer_create(model, data, options, &t, err);
    if (status == SAL_OK && t->options.checkpoint.resume) {
        status = sal_trainer_load(t, t->options.checkpoint.directory, err);
    }
    if (status == SAL_OK) {
        status = sal_trainer_run(t, t->options.iterations, err);
    }
    if (status == SAL_OK && t->best && isfinite(t->best_likelihood)) {
        sali_params_set(t->tape->params, t->best);
    }
    sal_trainer_destroy(t);
    return status;
}
