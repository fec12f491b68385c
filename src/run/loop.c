/* SPDX-License-Identifier: MIT */
/* The run loop. Shards advance independently in windows of steps; between windows the calling
 * thread looks for errors, and the parts of the run adapt step sizes, move temperatures, pass on
 * draws and so on. */
#include "core/clock.h"
#include "core/error.h"
#include "models/tape_model.h"
#include "run/part.h"
#include "run/sync.h"

/* ---- work of one shard, in parallel */

/* The parts of a run that have a certain function, collected once, so that shards need not go
 * through all parts at each step. */
typedef struct callees {
    int n;
    const sali_run_part *part[SALI_PARTS];
    void *self[SALI_PARTS];
} callees;

typedef struct work {
    sal_run *run;
    bool refresh;                     /* refresh shards before the first step */
    sali_window piece;                /* of the run's window: what shards do without each other */
    bool each_step;                   /* some part wants to see each step */
    callees due, before, after, draw; /* parts with a function of that name */
} work;

static void add_callee(callees *c, const sali_run_part *part, void *self)
{
    c->part[c->n] = part;
    c->self[c->n++] = self;
}

/* A work for the windows of warm-up (`warmup`) or for those after it, with no piece set yet. */
static work begin_work(sal_run *run, bool warmup)
{
    work w = { .run = run, .piece.warmup = warmup };
    SALI_EACH_PART (run, k, part, each_step) {
        w.each_step = !warmup;
    }
    SALI_EACH_PART (run, k, part, due) {
        add_callee(&w.due, part, run->selves[k]);
    }
    SALI_EACH_PART (run, k, part, before) {
        add_callee(&w.before, part, run->selves[k]);
    }
    SALI_EACH_PART (run, k, part, after) {
        add_callee(&w.after, part, run->selves[k]);
    }
    SALI_EACH_PART (run, k, part, draw) {
        if (!warmup || (run->options.record.warmup && part->sees_warmup)) {
            add_callee(&w.draw, part, run->selves[k]);
        }
    }
    return w;
}

/* Steps from step i of the piece until something is due: the piece's end, a draw that a part
 * receives, or a step that a part waits for. */
static int64_t steps_until_due(const work *w, const sali_run_shard *shard, int64_t i)
{
    const int64_t thin = w->run->options.thin;
    int64_t n = w->each_step ? 1 : w->piece.steps - i;
    if (n > 1 && w->draw.n > 0 && thin - (w->piece.done + i) % thin < n) {
        n = thin - (w->piece.done + i) % thin;
    }
    for (int k = 0; n > 1 && k < w->due.n; k++) {
        const int64_t steps = w->due.part[k]->due(w->due.self[k], shard);
        n = steps < n ? steps : n;
    }
    return n;
}

/* What parts do before a step; the shard is refreshed if a part asks for that. */
static void prepare_step(const work *w, sali_run_shard *shard, int64_t step)
{
    for (int k = 0; k < w->before.n; k++) {
        if (w->before.part[k]->before(w->before.self[k], &w->piece, shard, step)) {
            sali_run_refresh_shard(w->run, shard);
        }
    }
}

/* Call the parts' `after`, and `draw` if step number `step` is one at which draws are made. */
static void follow_steps(const work *w, sali_run_shard *shard, int64_t step)
{
    const int64_t thin = w->run->options.thin;
    for (int k = 0; k < w->after.n; k++) {
        if (w->after.part[k]->after(w->after.self[k], &w->piece, shard)) {
            sali_run_refresh_shard(w->run, shard);
        }
    }
    if (w->draw.n > 0 && step % thin == 0) {
        for (int k = 0; k < w->draw.n; k++) {
            w->draw.part[k]->draw(w->draw.self[k], shard, step / thin - 1);
        }
    }
}

/* Advance shard k by the piece of `context`, a work, interrupted by what its parts have to do at
 * steps. */
