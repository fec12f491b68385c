/* SPDX-License-Identifier: MIT */
/* Draws on their way to the caller: shards write them during a window, and the calling thread hands
 * them over after it. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "run/part.h"
#include "run/sync.h"

/* Sums over a chain's steps since its last draw, minus what the chain has gathered in the present
 * window; less than 0 if the last draw was made in this window. */
typedef struct queued_sums {
    double acceptance, jump;
} queued_sums;

typedef struct draw_queue {
    sal_run *run;
    int64_t room;        /* draws that a window may make */
    int64_t row0, rows;  /* chains that have a place here: all at rank 0, else the rank's own */
    int64_t first;       /* the first draw of the window under way */
    int32_t *codes;      /* [room x rows x V of base] */
    double *figures;     /* [room x SALI_NOTED x rows] */
    queued_sums *before; /* [rows] */
} draw_queue;

/* The bytes that the draws of a window may take, and the most draws of a window. */
#define QUEUE_BYTES (INT64_C(64) << 20)
#define QUEUE_DRAWS SALI_SAMPLE_WINDOW

static bool is_wanted(const sal_run *run)
{
    return run->calls.draw;
}

/* Make room for the draws of a window: as many as fit into QUEUE_BYTES, but enough that windows of
 * annealing, and of a warm-up whose draws are passed on, need not be shorter. */
static sal_status open(void *self, sal_error *err)
{
    draw_queue *queue = self;
    sal_run *run = queue->run;
    const sal_run_options *o = &run->options;
    int64_t row, V = run->base->space->n_variables;
    if (__builtin_mul_overflow(o->chains, V * (int64_t)sizeof *queue->codes, &row)) {
        return sali_fail_memory(err);
    }
    /* adaptation and annealing depend on the length of windows, so these are not made shorter */
    int64_t least = o->annealing.on ? QUEUE_DRAWS / o->thin + 2 : 1;
    const int64_t window = sali_run_adapt_window(run);
    least = o->record.warmup && least < window ? window : least;
    queue->room = QUEUE_BYTES / row < least ? least : QUEUE_BYTES / row;
    queue->room = queue->room > QUEUE_DRAWS ? QUEUE_DRAWS : queue->room;
    queue->rows = sali_run_rows(run, false, &queue->row0);
    queue->codes = SALI_TAKE(&run->memory, int32_t, queue->room * queue->rows * V);
    queue->figures = SALI_TAKE(&run->memory, double, queue->room * queue->rows * SALI_NOTED);
    queue->before = SALI_TAKE(&run->memory, queued_sums, queue->rows);
    for (int64_t c = 0; o->resume && queue->before && c < queue->rows; c++) {
        queue->before[c] = (queued_sums){ NAN, NAN }; /* unknown if that run passed none on */
    }
    return sali_memory_status(&run->memory, err);
}

/* End windows before the draws that are passed on exceed the queue; those of warm-up always fit. */
static int64_t longest(const void *self, const sali_window *w)
{
    const draw_queue *queue = self;
    const int64_t thin = queue->run->options.thin;
    return w->warmup ? SALI_NEVER : (w->done / thin + queue->room) * thin - w->done;
}

/* Put the draw into the queue, with acceptance and jump since the chain's last draw. */
static void draw(void *self, sali_run_shard *shard, int64_t draw)
{
    draw_queue *queue = self;
    const sal_run *run = queue->run;
    const sali_chains *chains = shard->chains;
    int64_t V = run->base->space->n_variables;
    bool has_step_size = run->sampler->has_step_size;
    int64_t n = queue->rows;
    for (int64_t g = 0; g < shard->groups; g++) {
        int64_t row = shard->first + g - queue->row0, c = g * run->replicas;
        double *figures = queue->figures + (draw - queue->first) * SALI_NOTED * n + row;
        queued_sums *before = &queue->before[row];
        double steps = (double)run->options.thin;
        sali_run_expand(run, 1, chains->codes + c * chains->space->n_variables,
                        queue->codes + ((draw - queue->first) * n + row) * V);
        /* a difference of sums may be off by their rounding */
        double rate = (before->acceptance + chains->acceptance_sum[c]) / steps;
        figures[SALI_NOTED_LP * n] = chains->f[c];
        figures[SALI_NOTED_ACCEPTANCE * n] = rate > 1 ? 1 : rate < 0 ? 0 : rate;
        figures[SALI_NOTED_JUMP * n] = before->jump + chains->jump_sum[c];
        figures[SALI_NOTED_STEP_SIZE * n] = has_step_size ? chains->step_size[c] : NAN;
        before->acceptance = -chains->acceptance_sum[c];
        before->jump = -chains->jump_sum[c];
    }
}

