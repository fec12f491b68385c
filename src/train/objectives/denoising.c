/* SPDX-License-Identifier: MIT */
/* The log-likelihood of each level of a denoising chain of conditional energies: a row of data with
 * the noise of t levels is x_t, with the noise of one more level x_(t+1). Chains start at x_(t+1)
 * and move by f_t + log q(x_(t+1) | x_t); the gradient is that of f_t(x_t) minus f_t of the chains.
 * Rows of the batch are of all levels in equal shares. Gao, Song, Poole, Wu & Kingma 2021. */
#include "train/objectives/denoising.h"

#include <math.h>
#include <string.h>

#include <saltus/evaluate.h>
#include "core/alloc.h"
#include "core/error.h"

/* Rows of a level in a batch, and steps at the last level. */
enum { ROWS = 18, STEPS = 4 };

/* The levels of a model, whose own record of them may not exist yet. */
static int64_t count_levels(const sal_model *model)
{
    const sali_levels *levels = sali_model_levels(model);
    return levels ? levels->n : sal_model_levels(model);
}

static void defaults(sal_train_options *options, const sal_model *model)
{
    options->sampler = options->sampler ? options->sampler : "dlmcf:balance=barker";
    options->steps = options->steps ? options->steps : STEPS;
    options->batch = options->batch ? options->batch : ROWS * count_levels(model);
}

static void fit_rows(sal_train_options *options, const sal_model *model, int64_t rows)
{
    const int64_t T = count_levels(model);
    if (rows < options->batch && T > 0) {
        options->batch = rows < T ? T : rows / T * T;
    }
}

static int64_t chains(const sal_train_options *options)
{
    return options->batch;
}

/* SAL_ERR_ARGUMENT if options do not go with this objective, or the batch is no multiple of the
 * levels. */
static sal_status check(const sal_train_options *options, const sal_model *model, sal_error *err)
{
    const sali_levels *levels = sali_model_levels(model);
    const char *what = options->magnitude_penalty > 0 ? "a magnitude_penalty"
                       : options->preconditioner      ? "a preconditioner"
                                                      : NULL;
    if (what) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "train: %s does not go with objective denoising",
                         what);
    }
    return options->batch % levels->n == 0
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "train: a batch of %lld rows for %lld levels; expected a multiple",
                           (long long)options->batch, (long long)levels->n);
}

static sal_status check_sampler(const sal_sampler_descriptor *sampler, sal_error *err)
{
    return sali_check_field_sampler(sampler, "train: ", err);
}

/* *noise receives the default noise of as many levels as the model has, with a base fitted to the
 * data. */
static sal_status make_noise(const sal_trainer *t, sali_noise **noise, sal_error *err)
{
    const sal_space *space = t->model->space;
    const int64_t T = t->levels->n;
    double *keep = SALI_NEW_ARRAY(double, T + 1);
    double *log_base = SALI_NEW_ARRAY(double, space->n_states);
    sal_status status = keep && log_base ? SAL_OK : sali_fail_memory(err);
    status = status ? status : sal_base_fit(space, t->data, log_base, err);
    if (status == SAL_OK) {
        sali_noise_usual(T, keep);
        status = sali_noise_create(space, T, keep, log_base, noise, err);
    }
    sali_free(keep);
    sali_free(log_base);
    return status;
}

/* Sampler steps at a level: the default, plus as many more for each of `times` that the level ran
 * away. */
static int64_t steps_at(const sal_trainer *t, int64_t level, int64_t times)
{
    const double usual = (double)t->options.steps * sali_noise_usual_steps(t->levels->n, level);
    return (int64_t)fmax(1, rint(usual)) * (1 + times);
}

