/* SPDX-License-Identifier: MIT */
/* The run loop. Shards advance independently in windows of steps; between windows the calling
 * thread looks for errors, in warm-up adapts, and shows draws and progress. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/shard.h"
#include "run/run.h"
#include "run/sync.h"
#include "run/parts/settle_stuck.h"

/* ---- work of one shard, in parallel */

typedef struct window {
    sal_run *run;
    int64_t steps;
    bool refresh; /* first: step sizes, temperatures or the sampler's shared state have changed */
    bool record;
    bool show;    /* the caller wants to see the states that are draws */
    int64_t done; /* steps before this window, after warm-up or of it */
} window;

/* Swap states between temperatures, at fixed steps of the chains' lives. Where there are seams,
 * their swaps come after it, and then the refresh. */
static void swap_when_due(sal_run *run, sali_run_shard *shard)
{
    uint64_t step = shard->chains->step[0], every = (uint64_t)run->ladder.every;
    if (run->ladder.n > 1 && step % every == 0) {
        sali_swap(&shard->swaps, shard->chains, (int64_t)(step / every % 2));
        if (!run->seams.any) {
            sali_engine(run->sampler)->refresh(shard->self, shard->chains);
        }
    }
}

/* Annealing: the temperature of step number `step` after warm-up, where a level of it begins. */
static void cool_when_due(sal_run *run, sali_run_shard *shard, int64_t step)
{
    if (step % sali_anneal_level(run) == 0) {
        sali_set_temperature(shard->chains, sali_anneal_temperature_at(run, step));
        sali_engine(run->sampler)->refresh(shard->self, shard->chains);
    }
}

/* How many steps until something is due: the end of the window, a draw, a swap, a lower
 * temperature; one at a time where each state counts. */
static int64_t steps_until_due(const window *w, const sali_run_shard *shard, int64_t i)
{
    const sal_run *run = w->run;
    int64_t n = w->steps - i, thin = run->options.thin, every = run->ladder.every;
    if (w->record && (shard->best || run->options.annealing.on)) {
        return 1;
    }
    if ((w->record || w->show) && thin - (w->done + i) % thin < n) {
        n = thin - (w->done + i) % thin;
    }
    if (run->ladder.n > 1) {
        int64_t swap = every - (int64_t)(shard->chains->step[0] % (uint64_t)every);
        n = swap < n ? swap : n;
    }
    return n;
}

static void advance_shard(void *context, int64_t k)
{
    const window *w = context;
    sal_run *run = w->run;
    sali_run_shard *shard = &run->shards[k];
    if (w->refresh) {
        sali_engine(run->sampler)->refresh(shard->self, shard->chains);
    }
    for (int64_t i = 0, n; i < w->steps; i += n) {
        if (w->record && run->options.annealing.on) {
            cool_when_due(run, shard, w->done + i);
        }
        n = steps_until_due(w, shard, i);
        sali_sampler_steps(run->sampler, shard->self, shard->chains, n);
        swap_when_due(run, shard);
        int64_t step = w->done + i + n;
        if (w->record && shard->best) {
            sali_best_note(shard);
        }
        if (w->record && step % run->options.thin == 0) {
            sali_record_draw(run, shard, step / run->options.thin - 1);
            sali_decoded_note(run, shard);
        }
        if (w->show && step % run->options.thin == 0) {
            sali_queue_note(run, shard, step / run->options.thin - 1);
        }
    }
}

/* Steps from `made` of a window on that shards make without each other: the first step of a run
 * finds out how long steps take, and at swaps across seams shards wait for each other. */
static int64_t steps_apart(const window *w, int64_t made)
{
    const sal_run *run = w->run;
    const int64_t left = w->steps - made, step = run->warmup_done + run->steps + made;
    const int64_t swap = run->seams.any ? run->ladder.every - step % run->ladder.every : left;
    return run->pace.alone == 0 ? 1 : swap < left ? swap : left;
}

static sal_status advance(window *w, sal_error *err)
{
    sal_run *run = w->run;
    window part = *w;
    bool swapped = false;
    sal_status status = SAL_OK;
    w->refresh = false;
    for (int64_t made = 0; status == SAL_OK && made < w->steps; made += part.steps) {
        part.steps = steps_apart(w, made);
        part.done = w->done + made;
        sali_ranks_run(&run->ranks, &run->pace, (double)part.steps, run->options.threads,
                       advance_shard, &part);
        part.refresh = false;
        status = sali_seams_swap(run, made + part.steps, &swapped, err);
        if (swapped) {
            sali_run_refresh(run);
        }
    }
    return status ? status : sali_run_check(run, err);
}

