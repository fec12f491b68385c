/* SPDX-License-Identifier: MIT */
/* A search of several coolings. Each is a run of its own from new starts, and the best run is kept.
 *
 * The first cooling is the same as in a search of one cooling. The coolings after it, longer and
 * longer, spend no steps far above the temperatures that matter: they begin a little above the
 * temperature at which the chains of the first cooling froze (parts/annealing.c). That is too cold
 * where chains freeze at many temperatures, as with weights over many orders of magnitude: new
 * starts are quenched, and large differences stay as the quench left them. So a short trial goes
 * before the second cooling. The trial has new starts, begins at the lower temperature, and has
 * twice the draws that the first cooling had below that temperature. If its chains end lower than
 * those of the first cooling by more than chance, all later coolings begin where the first one did,
 * at a temperature that the largest differences set (annealing.c). The same happens after a whole
 * cooling whose chains end lower.
 *
 * The seed of a cooling is computed from the search's seed and the cooling's number, so the same
 * seed and number of coolings give the same bits, and nothing of a search needs to be saved. Rank 0
 * plans where the next cooling begins, from the draws of the first cooling and from the mean over
 * chains of the largest f in the latest one. */
#include "run/search/search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/tape_model.h"
#include "run/parts/annealing.h"
#include "run/parts/best.h"
#include "run/parts/decode.h"

/* Draws of the first cooling, unless the caller gives a number. Each later cooling has twice as
 * many as the one before, up to a bound. */
#define FIRST_DRAWS 240
#define MOST_DRAWS (INT64_C(1) << 20)

/* The trial has TRIAL_PART times the draws that the first cooling had from the same temperature on,
 * and TRIAL_LEAST at least. A difference of TRIAL_ERRORS standard errors is more than chance. */
#define TRIAL_PART 2
#define TRIAL_LEAST 16
#define TRIAL_ERRORS 2.0

typedef struct search {
    const sal_run_options *given;
    double start;          /* by the clock */
    int64_t made;          /* coolings */
    double from, to;       /* of the next cooling */
    double hottest, level; /* of the first cooling: `from`, and the mean of its chains' largest f */
    double level_variance; /* variance of this mean, from the spread of the chains */
    int64_t trial;         /* draws of the trial that is due; 0: none is */
    double seconds_a_draw; /* of the last cooling */
    double worth;          /* sali_best_worth of the best run */
    sal_run *best;
    int64_t best_number;
    bool stopped;  /* by the caller's callback */
    bool late;     /* the time is over */
    int64_t steps; /* of all coolings before this one */
} search;

/* ---- one cooling */

int64_t sali_cooling_draws(int64_t number)
{
    int64_t draws = FIRST_DRAWS;
    for (int64_t k = 0; k < number && draws < MOST_DRAWS; k++) {
        draws *= 2;
    }
    return draws;
}

uint64_t sali_cooling_seed(uint64_t seed, int64_t number)
{
    sali_stream stream = { .seed = seed, .step = (uint64_t)number, .purpose = SALI_RNG_COOLING };
    uint32_t words[2];
    if (number == 0) {
        return seed;
    }
    sali_rng_words(&stream, 0, 2, words);
    return (uint64_t)words[0] << 31 ^ words[1]; /* below 2^63, as seeds that are given in words */
}

/* The progress callback of each cooling: passes progress of the whole search on to the caller, and
 * stops the cooling if the caller asks to or the time is over. */
static int watch(int64_t done, int64_t total, void *data)
{
    search *s = data;
    const sal_run_callbacks *c = &s->given->callbacks;
    const double limit = s->given->annealing.seconds;
    if (c->progress && c->progress(s->steps + done, s->steps + total, c->progress_data) != 0) {
        s->stopped = true;
    }
    s->late = limit > 0 && sali_now() - s->start >= limit;
    return s->stopped || s->late;
}

/* The options of cooling number s->made: its seed, draws and temperatures in place of the
 * search's. */
static sal_run_options options_of(search *s)
{
    sal_run_options o = *s->given;
    o.draws = o.draws ? o.draws : sali_cooling_draws(s->made);
    o.seed = sali_cooling_seed(o.seed, s->made);
    if (s->made > 0) {
        o.annealing.to = s->to;
        o.annealing.from = s->from;
    }
    o.annealing.coolings = 0;
    o.annealing.seconds = 0;
    o.callbacks.progress = watch;
    o.callbacks.progress_data = s;
    return o;
}

/* ---- which is best */