/* Set own->path: the noise, and the steps of each level. */
static sal_status make_path(sal_trainer *t, sali_denoising_training *own, sal_error *err)
{
    const int64_t T = t->levels->n;
    sali_noise *noise = NULL;
    int64_t *steps = SALI_NEW_ARRAY(int64_t, T);
    sal_status status = steps ? make_noise(t, &noise, err) : sali_fail_memory(err);
    for (int64_t l = 0; status == SAL_OK && l < T; l++) {
        steps[l] = steps_at(t, l, 0);
    }
    if (status == SAL_OK) {
        own->path =
            sali_trajectory_of_noise(t->optimiser.n, noise, steps, NULL, t->options.sampler);
        status = own->path ? SAL_OK : sali_fail_memory(err);
    }
    sali_free(steps);
    return status;
}

/* ---- trainings that run away */

/* Iterations over which a gap is averaged, iterations between two copies, how often training may go
 * back in all, and how often it does so without a smaller learning rate. */
enum { MEMORY = 20, BETWEEN = 50, MOST_TIMES = 10, TIMES_AT_FULL_RATE = 2 };

/* The gap in nats at which training goes back. In a sound training averages stay below half of it.
 * It grows with the number of variables, as f does, and with f the lag of the chains in a fast
 * beginning. */
static double largest_gap(const sal_trainer *t)
{
    return fmax(4, (double)t->data->variables / 64);
}

static void follow_times(sal_trainer *t)
{
    sali_denoising_training *own = t->own;
    for (int64_t l = 0; l < t->levels->n; l++) {
        own->path->noise_steps[l] = steps_at(t, l, own->back.times[l]);
    }
}

/* Copy parameters, averages and step sizes to copy number `which`, of which two are kept; or with
 * `back` from that copy into the trainer. */
static void copy_values(sal_trainer *t, bool back, int64_t which)
{
    sali_denoising_training *own = t->own;
    const int64_t n = t->optimiser.n, T = t->levels->n;
    double *const now[] = { t->values, t->averages, t->follows ? t->step_size.log_step : NULL };
    double *const kept[] = { own->back.values, own->back.averages, own->back.log_step };
    const int64_t sizes[] = { n, n, T };
    for (int k = 0; k < 3; k++) {
        double *at = now[k] ? kept[k] + which % 2 * sizes[k] : NULL;
        if (at) {
            memcpy(back ? now[k] : at, back ? at : now[k], (size_t)sizes[k] * sizeof *at);
        }
    }
}

/* Go back to the older copy. The chains of `level`, whose energy turned rough, get more steps. The
 * learning rate is halved where more steps were not enough, and where no level is known (`level`
 * -1), because numbers are not finite or f differs too much. SAL_ERR_MODEL: too often. */
static sal_status go_back(sal_trainer *t, int64_t level, sal_error *err)
{
    sali_denoising_training *own = t->own;
    if (++own->back.all > MOST_TIMES) {
        return sali_fail(
            err, SAL_ERR_MODEL,
            "training diverged at iteration %lld: f of the data ran away from f of the "
            "chains %d times, the last with learning rate %g; the parameters are those "
            "of the last report; try a smaller learning rate or more steps",
            (long long)t->iteration, MOST_TIMES, t->optimiser.learning_rate);
    }
    copy_values(t, true, own->back.copies); /* to the older copy, which becomes the other one too */
    copy_values(t, false, own->back.copies + 1);
    memset(own->back.gap, 0, (size_t)t->levels->n * sizeof *own->back.gap);
    sali_train_set_params(t);
    sali_optimiser_forget(&t->optimiser);
    if (level < 0 || own->back.all > TIMES_AT_FULL_RATE) {
        t->optimiser.learning_rate /= 2;
    }
    if (level >= 0) {
        own->back.times[level]++;
        follow_times(t);
    }
    sali_train_forget_faults(t);
    return SAL_OK;
}

/* Update the moving average of each level's gap; returns the level where it is largest. */
static int64_t follow_gaps(sal_trainer *t)
{
    sali_denoising_training *own = t->own;
    const int64_t T = t->levels->n, shards = t->n_shards / T, rows = t->options.batch / T;
    int64_t worst = 0;
    for (int64_t l = 0; l < T; l++) {
        double gap = 0;
        for (int64_t k = l * shards; k < (l + 1) * shards; k++) {
            gap += t->shards[k].sum_data - t->shards[k].sum_samples;
        }
        own->back.gap[l] += (gap / (double)rows - own->back.gap[l]) / MEMORY;
        worst = own->back.gap[l] > own->back.gap[worst] ? l : worst;
    }
    return worst;
}

