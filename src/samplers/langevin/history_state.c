/* What the adaptation of PAVG has to keep to be stopped and to go on (samplers/langevin/history.h).
 */
#include <float.h>
#include <math.h>

#include "core/error.h"
#include "samplers/langevin/history.h"

/* More steps than any plan has to wait for, and to collect. */
#define MOST_BEGIN (INT64_C(1) << 40)
#define MOST_COLLECTED (INT64_C(1) << 24)

int64_t sali_history_state(sali_adaptation_history *a, sali_state_item *items)
{
    int64_t n = 0;
    items[n++] = sali_state_i64("phase", 1, &a->phase);
    items[n++] = sali_state_i64("begin", 1, &a->begin);
    items[n++] = sali_state_i64("end", 1, &a->end);
    items[n++] = sali_state_i64("block_steps", 1, &a->steps);
    items[n++] = sali_state_f64("block_jump", 1, &a->jump);
    items[n++] = sali_state_f64("jump_before", 1, &a->jump_before);
    items[n++] = sali_state_f64("direction", 1, &a->direction);
    items[n++] = sali_state_f64("rate", 1, &a->rate);
    if (a->shards) {
        for (int64_t k = 0; k < a->n_shards; k++) {
            a->progress[2 * k] = a->shards[k].n;
            a->progress[2 * k + 1] = a->shards[k].seen;
        }
        items[n++] = sali_state_i64("progress", 2 * a->n_shards, a->progress);
        items[n++] = sali_state_i32("from", a->room * a->variables, a->from);
        items[n++] = sali_state_i32("to", a->room * a->variables, a->to);
        items[n++] = sali_state_f64("y", a->room, a->y);
    }
    return n;
}

static sal_status check_scalars(const sali_adaptation_history *a, bool empirical, sal_error *err)
{
    int64_t last = SALI_PHASE_GAMMA;
    sal_status status = sali_state_check_i64("phase", 1, &a->phase, SALI_PHASE_START, last, err);
    status = status ? status : sali_state_check_i64("begin", 1, &a->begin, 0, MOST_BEGIN, err);
    status = status ? status
                    : sali_state_check_i64("end", 1, &a->end,
                                           a->begin + (a->phase == SALI_PHASE_COLLECT ? 1 : 0),
                                           a->begin + MOST_COLLECTED, err);
    status =
        status ? status : sali_state_check_i64("block_steps", 1, &a->steps, 0, MOST_BEGIN, err);
    status = status ? status : sali_state_check_f64("block_jump", 1, &a->jump, 0, DBL_MAX, err);
    status =
        status ? status : sali_state_check_f64("jump_before", 1, &a->jump_before, -1, DBL_MAX, err);
    status = status ? status : sali_state_check_f64("direction", 1, &a->direction, -1, 1, err);
    status = status ? status : sali_state_check_f64("rate", 1, &a->rate, 0, 1, err);
    bool collects = a->phase == SALI_PHASE_IGNORE || a->phase == SALI_PHASE_COLLECT;
    if (status == SAL_OK && collects && !empirical) {
        return sali_fail(err, SAL_ERR_DATA, "phase: it collects states, but a matrix is given");
    }
    return status;
}

static sal_status check_codes(const char *name, const sal_space *space, int64_t n,
                              const int32_t *codes, sal_error *err)
{
    for (int64_t i = 0; i < n * space->n_variables; i++) {
        if (!sali_has_code(&space->variables[i % space->n_variables], codes[i])) {
            return sali_fail(err, SAL_ERR_DATA, "%s: %d is no code of variable %lld", name,
                             (int)codes[i], (long long)(i % space->n_variables));
        }
    }
    return SAL_OK;
}

static sal_status take_progress(sali_adaptation_history *a, const sali_warmup *at, sal_error *err)
{
    const sal_space *space = at->model->space;
    sal_status status = SAL_OK;
    for (int64_t k = 0; status == SAL_OK && k < a->n_shards; k++) {
        sali_history *h = &a->shards[k];
        const int64_t *progress = a->progress + 2 * k;
        status = sali_state_check_i64("progress", 1, &progress[0], 0, h->room, err);
        status =
            status ? status : sali_state_check_i64("progress", 1, &progress[1], 0, MOST_BEGIN, err);
        status = status ? status : check_codes("from", space, progress[0], h->from, err);
        status = status ? status : check_codes("to", space, progress[0], h->to, err);
        h->n = status ? 0 : progress[0];
        h->seen = status ? 0 : progress[1];
    }
    return status;
}

sal_status sali_history_restored(sali_adaptation_history *a, bool empirical, const sali_warmup *at,
                                 sal_error *err)
{
    sal_status status = check_scalars(a, empirical, err);
    if (status != SAL_OK || a->phase != SALI_PHASE_COLLECT) {
        return status;
    }
    return a->shards ? take_progress(a, at, err) : sali_history_open(a, at, err);
}