/* Draws of a trial from temperature s->from to s->to, after the first cooling, `run`. 0: no trial
 * is needed, or a single chain is too few to judge by. */
static int64_t trial_of(const search *s, const sal_run *run)
{
    const sal_annealing_schedule schedule = run->options.annealing.schedule;
    if (!(s->from < s->hottest) || run->options.chains < 2 || schedule == SAL_ANNEAL_REHEAT) {
        return 0;
    }
    const bool linear = schedule == SAL_ANNEAL_LINEAR || schedule == SAL_ANNEAL_RLSA;
    const double share = linear ? (s->from - s->to) / (s->hottest - s->to)
                                : log(s->from / s->to) / log(s->hottest / s->to);
    const double draws = TRIAL_PART * share * (double)run->draws_made;
    return draws > TRIAL_LEAST ? (int64_t)fmin(draws, (double)run->draws_made) : TRIAL_LEAST;
}

/* Let all coolings to come begin where the first one did. */
static void begin_hot(search *s)
{
    s->from = s->hottest;
}

/* Set where the next cooling begins and ends, after cooling `number`. At rank 0, which has all
 * draws. */
static void plan_next(search *s, const sal_run *run, int64_t number)
{
    const bool given = s->given->annealing.from > 0 || run->draws_made == 0;
    double variance;
    const double mean = sali_best_mean(run, &variance);
    const sali_annealing *a = sali_run_annealing(run);
    if (number == 0) {
        s->hottest = fmax(a->from, SALI_LEAST_TEMPERATURE);
        s->level = mean;
        s->level_variance = variance;
        s->from = given                    ? s->hottest
                  : a->heating.reheats > 0 ? a->heating.peak
                                           : sali_heat_temperature(run);
        s->from = fmax(s->from, SALI_LEAST_TEMPERATURE);
        s->to = fmax(a->to, SALI_LEAST_TEMPERATURE);
        s->trial = trial_of(s, run);
    } else if (mean < s->level) {
        begin_hot(s);
    }
}

/* Let later coolings begin hot if the trial `run` ended lower than the first cooling. A trial that
 * was cut short decides nothing. */
static void judge_trial(search *s, const sal_run *run)
{
    double variance;
    const double mean = sali_best_mean(run, &variance);
    const double error = sqrt(variance + s->level_variance);
    if (!run->stopped && mean + TRIAL_ERRORS * error < s->level) {
        begin_hot(s);
    }
}

/* Take over the finished cooling `run`: keep it if it is the best so far, else destroy it. A
 * cooling that the time cut short is dropped, unless it is the only one, so that what a number of
 * coolings finds does not depend on the clock. */
static void take_cooling(search *s, sal_run *run)
{
    const int64_t number = s->made;
    if (s->late && run->stopped && s->best) {
        sal_run_destroy(run);
        return;
    }
    if (sal_comm_rank(s->given->comm) == 0) {
        plan_next(s, run, number);
    }
    s->steps += run->warmup_done + run->steps;
    s->seconds_a_draw = (run->seconds + run->warmup_seconds) / fmax(1, (double)run->draws_made);
    s->made++;
    const double worth = sali_best_worth(run);
    if (s->best && !(worth > s->worth)) {
        sal_run_destroy(run);
        return;
    }
    sal_run_destroy(s->best);
    s->best = run;
    s->worth = worth;
    s->best_number = number;
}

/* End the search after a failed cooling. The result of earlier coolings is kept, with the failure
 * as a text. */
static void end_by_failure(search *s, const sal_error *why)
{
    char *text = s->best->search.failure;
    s->stopped = true;
    snprintf(text, SAL_ERROR_SIZE, "Cooling %lld failed and ended the search; ",
             (long long)s->made + 1);
    const size_t n = strlen(text);
    snprintf(text + n, SAL_ERROR_SIZE - n, "what is reported is from those before it. %.800s.",
             why->message);
}

/* Whether another cooling is wanted and would end in time, by the clock of this rank. */
static bool wants_more(const search *s)
{
    const sal_annealing_options *a = &s->given->annealing;
    const int64_t draws = s->given->draws ? s->given->draws : sali_cooling_draws(s->made);
    const double takes = s->made > 0 ? s->seconds_a_draw * (double)draws : 0;
    if (s->stopped || s->late || (a->coolings > 0 && s->made >= a->coolings)) {
        return false;
    }
    return a->seconds <= 0 || s->made == 0 || sali_now() - s->start + takes < a->seconds;
}