/* Where one is due the run goes on from an anchor, refreshed. Not if a draw has stopped it: the
 * last state is to count no draws that were not shown. */
static sal_status anchor(window *w, int64_t before, int64_t done, sal_error *err)
{
    if (w->run->stopped || !sali_run_anchor_is_due(w->run, before, done)) {
        return SAL_OK;
    }
    w->refresh = false;
    sali_run_refresh(w->run);
    return sali_run_note_state(w->run, err);
}

/* ---- between windows */

/* Clear the sums gathered since the last time, after adding those of temperature 1 to the run's if
 * they count; shard by shard. */
static void collect(sal_run *run, bool count)
{
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_chains *chains = run->shards[k].chains;
        for (int64_t c = 0; count && c < chains->n; c++) {
            const int64_t slot = chains->id[c];
            const bool coldest = slot % run->ladder.n == 0;
            run->accepted_sum += coldest ? chains->accepted_sum[c] : 0;
            run->jump_sum += coldest ? chains->jump_sum[c] : 0;
            run->moved[slot / run->ladder.n] += chains->jump_sum[c];
        }
        if (sali_ranks_own(&run->ranks, k)) {
            sali_queue_carry(run, &run->shards[k]);
        }
        sali_chains_take_sums(chains);
    }
}

sal_status sali_run_ask(sal_run *run, int64_t done, sal_error *err)
{
    const sal_run_options *o = &run->options;
    int64_t total = o->warmup + o->draws * o->thin;
    if (o->callbacks.progress &&
        o->callbacks.progress(done, total, o->callbacks.progress_data) != 0) {
        run->stopped = true;
    }
    return sali_sync_stop(run, err);
}

/* ---- warm-up */

/* The sampler's own adaptation, unless its values were given. */
static sal_status adapt_sampler(sal_run *run, window *w, int64_t done, sal_error *err)
{
    sali_warmup warmup = {
        .model = run->model,
        .seed = run->stream_seed,
        .n_shards = run->n_shards,
        .ranks = &run->ranks,
        .chains = run->shard_chains,
        .selves = run->shard_selves,
        .window = w->steps,
        .done = done,
        .total = run->options.warmup,
    };
    bool changed = false;
    if (!sali_engine(run->sampler)->adapt || run->tuned) {
        return SAL_OK;
    }
    sal_status status = sali_engine(run->sampler)->adapt(run->shared, &warmup, &changed, err);
    w->refresh |= changed;
    return status;
}

static void adapt_step_sizes(sal_run *run, window *w, int64_t done, int64_t total)
{
    w->refresh |= sali_step_sizes_learn(&run->step_sizes, run->n_shards, run->shard_chains,
                                        w->steps, done, total);
}

static void adapt_ladder(sal_run *run, window *w, int64_t done)
{
    if (!sali_ladder_is_due(&run->ladder, done - w->steps, done, run->options.warmup)) {
        return;
    }
    sali_ladder_update(&run->ladder, run->n_shards, run->shard_swaps);
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_chains *chains = run->shards[k].chains;
        for (int64_t c = 0; c < chains->n; c++) {
            chains->beta[c] = run->ladder.beta[chains->id[c] % run->ladder.n];
        }
    }
    w->refresh = true;
}

/* Its end, an anchor: what was counted in it is forgotten. */
static sal_status end_warm_up(sal_run *run, sal_error *err)
{
    for (int64_t k = 0; run->ladder.n > 1 && k < run->n_shards; k++) {
        sali_swaps_clear(&run->shards[k].swaps, true);
    }
    sali_queue_begin(run);
    run->sampling = 1;
    sali_run_refresh(run);
    return sali_run_note_state(run, err);
}

static sal_status walk(sal_run *run, window *w, sal_error *err)
{
    bool walked = false;
    sal_status status = sali_walk(run, w->steps, &walked, err);
    for (int64_t k = run->ranks.first; walked && k < run->ranks.end; k++) {
        sali_sampler_forget(run->sampler, run->shards[k].self);
    }
    w->refresh |= walked;
    return status;
}

/* Steps of a cycle of kernels; 1: none. */
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

