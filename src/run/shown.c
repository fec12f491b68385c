/* Draws on their way to the caller: shards write them while a window is under way, the calling
 * thread hands them over after it. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "run/run.h"

/* What the draws of a window may take, and how many there are at most. */
#define SHOWN_BYTES (INT64_C(64) << 20)
#define SHOWN_DRAWS SALI_SAMPLE_WINDOW

sal_status sali_shown_create(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    sali_shown *shown = &run->shown;
    int64_t row, V = run->base->space->n_variables;
    if (!o->callbacks.draw) {
        return SAL_OK;
    }
    if (__builtin_mul_overflow(o->chains, V * (int64_t)sizeof *shown->codes, &row)) {
        return sali_fail_memory(err);
    }
    /* windows of warm-up and of annealing decide what it finds: they are not made shorter */
    int64_t least = o->annealing.on ? SHOWN_DRAWS / o->thin + 2 : 1;
    least = o->record.warmup && least < SALI_ADAPT_WINDOW ? SALI_ADAPT_WINDOW : least;
    shown->room = SHOWN_BYTES / row < least ? least : SHOWN_BYTES / row;
    shown->room = shown->room > SHOWN_DRAWS ? SHOWN_DRAWS : shown->room;
    shown->codes = sali_memory_take(&run->memory, shown->room, (size_t)row);
    shown->log_prob = SALI_TAKE(&run->memory, double, shown->room * o->chains);
    shown->acceptance = SALI_TAKE(&run->memory, double, shown->room * o->chains);
    shown->jump = SALI_TAKE(&run->memory, double, shown->room * o->chains);
    shown->step_size = SALI_TAKE(&run->memory, double, shown->room * o->chains);
    shown->before = SALI_TAKE(&run->memory, sali_shown_sums, o->chains);
    return sali_memory_status(&run->memory, err);
}

void sali_shown_note(sal_run *run, sali_run_shard *shard, int64_t draw)
{
    sali_shown *shown = &run->shown;
    const sali_chains *chains = shard->chains;
    int64_t V = run->base->space->n_variables;
    bool has_step_size = run->sampler->flags & SALI_SAMPLER_STEP_SIZE;
    for (int64_t g = 0; g < shard->groups; g++) {
        int64_t chain = shard->first + g, c = g * run->ladder.n;
        int64_t at = (draw - shown->first) * run->options.chains + chain;
        sali_shown_sums *before = &shown->before[chain];
        double steps = (double)run->options.thin;
        sali_run_expand(run, 1, chains->codes + c * chains->space->n_variables,
                        shown->codes + at * V);
        shown->log_prob[at] = chains->f[c];
        /* a difference of sums may be off by their rounding */
        double rate = (before->acceptance + chains->acceptance_sum[c]) / steps;
        shown->acceptance[at] = rate > 1 ? 1 : rate < 0 ? 0 : rate;
        shown->jump[at] = before->jump + chains->jump_sum[c];
        shown->step_size[at] = has_step_size ? chains->step_size[c] : NAN;
        before->acceptance = -chains->acceptance_sum[c];
        before->jump = -chains->jump_sum[c];
    }
}

void sali_shown_carry(sal_run *run, const sali_run_shard *shard)
{
    for (int64_t g = 0; run->shown.codes && g < shard->groups; g++) {
        sali_shown_sums *before = &run->shown.before[shard->first + g];
        before->acceptance += shard->chains->acceptance_sum[g * run->ladder.n];
        before->jump += shard->chains->jump_sum[g * run->ladder.n];
    }
}

void sali_shown_hand_over(sal_run *run, int64_t made, bool warmup)
{
    const sal_run_options *o = &run->options;
    const sali_shown *shown = &run->shown;
    for (int64_t d = shown->first; shown->codes && d < made && !run->stopped; d++) {
        int64_t at = (d - shown->first) * o->chains;
        sal_draw draw = {
            .index = d,
            .warmup = warmup,
            .chains = o->chains,
            .variables = run->base->space->n_variables,
            .codes = shown->codes + at * run->base->space->n_variables,
            .log_prob = shown->log_prob + at,
            .acceptance_rate = shown->acceptance + at,
            .jump = shown->jump + at,
            .step_size = shown->step_size + at,
        };
        sali_shown_call(run, &draw);
    }
}

void sali_shown_call(sal_run *run, const sal_draw *draw)
{
    const sal_run_options *o = &run->options;
    run->stopped = o->callbacks.draw && o->callbacks.draw(draw, o->callbacks.draw_data) != 0;
}

void sali_shown_begin(sal_run *run)
{
    run->shown.first = 0;
    if (run->shown.codes) {
        memset(run->shown.before, 0, (size_t)run->options.chains * sizeof *run->shown.before);
    }
}