/* After an update: go back if it ran away, else make a copy from time to time while all gaps are
 * small. */
static sal_status after(sal_trainer *t, bool good, sal_error *err)
{
    sali_denoising_training *own = t->own;
    const int64_t worst = good ? follow_gaps(t) : -1;
    if (!good || own->back.gap[worst] > largest_gap(t)) {
        return go_back(t, worst, err);
    }
    if (t->iteration % BETWEEN == 0 && own->back.gap[worst] < largest_gap(t) / 2) {
        copy_values(t, false, own->back.copies++);
    }
    return SAL_OK;
}

/* List the gaps, counters and both copies; their number. */
static int items(const sal_trainer *t, sali_state_item out[SALI_OBJECTIVE_ITEMS])
{
    sali_denoising_training *own = t->own;
    const int64_t n = t->optimiser.n, T = t->levels->n;
    int k = 0;
    out[k++] = sali_state_reals("back.gap", T, own->back.gap);
    out[k++] = sali_state_counts("back.counters", 2, &own->back.copies);
    out[k++] =
        sali_state_within(sali_state_counts("back.times", T, own->back.times), 0, MOST_TIMES);
    out[k++] = sali_state_reals("back.values", 2 * n, own->back.values);
    out[k++] = sali_state_reals("back.averages", t->averages ? 2 * n : 0, own->back.averages);
    out[k++] = sali_state_reals("back.log_step", t->follows ? 2 * T : 0, own->back.log_step);
    return k;
}

/* ---- making and taking apart */

/* Make the objective's part of a trainer, with both copies at the start. */
static sal_status create(sal_trainer *t, sal_error *err)
{
    const int64_t V = t->model->space->n_variables, N = t->model->space->width;
    const size_t element = sali_dtype_size(t->model->dtype);
    sali_denoising_training *own = SALI_NEW(sali_denoising_training);
    t->own = own;
    if (!own) {
        return sali_fail_memory(err);
    }
    sali_memory *m = &own->memory;
    own->codes = SALI_TAKE(m, int32_t, t->options.batch * V);
    own->uniform = SALI_TAKE(m, double *, t->n_shards);
    own->field = SALI_TAKE(m, void *, t->n_shards);
    own->back.values = SALI_TAKE(m, double, 2 * t->optimiser.n);
    own->back.averages = t->averages ? SALI_TAKE(m, double, 2 * t->optimiser.n) : NULL;
    own->back.gap = SALI_TAKE(m, double, t->levels->n);
    own->back.times = SALI_TAKE(m, int64_t, t->levels->n);
    own->back.log_step = t->follows ? SALI_TAKE(m, double, 2 * t->levels->n) : NULL;
    for (int64_t k = t->ranks.first; own->uniform && own->field && k < t->ranks.end; k++) {
        own->uniform[k] = SALI_TAKE(m, double, 2 * V);
        own->field[k] = sali_memory_take(m, t->shards[k].n * N, element);
        sali_evaluator_set_field(t->chains[k]->evaluator, own->field[k]);
    }
    sal_status status = sali_memory_status(m, err);
    status = status ? status : make_path(t, own, err);
    for (int64_t which = 0; status == SAL_OK && which < 2; which++) {
        copy_values(t, false, which);
    }
    return status;
}

static void destroy(sal_trainer *t)
{
    sali_denoising_training *own = t->own;
    sal_trajectory_destroy(own->path);
    sali_memory_free(&own->memory);
    sali_free(own);
}

static void choose(sal_trainer *t)
{
    for (int64_t c = 0; c < t->options.batch; c++) {
        t->buffer.slot[c] = (uint32_t)c;
    }
}

/* Set x_t of the shard's rows, start its chains at x_(t+1), and set their linear terms, the
 * coupling at x_(t+1). */
