/* SPDX-License-Identifier: MIT */
/* Runs that must have the same bits: stopped and gone on with, or by other threads. */
#ifndef SAME_RUNS_H
#define SAME_RUNS_H

#include "run/parts/movement.h"
#include "run_helpers.h"

typedef struct stop {
    int64_t at; /* steps */
} stop;

static inline int stop_there(int64_t done, int64_t total, void *data)
{
    (void)total;
    return done >= ((const stop *)data)->at;
}

static inline sal_run *run_until(sal_model *model, sal_run_options options, int64_t at)
{
    stop there = { at };
    options.callbacks.progress = stop_there;
    options.callbacks.progress_data = &there;
    sal_run *run = run_it(model, &options);
    ck_assert(summary_of(run).stopped);
    return run;
}

/* The rest of a run, with the options of its state. */
static inline sal_run_options options_of(const sal_run *run)
{
    sal_run_options options;
    sal_error err;
    ck_ok(sal_run_state_options(sal_run_last_state(run), &options, &err), &err);
    options.record.draws = true;
    return options;
}

/* ---- comparing */

static inline void same_bytes(const char *where, const char *what, const void *a, const void *b,
                              size_t bytes)
{
    ck_assert_msg(memcmp(a, b, bytes) == 0, "%s: %s", where, what);
}

/* Place, chains, adaptation and counters, but not what the clock said. */
static inline void same_states(const char *where, const sal_run *a, const sal_run *b)
{
    const sal_run_state *one = sal_run_last_state(a), *two = sal_run_last_state(b);
    ck_assert_int_eq(one->n, two->n);
    for (int64_t k = 0; k < one->n; k++) {
        const sali_state_item *item = &one->items[k];
        const sali_state_item *other = sali_run_state_find(two, item->name);
        ck_assert_msg(other && other->count == item->count, "%s: %s", where, item->name);
        if (!strstr(item->name, "seconds")) {
            same_bytes(where, item->name, item->data, other->data,
                       (size_t)item->count * sali_state_bytes(item->type));
        }
    }
}

static inline void same_numbers(const char *where, const char *what, double a, double b)
{
    ck_assert_msg(a == b || (isnan(a) && isnan(b)), "%s: %s %.17g, %.17g", where, what, a, b);
}

static inline void same_summaries(const char *where, const sal_run *a, const sal_run *b)
{
    const sal_run_summary s = summary_of(a), t = summary_of(b);
    ck_assert(!s.stopped && !t.stopped);
    ck_assert_int_eq(s.draws, t.draws);
    ck_assert_int_eq(s.disagreeing, t.disagreeing);
    same_numbers(where, "step size", s.step_size, t.step_size);
    same_numbers(where, "acceptance", s.acceptance_rate, t.acceptance_rate);
    same_numbers(where, "jump", s.mean_jump, t.mean_jump);
    same_numbers(where, "ESS", s.ess_min, t.ess_min);
    same_numbers(where, "autocorrelation", s.autocorrelation_time, t.autocorrelation_time);
    same_numbers(where, "R-hat", s.rhat_max, t.rhat_max);
    same_numbers(where, "mean f", s.log_prob_mean, t.log_prob_mean);
    same_numbers(where, "swaps", s.swap_rate_min, t.swap_rate_min);
    same_numbers(where, "round trips", s.round_trips, t.round_trips);
    same_numbers(where, "best", s.best_log_prob, t.best_log_prob);
    same_numbers(where, "statistic", s.statistic_mean, t.statistic_mean);
    same_numbers(where, "deviation", s.statistic_deviation, t.statistic_deviation);
}

static inline void same_runs(const char *where, const sal_run *a, const sal_run *b)
{
    int64_t chains, draws, V, bins = a->model->space->bins;
    sal_run_size(a, &chains, &draws, &V);
    ck_assert_int_eq(draws, b->draws_made);
    const sali_draw_record *r = sali_run_record(a), *s = sali_run_record(b);
    same_bytes(where, "draws", r->draws, s->draws, (size_t)(chains * draws * V * r->draw_bytes));
    same_bytes(where, "f", r->log_prob, s->log_prob, (size_t)(chains * draws) * sizeof(double));
    same_bytes(where, "distances", r->distance, s->distance,
               (size_t)(chains * draws) * sizeof(double));
    same_bytes(where, "counts", r->counts, s->counts,
               (size_t)(2 * chains * bins) * sizeof *r->counts);
    if (r->moments) {
        same_bytes(where, "moments", r->moments, s->moments,
                   (size_t)(2 * chains * a->model->space->n_variables) * sizeof *r->moments);
    }
    same_bytes(where, "jumps of chains", sali_run_moved(a), sali_run_moved(b),
               (size_t)chains * sizeof(double));
    same_states(where, a, b);
    same_summaries(where, a, b);
}

/* ---- the same bits */

/* Stop a run at each of n steps, and let it go on with so many threads: the bits are those of one
 * that was never stopped. */
static inline void check_stops(const char *where, sal_model *model, sal_run_options options, int n,
                               const int64_t *at, int threads)
{
    options.record.draws = true;
    options.threads = 1;
    sal_run *whole = run_it(model, &options);
    for (int k = 0; k < n; k++) {
        char there[512];
        snprintf(there, sizeof there, "%s: stopped after %d steps", where, (int)at[k]);
        sal_run *part = run_until(model, options, at[k]);
        sal_run_options rest = options_of(part);
        rest.threads = threads;
        rest.callbacks = options.callbacks;
        sal_run *gone_on = run_it(model, &rest);
        same_runs(there, whole, gone_on);
        sal_run_destroy(part);
        sal_run_destroy(gone_on);
    }
    sal_run_destroy(whole);
}

#endif
