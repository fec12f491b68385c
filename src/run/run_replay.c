/* SPDX-License-Identifier: MIT */
/* The draws made before a run goes on: into its records, and for another run out of memory. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "run/run.h"

/* ---- as if they were made now */

/* A draw must be one of this run: its numbers come from outside. */
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

/* Into the records, by way of the chains. */
static void record(sal_run *run, const sal_draw *draw)
{
    int64_t V = run->model->space->n_variables, whole = run->base->space->n_variables;
    for (int64_t k = run->ranks.first; k < run->ranks.end; k++) {
        sali_run_shard *shard = &run->shards[k];
        for (int64_t g = 0; g < shard->groups; g++) {
            int64_t c = g * run->ladder.n, chain = shard->first + g;
            sali_run_restrict(run, 1, draw->codes + chain * whole, shard->chains->codes + c * V);
            shard->chains->f[c] = draw->log_prob[chain];
        }
        sali_record_draw(run, shard, draw->index);
    }
}

/* Draws 0 .. n - 1, of warm-up or after it. The caller may want to see no more of them, but those
 * that are counted are all recorded. */
static sal_status replay(sal_run *run, bool warmup, int64_t n, sal_error *err)
{
    const sali_replay *replay = &run->options.resume->replay;
    sal_status status = SAL_OK;
    for (int64_t d = 0; status == SAL_OK && d < n; d++) {
        sal_draw draw;
        status = replay->read(replay->source, warmup, d, &draw, err);
        status = status ? status : check_draw(run, &draw, err);
        if (status == SAL_OK && !warmup) {
            record(run, &draw);
        }
        if (status == SAL_OK && !run->stopped) {
            sali_queue_call(run, &draw);
        }
    }
    return status;
}

sal_status sali_run_replay(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    int64_t warmup = run->calls.draw && o->record.warmup ? run->warmup_done / o->thin : 0;
    if (warmup + run->draws_made > 0 && !o->resume->replay.read) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the state is without the draws made before: let the run keep its draws "
                         "(record.draws), or write them to a file NAME.nc");
    }
    sal_status status = replay(run, true, warmup, err);
    return status ? status : replay(run, false, run->draws_made, err);
}

/* ---- out of memory */

typedef struct memory {
    const sal_run *run;
    int32_t *codes;  /* [chains x V] */
    double *figures; /* [SALI_NOTED x chains] NaN but for f */
} memory;

static sal_status read_memory(void *source, bool warmup, int64_t index, sal_draw *draw,
                              sal_error *err)
{
    memory *m = source;
    const sal_run *run = m->run;
    int64_t chains = run->options.chains, V = run->base->space->n_variables;
    if (warmup || index >= run->draws_made) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "runs do not keep the states of warm-up: write them to a file NAME.nc");
    }
    for (int64_t c = 0; c < chains; c++) {
        m->figures[SALI_NOTED_LP * chains + c] = run->log_prob[c * run->draws_made + index];
        for (int64_t v = 0; v < V; v++) {
            m->codes[c * V + v] = sali_run_draw(run, c, index, v);
        }
    }
    *draw = sali_draw_of(false, index, chains, V, m->codes, m->figures);
    return SAL_OK;
}

sal_status sali_run_keep_past(sal_run *run, sal_error *err)
{
    int64_t chains = run->options.chains;
    if (!run->draws || run->rows < chains) {
        return SAL_OK;
    }
    memory *m = SALI_TAKE(&run->memory, memory, 1);
    if (!m) {
        return sali_fail_memory(err);
    }
    m->run = run;
    m->codes = SALI_TAKE(&run->memory, int32_t, chains * run->base->space->n_variables);
    m->figures = SALI_TAKE(&run->memory, double, SALI_NOTED *chains);
    for (int64_t k = 0; m->figures && k < SALI_NOTED * chains; k++) {
        m->figures[k] = NAN;
    }
    run->state->replay = (sali_replay){ .source = m, .read = read_memory, .made = run->draws_made };
    return sali_memory_status(&run->memory, err);
}