/* The steps of the next window. Of a warm-up that is not all windows of whole cycles the rest comes
 * first, where it matters least. */
static int64_t warm_up_steps(const sal_run *run, int64_t done)
{
    const int64_t longest = run->inner ? 1 : sali_run_adapt_window(run);
    const int64_t left = run->options.warmup - done, rest = left % longest;
    if (left < longest || (done == 0 && rest > 0 && cycle_of(run) > 1)) {
        return rest;
    }
    return longest;
}

static sal_status warm_up_window(sal_run *run, window *w, sal_error *err)
{
    int64_t warmup = run->options.warmup, done = run->warmup_done;
    w->done = done;
    run->queue.first = done / run->options.thin;
    w->steps = sali_step_sizes_window(&run->step_sizes, done, warmup, warm_up_steps(run, done));
    sal_status status = sali_sync_window(run, advance(w, err), err);
    status = status ? status : adapt_sampler(run, w, done + w->steps, err);
    status = sali_sync_status(run, status, err);
    adapt_step_sizes(run, w, done + w->steps, warmup);
    adapt_ladder(run, w, done + w->steps);
    run->warmup_done += w->steps;
    status = status ? status : walk(run, w, err);
    collect(run, false);
    if (status == SAL_OK && w->show) {
        status = sali_queue_hand_over(run, run->warmup_done / run->options.thin, true, err);
    }
    if (status == SAL_OK && run->warmup_done < warmup) {
        status = anchor(w, done, run->warmup_done, err);
    }
    return status;
}

sal_status sali_run_warm_up(sal_run *run, sal_error *err)
{
    double start = sali_now(), before = run->warmup_seconds;
    window w = { .run = run, .show = run->queue.codes && run->options.record.warmup };
    sal_status status = SAL_OK;
    while (status == SAL_OK && run->warmup_done < run->options.warmup && !run->stopped) {
        status = warm_up_window(run, &w, err);
        run->warmup_seconds = before + sali_now() - start;
        status = status ? status : sali_run_ask(run, run->warmup_done, err);
    }
    return status || run->stopped ? status : end_warm_up(run, err);
}

/* ---- after warm-up: nothing adapts, but for annealing */

/* Steps of the next window: draws that are shown must fit into their buffer. Whatever room that
 * has, windows end where anchors may be. */
static int64_t window_steps(const sal_run *run, int64_t done, int64_t steps)
{
    const sal_run_options *o = &run->options;
    int64_t n = SALI_SAMPLE_WINDOW - done % SALI_SAMPLE_WINDOW;
    n = run->inner ? 1 : n; /* a step is a sweep over many levels */
    n = steps - done < n ? steps - done : n;
    if (run->queue.codes) {
        int64_t room = (done / o->thin + run->queue.room) * o->thin - done;
        n = room < n ? room : n;
    }
    return n;
}

static sal_status sample_window(sal_run *run, window *w, sal_error *err)
{
    const sal_run_options *o = &run->options;
    int64_t steps = o->draws * o->thin;
    w->done = run->steps;
    w->steps = window_steps(run, w->done, steps);
    run->queue.first = run->draws_made;
    sal_status status = sali_sync_window(run, advance(w, err), err);
    if (o->annealing.on) {
        adapt_step_sizes(run, w, o->warmup, o->warmup);
    }
    collect(run, true);
    run->steps += w->steps;
    const int64_t made = run->draws_made;
    run->draws_made = run->steps / o->thin;
    if (status == SAL_OK && o->annealing.schedule == SAL_ANNEAL_REHEAT) {
        status = sali_sync_log_probs(run, made, err);
        status = status ? status : sali_reheat(run, &w->refresh, err);
    }
    if (status == SAL_OK) {
        status = sali_queue_hand_over(run, run->draws_made, false, err);
    }
    /* none at the end: a longer run would not have its last window */
    return status || run->steps == steps ? status : anchor(w, w->done, run->steps, err);
}

sal_status sali_run_sample(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    double start = sali_now(), before = run->seconds;
    window w = { .run = run, .record = true, .show = run->queue.codes };
    sal_status status = SAL_OK;
    while (status == SAL_OK && run->steps < o->draws * o->thin && !run->stopped) {
        status = sample_window(run, &w, err);
        run->seconds = before + sali_now() - start;
        status = status ? status : sali_run_ask(run, o->warmup + run->steps, err);
    }
    return status;
}
