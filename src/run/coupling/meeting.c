/* SPDX-License-Identifier: MIT */
/* Meeting times of coupled chains, and the bound on total variation that follows from them. */
#include <saltus/meeting.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/vector/blas.h"
#include "models/fingerprint.h"
#include "models/tape_model.h"
#include "run/coupling/coupling.h"
#include "samplers/blocks/site_choice.h"

#define PAIRS 100
/* The default of the most steps, and of the same in sweeps. */
#define MOST_STEPS 20000
#define MOST_SWEEPS 200
/* The lag is this quantile of the steps that pairs with the least lag make together. */
#define LAG_QUANTILE 0.9
/* Steps between two looks at whether all pairs have met. */
#define BLOCK 256

/* ---- options */

/* The first option of a run that is set and that pairs do not have; NULL: none. */
static const char *refused(const sal_run_options *o)
{
    const char *name = sali_run_option_of_draws(o);
    return name                                                      ? name
           : o->tempering.replicas != 0 || o->tempering.temperatures ? "tempering"
           : o->init                                                 ? "init"
           : o->resume                                               ? "resume"
                                                                     : NULL;
}

static sal_status check_options(const sal_model *model, const sal_run_options *run,
                                const sal_meeting_options *m, sal_error *err)
{
    const char *option = refused(run);
    if (!model) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_meeting_times: the model is NULL");
    }
    if (option) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: pairs of coupled chains do not have this option", option);
    }
    const int64_t most = INT64_C(1) << 40;
    sal_status status = sali_check_range("pairs", m->pairs, 0, INT32_MAX, err);
    status = status ? status : sali_check_range("lag", m->lag, 0, most, err);
    return status ? status : sali_check_range("most_steps", m->most_steps, 0, most, err);
}

/* ---- what is coupled */

/* How pairs are made: the options of their chains, and the numbers that these depend on. */
typedef struct plan {
    sal_model *model;
    sal_run_options run; /* of the pairs: a chain each */
    uint64_t seed;
    int64_t period; /* steps after which kernels repeat */
    bool shuffled;  /* each sweep has an order that chains of the same seed share */
    int64_t lag;    /* 0: to be chosen */
    int64_t pairs, most_steps, warmup;
    sal_tuning *found; /* by the warm-up run; NULL: none was needed */
} plan;

/* SAL_ERR_UNSUPPORTED or SAL_ERR_ARGUMENT unless pairs can be made of the chains of a run. */
static sal_status check_run(const sal_run *run, sal_error *err)
{
    sal_status status =
        sali_run_check_independent(run->sampler, "meeting times: ", "coupled pairs", err);
    if (status == SAL_OK && run->replicas > 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "tuning: pairs of coupled chains have no temperatures, and the tuning has "
                         "%lld",
                         (long long)run->replicas);
    }
    if (status == SAL_OK && sali_sampler_value(run->sampler, &run->settings, "schedule") != 0) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "meeting times: with a schedule of the step size each step of sampler "
                         "'%s' is another one; leave the schedule out",
                         run->sampler->name);
    }
    return status;
}

/* Whether warm-up would adapt something of the run. */
static bool adapts(const sal_run *run)
{
    sali_state_item items[SALI_MOST_STATE];
    const bool size = sali_sampler_adapts(run->sampler) && run->options.step_size == 0;
    return !run->options.tuning && (size || sali_sampler_items(run->sampler, run->shared, NULL,
                                                               SALI_STATE_TUNED, items) > 0);
}

/* Set what the plan knows by the sampler: the period, and a tuning by the warm-up of `run` if
 * something adapts. */
static sal_status learn(plan *p, sal_run *run, sal_error *err)
{
    const sali_run_shard *shard = &run->shards[0];
    const sal_sampler_engine *engine = sali_engine(run->sampler);
    sal_status status = check_run(run, err);
    if (status != SAL_OK) {
        return status;
    }
    p->warmup = run->options.warmup;
    p->period = engine->pieces ? engine->pieces(shard->self, shard->chains) : 1;
    p->shuffled = p->period > 1 &&
                  (sali_sampler_value(run->sampler, &run->settings, "scan") == SALI_SCAN_SHUFFLED ||
                   sali_sampler_value(run->sampler, &run->settings, "blocks") != 0);
    if (!adapts(run)) {
        return SAL_OK;
    }
    status = sali_run_advance(run, p->warmup, err);
    if (status == SAL_OK && run->stopped) {
        status = sali_fail(err, SAL_ERR_ARGUMENT, "stopped in the warm-up of the pairs");
    }
    return status ? status : sal_run_tuning(run, &p->found, err);
}

