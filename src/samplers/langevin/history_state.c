/* SPDX-License-Identifier: MIT */
/* State items from which a stopped adaptation of PAVG is resumed (samplers/langevin/history.h). */
#include <float.h>
#include <math.h>

#include "core/error.h"
#include "samplers/langevin/history.h"

/* Upper limits, above those of any plan, of the steps to wait for and of the steps to collect. */
#define MOST_BEGIN (INT64_C(1) << 40)
#define MOST_COLLECTED (INT64_C(1) << 24)

int64_t sali_history_state(sali_adaptation_history *a, const sal_space *space,
                           sali_state_item *items)
{
    int64_t n = 0;
    items[n++] = sali_state_within(sali_state_i64("phase", 1, &a->phase), SALI_PHASE_START,
                                   SALI_PHASE_TOO_SHORT);
    items[n++] = sali_state_within(sali_state_i64("begin", 1, &a->begin), 0, MOST_BEGIN);
    items[n++] = sali_state_i64("end", 1, &a->end);
    items[n++] = sali_state_within(sali_state_i64("block_steps", 1, &a->steps), 0, MOST_BEGIN);
    items[n++] = sali_state_sums("block_jump", 1, &a->jump);
    items[n++] = sali_state_within(sali_state_f64("jump_before", 1, &a->jump_before), -1, DBL_MAX);
    items[n++] = sali_state_within(sali_state_f64("direction", 1, &a->direction), -1, 1);
    items[n++] = sali_state_within(sali_state_f64("rate", 1, &a->rate), 0, 1);
    if (a->shards) {
        for (int64_t k = 0; k < a->n_shards; k++) {
            a->progress[2 * k] = a->shards[k].n;
            a->progress[2 * k + 1] = a->shards[k].seen;
        }
        items[n++] = sali_state_within(sali_state_i64("progress", 2 * a->n_shards, a->progress), 0,
                                       MOST_BEGIN);
        items[n++] = sali_state_codes("from", space, a->room, a->from);
        items[n++] = sali_state_codes("to", space, a->room, a->to);
        items[n++] = sali_state_f64("y", a->room, a->y);
    }
    return n;
}

/* Take the shards' numbers of pairs and of steps seen from `progress`. SAL_ERR_DATA if a shard has
 * no room for so many pairs. */
static sal_status take_progress(sali_adaptation_history *a, sal_error *err)
{
    for (int64_t k = 0; k < a->n_shards; k++) {
        sali_history *h = &a->shards[k];
        if (a->progress[2 * k] > h->room) {
            return sali_fail(err, SAL_ERR_DATA, "progress: number %lld is %lld; expected 0 to %lld",
                             (long long)(2 * k + 1), (long long)a->progress[2 * k],
                             (long long)h->room);
        }
        h->n = a->progress[2 * k];
        h->seen = a->progress[2 * k + 1];
    }
    return SAL_OK;
}

sal_status sali_history_changed(sali_adaptation_history *a, bool empirical, const sali_warmup *at,
                                sal_error *err)
{
    sali_state_item end = sali_state_i64("end", 1, &a->end);
    double least = (double)(a->begin + (a->phase == SALI_PHASE_COLLECT));
    if (sali_history_collects(a) && !empirical) {
        return sali_fail(err, SAL_ERR_DATA, "phase: it collects states, but a matrix is given");
    }
    end = sali_state_within(end, least, (double)(a->begin + MOST_COLLECTED));
    sal_status status = sali_state_check(&end, err);
    if (status != SAL_OK || a->phase != SALI_PHASE_COLLECT) {
        return status;
    }
    return a->shards ? take_progress(a, err) : sali_history_open(a, at, err);
}
