/* SPDX-License-Identifier: MIT */
/* Draws on their way to the caller: shards write them while a window is under way, the calling
 * thread hands them over after it. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "run/run.h"
#include "run/sync.h"

/* What the draws of a window may take, and how many there are at most. */
#define QUEUE_BYTES (INT64_C(64) << 20)
#define QUEUE_DRAWS SALI_SAMPLE_WINDOW

sal_status sali_queue_create(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    sali_draw_queue *queue = &run->queue;
    int64_t row, V = run->base->space->n_variables;
    if (!run->calls.draw) {
        return SAL_OK;
    }
    if (__builtin_mul_overflow(o->chains, V * (int64_t)sizeof *queue->codes, &row)) {
        return sali_fail_memory(err);
    }
    /* windows of warm-up and of annealing decide what it finds: they are not made shorter */
    int64_t least = o->annealing.on ? QUEUE_DRAWS / o->thin + 2 : 1;
    const int64_t window = sali_run_adapt_window(run);
    least = o->record.warmup && least < window ? window : least;
    queue->room = QUEUE_BYTES / row < least ? least : QUEUE_BYTES / row;
    queue->room = queue->room > QUEUE_DRAWS ? QUEUE_DRAWS : queue->room;
    const bool all = sal_comm_rank(run->ranks.comm) == 0;
    const int64_t first = run->chain_begin[run->ranks.first];
    queue->row0 = all ? 0 : first;
    queue->rows = all ? o->chains : run->chain_begin[run->ranks.end] - first;
    queue->codes = SALI_TAKE(&run->memory, int32_t, queue->room * queue->rows * V);
    queue->figures = SALI_TAKE(&run->memory, double, queue->room * queue->rows * SALI_NOTED);
    queue->before = SALI_TAKE(&run->memory, sali_queued_sums, queue->rows);
    return sali_memory_status(&run->memory, err);
}

void sali_queue_note(sal_run *run, sali_run_shard *shard, int64_t draw)
{
    sali_draw_queue *queue = &run->queue;
    const sali_chains *chains = shard->chains;
    int64_t V = run->base->space->n_variables;
    bool has_step_size = run->sampler->has_step_size;
    int64_t n = queue->rows;
    for (int64_t g = 0; g < shard->groups; g++) {
        int64_t row = shard->first + g - queue->row0, c = g * run->ladder.n;
        double *figures = queue->figures + (draw - queue->first) * SALI_NOTED * n + row;
        sali_queued_sums *before = &queue->before[row];
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

void sali_queue_carry(sal_run *run, const sali_run_shard *shard)
{
    for (int64_t g = 0; run->queue.codes && g < shard->groups; g++) {
        sali_queued_sums *before = &run->queue.before[shard->first + g - run->queue.row0];
        before->acceptance += shard->chains->acceptance_sum[g * run->ladder.n];
        before->jump += shard->chains->jump_sum[g * run->ladder.n];
    }
}

sal_status sali_queue_hand_over(sal_run *run, int64_t made, bool warmup, sal_error *err)
{
    const sal_run_options *o = &run->options;
    const sali_draw_queue *queue = &run->queue;
    sal_status status = sali_sync_draws(run, made, err);
    const bool calls = status == SAL_OK && queue->codes && o->callbacks.draw;
    for (int64_t d = queue->first; calls && d < made && !run->stopped; d++) {
        int64_t at = (d - queue->first) * o->chains, V = run->base->space->n_variables;
        sal_draw draw = sali_draw_of(warmup, d, o->chains, V, queue->codes + at * V,
                                     queue->figures + at * SALI_NOTED);
        sali_queue_call(run, &draw);
    }
    return status ? status : sali_sync_stop(run, err);
}

void sali_queue_call(sal_run *run, const sal_draw *draw)
{
    const sal_run_options *o = &run->options;
    run->stopped = o->callbacks.draw && o->callbacks.draw(draw, o->callbacks.draw_data) != 0;
}

void sali_queue_begin(sal_run *run)
{
    run->queue.first = 0;
    if (run->queue.codes) {
        memset(run->queue.before, 0, (size_t)run->queue.rows * sizeof *run->queue.before);
    }
}