static void begin_shard(sal_trainer *t, int64_t k)
{
    const sali_denoising_training *own = t->own;
    const sali_train_shard *shard = &t->shards[k];
    const int64_t V = t->model->space->n_variables, N = t->model->space->width;
    const size_t row = (size_t)N * sali_dtype_size(t->model->dtype);
    const sali_noise *noise = own->path->noise;
    for (int64_t c = 0; c < shard->n; c++) {
        const int64_t at = shard->first + c, level = shard->level;
        int32_t *x = own->codes + at * V, *above = t->buffer.codes + at * V;
        sali_stream stream = { .seed = t->options.seed,
                               .chain = (uint32_t)at,
                               .step = 2 * (uint64_t)t->iteration,
                               .purpose = SALI_RNG_NOISE };
        sali_train_row(t, at, x);
        if (level > 0) {
            sali_noise_add(noise, 0, level, &stream, own->uniform[k], x, x);
        }
        stream.step++;
        sali_noise_add(noise, level, level + 1, &stream, own->uniform[k], x, above);
        (void)sali_noise_field(noise, level, above, t->model->dtype,
                               (char *)own->field[k] + (size_t)c * row);
    }
}

static int64_t steps(const sal_trainer *t, int64_t k)
{
    const sali_denoising_training *own = t->own;
    return own->path->noise_steps[t->shards[k].level];
}

static void row(const sal_trainer *t, int64_t c, int32_t *codes)
{
    const int64_t V = t->model->space->n_variables;
    const sali_denoising_training *own = t->own;
    memcpy(codes, own->codes + c * V, (size_t)V * sizeof *codes);
}

/* Copy the step sizes in use to the levels of the denoising chain. */
static void follow_step_sizes(const sal_trainer *t)
{
    const sali_denoising_training *own = t->own;
    for (int64_t l = 0; l < t->levels->n; l++) {
        own->path->noise_step_sizes[l] = t->follows                  ? exp(t->step_size.log_step[l])
                                         : t->sampler->has_step_size ? t->settings.step_size
                                                                     : 0;
    }
}

/* The most rows of the bound, and its effort; the bound takes as much time as 50 to 100 updates. */
enum { JUDGED_ROWS = 100 };
#define JUDGED_EFFORT 0.25

/* Judge by the lower end of the bound, with the same noise and seed each time. Where f is not
 * finite the likelihood is NaN, which is never the best. */
static sal_status judge(sal_trainer *t, sal_error *err)
{
    const sali_denoising_training *own = t->own;
    const sal_data *test = t->options.ptt.test;
    const sal_bound_options o = { .effort = JUDGED_EFFORT,
                                  .seed = t->options.seed,
                                  .threads = t->options.threads };
    sal_bound bound;
    follow_step_sizes(t);
    sal_status status = sal_denoising_bound(t->given, own->path,
                                            test->rows < JUDGED_ROWS ? test->rows : JUDGED_ROWS,
                                            test->codes, &o, &bound, err);
    t->now.log_likelihood = status == SAL_OK ? bound.reverse : NAN;
    return status == SAL_ERR_MODEL ? SAL_OK : status;
}

/* Set the fields of this objective. The chains are not reported, because they are no samples of the
 * model. */
static void report(const sal_trainer *t, sal_train_report *report)
{
    const sali_denoising_training *own = t->own;
    follow_step_sizes(t);
    report->levels = t->levels->n;
    report->disturbed = own->back.all;
    report->trajectory = own->path;
    report->samples = NULL;
    report->buffer = 0;
}

const sali_objective sali_objective_denoising = {
    .levels = true,
    .slow_judge = true,
    .steers = true,
    .defaults = defaults,
    .fit_rows = fit_rows,
    .chains = chains,
    .check = check,
    .check_sampler = check_sampler,
    .create = create,
    .destroy = destroy,
    .choose = choose,
    .begin_shard = begin_shard,
    .steps = steps,
    .row = row,
    .after = after,
    .items = items,
    .judge = judge,
    .resumed = follow_times,
    .report = report,
};