/* Complete a plan that has the caller's options. */
static sal_status make_plan(plan *p, sal_error *err)
{
    sal_run *run = NULL;
    sal_status status = sali_run_endless(p->model, &p->run, false, 0, &run, err);
    status = status ? status : learn(p, run, err);
    sal_run_destroy(run);
    if (status != SAL_OK) {
        return status;
    }
    if (p->found) {
        p->run.tuning = p->found;
        p->run.step_size = 0;
        p->run.step_size_rule = SAL_STEP_SIZE_USUAL;
    }
    p->run.chains = p->pairs;
    p->run.warmup = -1;
    p->lag = (p->lag + p->period - 1) / p->period * p->period;
    if (p->most_steps == 0) {
        p->most_steps = MOST_SWEEPS * p->period;
        p->most_steps = p->most_steps > MOST_STEPS ? p->most_steps : MOST_STEPS;
    }
    return p->lag < p->most_steps ? SAL_OK
                                  : sali_fail(err, SAL_ERR_ARGUMENT,
                                              "lag is %lld; expected less than most_steps, %lld",
                                              (long long)p->lag, (long long)p->most_steps);
}

/* ---- meetings */

/* Whether the caller's progress asks to stop. */
static bool is_stopped(const plan *p, const sali_coupling *coupling)
{
    const sal_run_callbacks *calls = &p->run.callbacks;
    return calls->progress &&
           calls->progress(coupling->steps, p->most_steps, calls->progress_data) != 0;
}

/* Let pairs meet at a lag; tau [pairs] receives when. Round `round` has random numbers of its own.
 */
static sal_status meet(const plan *p, int64_t round, int64_t lag, int64_t *tau, sal_error *err)
{
    sali_coupling coupling;
    sal_status status = sali_coupling_open(p->model, &p->run, sali_hash_whole(p->seed, round),
                                           p->shuffled, lag, tau, &coupling, err);
    bool stopped = status == SAL_OK && (coupling.x->stopped || coupling.y->stopped);
    while (status == SAL_OK && !stopped && coupling.steps < p->most_steps &&
           sali_coupling_unmet(&coupling) > 0) {
        const int64_t left = p->most_steps - coupling.steps;
        status = sali_coupling_advance(&coupling, left < BLOCK ? left : BLOCK, err);
        stopped = is_stopped(p, &coupling);
    }
    sali_coupling_close(&coupling);
    return status;
}

static int compare_whole(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* *steps receives the q quantile, 0 < q <= 1, of the steps that pairs made together: the least
 * number of steps in which a share q of the pairs met; -1 if fewer did. */
static sal_status quantile(int64_t pairs, const int64_t *tau, int64_t lag, double q, int64_t *steps,
                           sal_error *err)
{
    int64_t *sorted = SALI_NEW_ARRAY(int64_t, pairs);
    if (!sorted) {
        return sali_fail_memory(err);
    }
    for (int64_t c = 0; c < pairs; c++) {
        sorted[c] = tau[c] < 0 ? INT64_MAX : tau[c] - lag;
    }
    qsort(sorted, (size_t)pairs, sizeof *sorted, compare_whole);
    const int64_t at = (int64_t)ceil(q * (double)pairs) - 1;
    *steps = sorted[at] == INT64_MAX ? -1 : sorted[at];
    sali_free(sorted);
    return SAL_OK;
}

/* Let pairs meet at the plan's lag, or at one that is chosen and then is the plan's. If too few
 * pairs meet at the least lag for a choice, tau and the lag are theirs. */
static sal_status meet_at_lag(plan *p, int64_t *tau, sal_error *err)
{
    int64_t steps = 0;
    if (p->lag > 0) {
        return meet(p, 1, p->lag, tau, err);
    }
    p->lag = p->period;
    sal_status status = meet(p, 0, p->lag, tau, err);
    status = status ? status : quantile(p->pairs, tau, p->lag, LAG_QUANTILE, &steps, err);
    if (status != SAL_OK || steps < 0) {
        return status;
    }
    p->lag = (steps + p->period - 1) / p->period * p->period;
    return meet(p, 1, p->lag, tau, err);
}

/* ---- the bound */

void sal_meeting_bound(int64_t pairs, const int64_t *tau, int64_t lag, int64_t t, double *bound,
                       double *error)
{
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < pairs; c++) {
        const int64_t apart = tau[c] - lag - t; /* steps that are left until the pair meets */
        const double term = tau[c] < 0  ? NAN
                            : apart > 0 ? (double)((apart + lag - 1) / lag) /* ceil */
                                        : 0;
        sum += term;
        squares += term * term;
    }
    const double n = (double)pairs, mean = sum / n;
    const double variance = fmax(squares / n - mean * mean, 0) * n / (n - 1);
    *bound = mean > 1 ? 1 : mean;
    if (error) {
        *error = isnan(mean) || pairs < 2 ? NAN : sqrt(variance / n);
    }
}