static void advance_shard(void *context, int64_t k)
{
    const work *w = context;
    sal_run *run = w->run;
    sali_run_shard *shard = &run->shards[k];
    if (w->refresh) {
        sali_run_refresh_shard(run, shard);
    }
    for (int64_t i = 0, n; i < w->piece.steps; i += n) {
        prepare_step(w, shard, w->piece.done + i);
        n = steps_until_due(w, shard, i);
        sali_sampler_steps(run->sampler, shard->self, shard->chains, n);
        follow_steps(w, shard, w->piece.done + i + n);
    }
}

/* Steps that shards can make without each other, up to step `end` of the window. 1 if the time of a
 * step is not known yet, so that the first step of a run measures it. */
static int64_t steps_apart(const sal_run *run, int64_t end)
{
    int64_t n = run->pace.alone == 0 && !run->before ? 1 : end - run->made;
    SALI_EACH_PART (run, k, part, apart) {
        const int64_t steps =
            part->apart(run->selves[k], run->warmup_done + run->steps + run->made);
        n = steps < n ? steps : n;
    }
    return n;
}

/* Call the parts' `meet` after step `step` of the run, warm-up included, and refresh all shards if
 * one asks for that. */
static sal_status meet_parts(sal_run *run, int64_t step, sal_error *err)
{
    bool stale = false;
    sal_status status = SAL_OK;
    SALI_EACH_PART (run, k, part, meet) {
        if (status == SAL_OK) {
            status = part->meet(run->selves[k], step, &stale, err);
        }
    }
    if (stale) {
        sali_run_refresh(run);
    }
    return status;
}

/* Advance one shard after the other by the piece, each after the caller's function, which sets the
 * parameters. */
static sal_status advance_one_by_one(work *w, sal_error *err)
{
    const sal_run *run = w->run;
    sal_status status = SAL_OK;
    for (int64_t k = 0; status == SAL_OK && k < run->n_shards; k++) {
        status = run->before(run->shards[k].first, run->before_data, err);
        sali_model_use(run->base);
        if (status == SAL_OK && run->shards[k].version != sali_model_version(run->model)) {
            sali_run_refresh_shard(run, &run->shards[k]);
            status = sali_run_check_finite(run, &run->shards[k], err);
        }
        if (status == SAL_OK) {
            advance_shard(w, k);
        }
        sali_model_release(run->base);
    }
    return status;
}

/* Advance all shards of this rank by the run's window, or by `most` steps of it if these are fewer,
 * in pieces between which shards meet. Returns an error if f became NaN or +inf. */
static sal_status advance_window(work *w, int64_t most, sal_error *err)
{
    sal_run *run = w->run;
    const int64_t left = run->window.steps - run->made;
    const int64_t end = run->made + (most < left ? most : left);
    sal_status status = SAL_OK;
    while (status == SAL_OK && run->made < end) {
        w->piece.done = run->window.done + run->made;
        w->piece.steps = steps_apart(run, end);
        w->refresh = run->stale;
        run->stale = false;
        if (run->before) {
            status = advance_one_by_one(w, err);
            if (status != SAL_OK) {
                return status;
            }
        } else {
            sali_ranks_run(&run->ranks, &run->pace, (double)w->piece.steps, run->options.threads,
                           advance_shard, w);
        }
        run->made += w->piece.steps;
        status = meet_parts(run, run->warmup_done + run->steps + run->made, err);
    }
    return status ? status : sali_run_check(run, err);
}

/* ---- between windows */

/* Call the parts' `window`, then reset the sums that chains gathered in it. */
static sal_status end_window(sal_run *run, sal_error *err)
{
    sal_status status = SAL_OK;
    SALI_EACH_PART (run, k, part, window) {
        if (status == SAL_OK) {
            status = part->window(run->selves[k], &run->window, &run->stale, err);
        }
    }
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_chains_take_sums(run->shards[k].chains);
    }
    return status;
}

/* If an anchor is due between `before` and `done` steps, refresh all shards and record the state,
 * so that a resumed run continues here. Skip it after a draw callback stopped the run: the state
 * must not count draws that the caller has not seen. */
