/* SPDX-License-Identifier: MIT */
/* The draws made before a run is resumed, handled as if they were made now. */
#include <math.h>

#include "core/error.h"
#include "run/part.h"

/* SAL_ERR_DATA unless a draw, which comes from outside, can be one of this run: its sizes, codes,
 * clamped variables and f. */
static sal_status check_draw(const sal_run *run, const sal_draw *draw, sal_error *err)
{
    const sal_space *space = run->base->space;
    const sal_clamps *clamps = &run->options.clamps;
    if (draw->chains != run->options.chains || draw->variables != space->n_variables) {
        return sali_fail(err, SAL_ERR_DATA,
                         "the draws are of %lld chains and %lld variables; expected %lld and %lld",
                         (long long)draw->chains, (long long)draw->variables,
                         (long long)run->options.chains, (long long)space->n_variables);
    }
    sal_status status = sali_codes_check(space, draw->chains, draw->codes, err);
    for (int64_t c = 0; status == SAL_OK && c < draw->chains; c++) {
        const int32_t *codes = draw->codes + c * space->n_variables;
        bool held = true;
        for (int64_t k = 0; k < clamps->n; k++) {
            held = held && codes[clamps->variables[k]] == clamps->codes[k];
        }
        if (!held) {
            status = sali_fail(err, SAL_ERR_DATA, "a clamped variable has another code");
        } else if (!(draw->log_prob[c] < INFINITY)) {
            status = sali_fail(err, SAL_ERR_DATA, "f is %g", draw->log_prob[c]);
        }
    }
    return status ? sali_fail_prefix(err, SAL_ERR_DATA, "draw %lld", (long long)draw->index)
                  : SAL_OK;
}

/* Pass a draw to the parts that see old draws again. Parts read draws from the chains, so the codes
 * and f of the recorded slots are overwritten. */
static void record_draw(sal_run *run, const sal_draw *draw)
{
    int64_t V = run->model->space->n_variables, whole = run->base->space->n_variables;
    for (int64_t k = run->ranks.first; k < run->ranks.end; k++) {
        sali_run_shard *shard = &run->shards[k];
        for (int64_t g = 0; g < shard->groups; g++) {
            int64_t c = g * run->replicas, chain = shard->first + g;
            sali_run_restrict(run, 1, draw->codes + chain * whole, shard->chains->codes + c * V);
            shard->chains->f[c] = draw->log_prob[chain];
        }
        SALI_EACH_PART (run, p, part, replayed) {
            part->draw(run->selves[p], shard, draw->index);
        }
    }
}

/* Read draws 0 .. n - 1 again, of warm-up or after it, and pass them to the caller. If the caller
 * stops the run, the rest is still recorded, because the state counts all of them. */
static sal_status replay_draws(sal_run *run, bool warmup, int64_t n, sal_error *err)
{
    const sali_replay *replay = &run->options.resume->replay;
    sal_status status = SAL_OK;
    for (int64_t d = 0; status == SAL_OK && d < n; d++) {
        sal_draw draw;
        status = replay->read(replay->source, warmup, d, &draw, err);
        status = status ? status : check_draw(run, &draw, err);
        if (status == SAL_OK && !warmup) {
            record_draw(run, &draw);
        }
        if (status == SAL_OK && !run->stopped) {
            const sal_run_callbacks *c = &run->options.callbacks;
            run->stopped = c->draw && c->draw(&draw, c->draw_data) != 0;
        }
    }
    return status;
}

sal_status sali_run_replay(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    int64_t warmup = run->calls.draw && o->record.warmup ? run->warmup_done / o->thin : 0;
    if (run->endless) { /* its states were looked at, and no draws made */
        return SAL_OK;
    }
    if (warmup + run->draws_made > 0 && !o->resume->replay.read) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the state is without the draws made before: let the run keep its draws "
                         "(record.draws), or write them to a file NAME.nc");
    }
    sal_status status = replay_draws(run, true, warmup, err);
    return status ? status : replay_draws(run, false, run->draws_made, err);
}