/* The first t at which the bound is `level` or less; NaN if a pair did not meet. */
static double steps_to(const plan *p, const int64_t *tau, double level)
{
    int64_t below = -1, above = 0; /* the bound is too large at `below`, and small enough at `above`
                                      steps */
    for (int64_t c = 0; c < p->pairs; c++) {
        if (tau[c] < 0) {
            return NAN;
        }
        above = tau[c] - p->lag > above ? tau[c] - p->lag : above;
    }
    while (above - below > 1) {
        const int64_t t = below + (above - below) / 2;
        double bound;
        sal_meeting_bound(p->pairs, tau, p->lag, t, &bound, NULL);
        *(bound <= level ? &above : &below) = t;
    }
    return (double)above;
}

/* Set the figures of a result. */
static sal_status describe(const plan *p, const int64_t *tau, sal_meeting *result, sal_error *err)
{
    int64_t half = 0;
    sal_meeting m = { .pairs = p->pairs,
                      .lag = p->lag,
                      .most_steps = p->most_steps,
                      .warmup = p->warmup,
                      .steps_25 = steps_to(p, tau, .25),
                      .steps_05 = steps_to(p, tau, .05),
                      .steps_01 = steps_to(p, tau, .01) };
    sal_status status = quantile(p->pairs, tau, p->lag, .5, &half, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t c = 0; c < p->pairs; c++) {
        m.not_met += tau[c] < 0;
    }
    m.median = half < 0 ? NAN : (double)half;
    sal_meeting_bound(p->pairs, tau, p->lag, p->warmup, &m.warmed_up, &m.warmed_up_error);
    *result = m;
    return SAL_OK;
}

sal_status sal_meeting_times(sal_model *model, const sal_run_options *options,
                             const sal_meeting_options *meeting, int64_t *tau, sal_meeting *result,
                             sal_error *err)
{
    const sal_run_options run = options ? *options : (sal_run_options){ 0 };
    const sal_meeting_options m = meeting ? *meeting : (sal_meeting_options){ 0 };
    sal_status status = check_options(model, &run, &m, err);
    if (status != SAL_OK) {
        return status;
    }
    plan p = { .model = model, .run = run, .seed = run.seed, .lag = m.lag };
    p.pairs = m.pairs ? m.pairs : PAIRS;
    p.most_steps = m.most_steps;
    int64_t *found = SALI_NEW_ARRAY(int64_t, p.pairs);
    status = found ? SAL_OK : sali_fail_memory(err);
    sali_model_use(model);
    sali_blas_single_thread_begin();
    status = status ? status : make_plan(&p, err);
    status = status ? status : meet_at_lag(&p, found, err);
    sali_blas_single_thread_end();
    sali_model_release(model);
    status = status ? status : describe(&p, found, result, err);
    if (status == SAL_OK && tau) {
        memcpy(tau, found, (size_t)p.pairs * sizeof *tau);
    }
    sal_tuning_destroy(p.found);
    sali_free(found);
    return status;
}