static sal_status anchor_if_due(sal_run *run, int64_t before, int64_t done, sal_error *err)
{
    if (run->stopped || !sali_run_anchor_is_due(run, before, done)) {
        return SAL_OK;
    }
    run->stale = false;
    sali_run_refresh(run);
    return sali_run_note_state(run, err);
}

sal_status sali_run_ask(sal_run *run, int64_t done, sal_error *err)
{
    const sal_run_options *o = &run->options;
    const int64_t total = run->endless ? done : o->warmup + sali_run_total(run);
    if (o->callbacks.progress &&
        o->callbacks.progress(done, total, o->callbacks.progress_data) != 0) {
        run->stopped = true;
    }
    run->stopped |=
        o->seconds > 0 && done < total && !run->enough && sali_now() - run->begun >= o->seconds;
    return sali_sync_stop(run, err);
}

/* Begin a window of `most` steps after `done` steps, of warm-up or after it; of fewer steps if a
 * part wants a shorter window. */
static void begin_window(sal_run *run, bool warmup, int64_t done, int64_t most)
{
    run->window = (sali_window){ .warmup = warmup, .done = done, .steps = most };
    run->made = 0;
    SALI_EACH_PART (run, k, part, longest) {
        const int64_t steps = part->longest(run->selves[k], &run->window);
        run->window.steps = steps < run->window.steps ? steps : run->window.steps;
    }
}

/* ---- warm-up */

/* Tell the parts that warm-up is over, and record the state: the end of warm-up is an anchor. */
static sal_status end_warm_up(sal_run *run, sal_error *err)
{
    SALI_EACH_PART (run, k, part, warmed_up) {
        part->warmed_up(run->selves[k]);
    }
    run->sampling = 1;
    run->stale = false;
    sali_run_refresh(run);
    const sal_status status = sali_run_note_state(run, err);
    return status ? status : sali_sync_stop(run, err); /* a callback may have stopped it */
}

/* Steps in a cycle of kernels with step sizes of their own; 1 if the sampler has no cycle. */
static int64_t cycle_of(const sal_run *run)
{
    const char *name = sali_engine(run->sampler)->cycle;
    double cycle = name ? sali_sampler_value(run->sampler, &run->settings, name) : 0;
    return cycle > 1 ? (int64_t)cycle : 1;
}

int64_t sali_run_adapt_window(const sal_run *run)
{
    const int64_t cycle = cycle_of(run);
    return (SALI_ADAPT_WINDOW + cycle - 1) / cycle * cycle;
}

/* The steps of the next window of warm-up, of which `done` steps are made. Windows are whole
 * cycles; if warm-up is not a multiple of a window, the shorter window comes first, where it
 * matters least. */
static int64_t warm_up_steps(const sal_run *run, int64_t done)
{
    const int64_t longest = run->inner ? 1 : sali_run_adapt_window(run);
    const int64_t left = run->options.warmup - done, rest = left % longest;
    if (left < longest || (done == 0 && rest > 0 && cycle_of(run) > 1)) {
        return rest;
    }
    return longest;
}

/* What comes after the last step of a window of warm-up, and an anchor if one is due. Collective.
 */
static sal_status close_warm_up_window(sal_run *run, sal_error *err)
{
    const int64_t done = run->warmup_done;
    run->warmup_done += run->window.steps;
    const sal_status status = end_window(run, err);
    return status || run->warmup_done == run->options.warmup
               ? status
               : anchor_if_due(run, done, run->warmup_done, err);
}

sal_status sali_run_warm_up(sal_run *run, sal_error *err)
{
    double start = sali_now(), before = run->warmup_seconds;
    work w = begin_work(run, true);
    sal_status status = SAL_OK;
    while (status == SAL_OK && run->warmup_done < run->options.warmup && !run->stopped) {
        begin_window(run, true, run->warmup_done, warm_up_steps(run, run->warmup_done));
        status = sali_sync_window(run, advance_window(&w, SALI_NEVER, err), err);
        status = status ? status : close_warm_up_window(run, err);
        run->warmup_seconds = before + sali_now() - start;
        status = status ? status : sali_run_ask(run, run->warmup_done, err);
    }
    return status || run->stopped ? status : end_warm_up(run, err);
}