/* Add the sums that the chains gathered in this window to the sums since their last draws. */
static void carry_sums(const draw_queue *queue)
{
    const sal_run *run = queue->run;
    for (int64_t k = run->ranks.first; k < run->ranks.end; k++) {
        const sali_run_shard *shard = &run->shards[k];
        for (int64_t g = 0; g < shard->groups; g++) {
            queued_sums *before = &queue->before[shard->first + g - queue->row0];
            before->acceptance += shard->chains->acceptance_sum[g * run->replicas];
            before->jump += shard->chains->jump_sum[g * run->replicas];
        }
    }
}

/* Bring the draws of the window, up to number `made`, from other ranks to rank 0. */
static sal_status collect_draws(const draw_queue *queue, int64_t made, sal_error *err)
{
    sal_run *run = queue->run;
    const int64_t n = made - queue->first, V = run->base->space->n_variables;
    sal_status status = SAL_OK;
    if (n > 0) {
        status =
            sali_sync_draw_rows(run, n, 1, (size_t)V * sizeof *queue->codes, queue->codes, err);
    }
    if (status == SAL_OK && n > 0) {
        status =
            sali_sync_draw_rows(run, n, SALI_NOTED, sizeof *queue->figures, queue->figures, err);
    }
    return status;
}

/* After a window: carry the sums over, and pass the draws to the caller. Sums count also in a
 * warm-up whose draws are not passed on. */
static sal_status window(void *self, const sali_window *w, bool *refresh, sal_error *err)
{
    draw_queue *queue = self;
    sal_run *run = queue->run;
    const sal_run_options *o = &run->options;
    const int64_t made = (w->done + w->steps) / o->thin;
    (void)refresh;
    carry_sums(queue);
    if (w->warmup && !o->record.warmup) {
        return SAL_OK;
    }
    sal_status status = collect_draws(queue, made, err);
    const bool calls = status == SAL_OK && o->callbacks.draw;
    for (int64_t d = queue->first; calls && d < made && !run->stopped; d++) {
        int64_t at = (d - queue->first) * o->chains, V = run->base->space->n_variables;
        sal_draw draw = sali_draw_of(w->warmup, d, o->chains, V, queue->codes + at * V,
                                     queue->figures + at * SALI_NOTED);
        run->stopped = o->callbacks.draw(&draw, o->callbacks.draw_data) != 0;
    }
    queue->first = made;
    return status ? status : sali_sync_stop(run, err);
}

static void warmed_up(void *self)
{
    draw_queue *queue = self;
    queue->first = 0;
    memset(queue->before, 0, (size_t)queue->rows * sizeof *queue->before);
}

/* List the sums since the last draws; optional, because states of runs that passed no draws on lack
 * them. */
static int64_t items(void *self, sali_run_shard *shard, sali_state_item *items)
{
    const draw_queue *queue = self;
    if (!shard) {
        return 0;
    }
    const bool own = sali_ranks_own(&queue->run->ranks, shard->k);
    queued_sums *before = own ? &queue->before[shard->first - queue->row0] : NULL;
    items[0] = sali_state_f64("shown", 2 * shard->groups, own ? &before->acceptance : NULL);
    items[0].optional = true;
    return 1;
}

/* Set the first draw of the next window from the run's counters. */
static sal_status restored(void *self, const sali_run_shard *shard, sal_error *err)
{
    draw_queue *queue = self;
    const sal_run *run = queue->run;
    (void)shard;
    (void)err;
    queue->first = run->sampling ? run->draws_made : run->warmup_done / run->options.thin;
    return SAL_OK;
}

const sali_run_part sali_part_draw_queue = {
    .name = "draw_queue",
    .sees_warmup = true,
    .wanted = is_wanted,
    .size = sizeof(draw_queue),
    .open = open,
    .longest = longest,
    .draw = draw,
    .window = window,
    .warmed_up = warmed_up,
    .items = items,
    .restored = restored,
};