/* Broadcast from rank 0 whether there is more to do, and what the next run is made with. Rank 0
 * decides by its clock, its caller and all draws. */
static sal_status tell_next(search *s, bool *more, sal_error *err)
{
    double known[] = { *more, s->stopped, s->late, s->from, s->to, (double)s->trial };
    sal_status status = sali_comm_broadcast(s->given->comm, 0, known, sizeof known, err);
    *more = known[0] != 0;
    s->stopped = known[1] != 0;
    s->late = known[2] != 0;
    s->from = known[3];
    s->to = known[4];
    s->trial = (int64_t)known[5];
    return status;
}

/* Make the trial that is due. The trial is a run of its own, does not count as a cooling, and is
 * not kept. */
static sal_status make_trial(search *s, sal_model *model, sal_error *err)
{
    sal_run_options o = options_of(s);
    sal_run *run = NULL;
    o.draws = s->trial;
    o.seed = sali_cooling_seed(s->given->seed, SALI_TRIAL_NUMBER);
    o.record.draws = false;
    o.callbacks.draw = NULL;
    s->trial = 0;
    sal_status status = sali_run_once(model, &o, &run, err);
    if (status == SAL_OK) {
        if (sal_comm_rank(s->given->comm) == 0) {
            judge_trial(s, run);
        }
        s->steps += run->warmup_done + run->steps;
    }
    sal_run_destroy(run);
    return status;
}

/* ---- all of them */

/* SAL_ERR_ARGUMENT if options do not go together with a search of several coolings. */
static sal_status check_options(const sal_run_options *o, sal_error *err)
{
    const char *what = o->callbacks.state ? "saving the run's state"
                       : o->resume        ? "resuming a run"
                       : o->trajectory    ? "a training's trajectory"
                       : o->seconds > 0   ? "a time of the run; give that of all coolings"
                                          : NULL;
    sal_status status =
        sali_check_range("annealing.coolings", o->annealing.coolings, 0, INT32_MAX, err);
    if (status == SAL_OK && !(o->annealing.seconds >= 0 && o->annealing.seconds < INFINITY)) {
        status = sali_fail(err, SAL_ERR_ARGUMENT, "annealing.seconds is %g; expected 0 or more",
                           o->annealing.seconds);
    }
    return status || !what
               ? status
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "a search of several coolings does not go together with %s", what);
}

bool sali_is_search(const sal_run_options *o)
{
    return o && (o->annealing.on || o->annealing.schedule) &&
           (o->annealing.coolings != 0 || o->annealing.seconds != 0);
}

sal_status sali_search(sal_model *model, const sal_run_options *options, sal_run **out,
                       sal_error *err)
{
    search s = { .given = options, .start = sali_now() };
    bool more = true;
    sal_status status = sal_comm_agree(options->comm, check_options(options, err), err);
    while (status == SAL_OK && more) {
        const sal_run_options o = options_of(&s);
        sal_error why = { 0 };
        sal_run *run = NULL;
        status = sali_run_once(model, &o, &run, &why);
        if (status == SAL_OK) {
            status = tell_next(&s, &more, &why);
        }
        if (status == SAL_OK) {
            take_cooling(&s, run);
        } else {
            sal_run_destroy(run);
            if (s.best) {
                end_by_failure(&s, &why);
                status = SAL_OK;
            } else if (err) {
                *err = why;
            }
        }
        more = wants_more(&s);
        status = status ? status : tell_next(&s, &more, err);
        if (status == SAL_OK && more && s.trial > 0) {
            if (make_trial(&s, model, &why) != SAL_OK) {
                end_by_failure(&s, &why);
            }
            more = wants_more(&s);
            status = tell_next(&s, &more, err);
        }
    }
    if (status != SAL_OK) {
        sal_run_destroy(s.best);
        return status;
    }
    s.best->search.coolings = s.made;
    s.best->search.cooling = s.best_number;
    s.best->search.seconds = sali_now() - s.start;
    s.best->options.seed = options->seed; /* with this seed the whole search can be repeated */
    *out = s.best;
    return SAL_OK;
}

sal_status sal_sample(sal_model *model, const sal_run_options *options, sal_run **out,
                      sal_error *err)
{
    if (!model) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_sample: the model is NULL");
    }
    sali_model_use(model);
    const sal_status status = sali_is_search(options) ? sali_search(model, options, out, err)
                                                      : sali_run_once(model, options, out, err);
    sali_model_release(model);
    return status;
}