/* ---- after warm-up */

/* The most steps of the next window after warm-up: windows end where anchors may be. */
static int64_t sample_steps(const sal_run *run)
{
    const int64_t left = sali_run_total(run) - run->steps;
    const int64_t window = sali_run_sample_window(run);
    int64_t n = window - run->steps % window;
    n = run->inner ? 1 : n; /* a step is a sweep over many levels */
    return left < n ? left : n;
}

/* What comes after the last step of a window after warm-up, and an anchor if one is due.
 * Collective. */
static sal_status close_sample_window(sal_run *run, sal_error *err)
{
    const int64_t done = run->steps;
    run->steps += run->window.steps;
    run->draws_made = run->steps / run->options.thin;
    const sal_status status = end_window(run, err);
    /* none at the end: a longer run would not have its last window */
    const bool ends = run->enough || run->steps == sali_run_total(run);
    return status || ends ? status : anchor_if_due(run, done, run->steps, err);
}

sal_status sali_run_sample(sal_run *run, sal_error *err)
{
    double start = sali_now(), before = run->seconds;
    work w = begin_work(run, false);
    sal_status status = SAL_OK;
    while (status == SAL_OK && run->steps < sali_run_total(run) && !run->stopped && !run->enough) {
        begin_window(run, false, run->steps, sample_steps(run));
        status = sali_sync_window(run, advance_window(&w, SALI_NEVER, err), err);
        status = status ? status : close_sample_window(run, err);
        run->seconds = before + sali_now() - start;
        status = status ? status : sali_run_ask(run, run->options.warmup + run->steps, err);
    }
    return status;
}

/* ---- runs without an end */

/* What comes after the last step of a window, and the end of warm-up if this was its last. */
static sal_status close_window(sal_run *run, sal_error *err)
{
    if (!run->window.warmup) {
        return close_sample_window(run, err);
    }
    const sal_status status = close_warm_up_window(run, err);
    return status || run->warmup_done < run->options.warmup ? status : end_warm_up(run, err);
}

sal_status sali_run_end_window(sal_run *run, sal_error *err)
{
    const bool open = sali_run_open_steps(run) > 0;
    run->window.steps = run->made;
    return open ? close_window(run, err) : SAL_OK;
}

/* Count the steps of a window in which a chain met NaN or +inf. Nothing learns from them. */
static void abandon_window(sal_run *run)
{
    *(run->window.warmup ? &run->warmup_done : &run->steps) += run->made;
    run->window.steps = run->made;
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_chains_take_sums(run->shards[k].chains);
    }
}

sal_status sali_run_advance(sal_run *run, int64_t n, sal_error *err)
{
    work w = begin_work(run, !run->sampling);
    const bool over = !run->sampling && run->warmup_done >= run->options.warmup; /* abandoned */
    sal_status status = over ? end_warm_up(run, err) : SAL_OK;
    while (status == SAL_OK && n > 0 && !run->stopped) {
        const bool warmup = !run->sampling;
        if (w.piece.warmup != warmup) {
            w = begin_work(run, warmup);
        }
        if (run->made == run->window.steps) {
            const int64_t done = warmup ? run->warmup_done : run->steps;
            begin_window(run, warmup, done, warmup ? warm_up_steps(run, done) : sample_steps(run));
        }
        const int64_t before = run->made;
        status = advance_window(&w, n, err);
        n -= run->made - before;
        if (status != SAL_OK) {
            abandon_window(run);
        } else if (run->made == run->window.steps) {
            status = close_window(run, err);
            status = status ? status : sali_run_ask(run, run->warmup_done + run->steps, err);
        }
    }
    return status;
}
