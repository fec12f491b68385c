/* SPDX-License-Identifier: MIT */
#include "samplers/radius_search.h"

#include <math.h>
#include <string.h>

#include "core/error.h"

enum { COARSE = 5, LAST_BASE = 15 };
static const int64_t coarse[COARSE] = { 1, 5, 10, LAST_BASE, 20 };

const char *const sali_radius_words[] = { "search", NULL };

void sali_radius_search_begin(sali_radius_search *r, bool on, double most)
{
    sali_radius_search_begin_for(r, on, "radius", 1, 1, most);
}

void sali_radius_search_begin_window(sali_radius_search *r, const sal_space *space, double value)
{
    int64_t levels = 1;
    for (int64_t b = 0; !space->unbounded && b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        levels = s->states - 1 > levels ? s->states - 1 : levels;
    }
    sali_radius_search_begin(r, value == SALI_RADIUS_SEARCHED, (double)levels);
}

void sali_radius_search_begin_for(sali_radius_search *r, bool on, const char *name, double first,
                                  double unit, double most)
{
    *r = (sali_radius_search){ .on = on,
                               .name = name,
                               .first = first,
                               .unit = unit,
                               .most = most,
                               .radius = first,
                               .base = coarse[0] };
    r->search = (sali_jump_search){ .rungs = 1, .room = SALI_RADII, .jump = r->jump };
}

/* ---- stages */

/* Number of candidates of the present stage; the fine stage includes both ends of its interval. */
static int64_t candidate_count(const sali_radius_search *r)
{
    return r->stage == SALI_RADIUS_FINE && r->base > coarse[0] ? SALI_RADII : COARSE;
}

static double candidate_radius(const sali_radius_search *r, int64_t k)
{
    int64_t radius = r->stage == SALI_RADIUS_COARSE && k < COARSE ? coarse[k] : r->base + k;
    return fmin(r->first + r->unit * (double)(radius - 1), r->most);
}

/* Begin a stage; each turn takes total / 4 / candidates steps, but at least a window. */
static void begin_stage(sali_radius_search *r, int64_t stage, int64_t total, const sali_warmup *w)
{
    r->stage = stage;
    memset(r->steps, 0, sizeof r->steps);
    int64_t n = candidate_count(r), length = total / 4 / n;
    sali_jump_search_begin(&r->search, n, length > w->window ? length : w->window, w->done);
}

/* The lower end of the best interval of the coarse stage: the neighbours with the largest sum of
 * mean jumps. */
static int64_t best_interval(const sali_radius_search *r)
{
    int64_t best = 0;
    for (int64_t k = 1; k < COARSE - 1; k++) {
        best = r->jump[k] + r->jump[k + 1] > r->jump[best] + r->jump[best + 1] ? k : best;
    }
    return coarse[best];
}

/* End a stage: sums of jumps become means for each step, the best candidate is taken, and the fine
 * stage follows the coarse one unless warm-up is over. */
static void end_stage(sali_radius_search *r, int64_t total, const sali_warmup *w)
{
    for (int64_t k = 0; k < r->search.candidates; k++) {
        r->jump[k] = r->steps[k] > 0 ? r->jump[k] / (double)r->steps[k] : 0;
    }
    r->radius = candidate_radius(r, sali_jump_search_best(&r->search, 0));
    if (r->stage == SALI_RADIUS_COARSE && w->done < total) {
        r->base = best_interval(r);
        begin_stage(r, SALI_RADIUS_FINE, total, w);
    } else {
        r->stage = SALI_RADIUS_FOUND;
        r->search.candidates = 0;
    }
}

/* Use the candidate whose turn is the next window. */
static void take_turn(sali_radius_search *r, int64_t done)
{
    if (r->search.candidates > 0) {
        int64_t turn = sali_jump_search_turn(&r->search, 0, done);
        r->tried = turn > 0 ? turn : 0; /* a restored state may have a `begin` after `done` */
        r->radius = candidate_radius(r, r->tried);
    }
}

bool sali_radius_search_adapt(sali_radius_search *r, const sali_warmup *w)
{
    const bool endless = w->total == SALI_WARMUP_ENDLESS;
    const int64_t total = endless ? SALI_RADIUS_ENDLESS : w->total;
    const double before = r->radius;
    if (!r->on || r->stage == SALI_RADIUS_FOUND) {
        return false;
    }
    if (r->stage == SALI_RADIUS_WAITS) {
        if (w->done >= total / 4 && w->done < total) {
            begin_stage(r, SALI_RADIUS_COARSE, total, w);
        }
    } else {
        r->jump[r->tried] += sali_warmup_jump(w) * (double)w->window;
        r->steps[r->tried] += w->window;
        if (sali_jump_search_over(&r->search, w->done) || w->done >= total) {
            end_stage(r, total, w);
        }
    }
    take_turn(r, w->done);
    return r->radius != before;
}

/* ---- the state */

/* The 9 state items of the search; none if the search is off. */
static int64_t state(void *piece, sali_state_item *items)
{
    sali_radius_search *r = piece;
    sali_state_item radius = sali_state_f64(r->name, 1, &r->radius);
    sali_state_item stage = sali_state_i64("stage", 1, &r->stage);
    sali_jump_search *s = &r->search;
    sali_state_item length = sali_state_i64("length", 1, &s->length);
    int64_t n = 0;
    if (!r->on) {
        return 0;
    }
    radius.whole = r->unit == 1;
    items[n++] = sali_state_for(SALI_STATE_TUNED | SALI_STATE_KEPT,
                                sali_state_within(radius, r->first, r->most));
    items[n++] = sali_state_within(stage, SALI_RADIUS_WAITS, SALI_RADIUS_FOUND);
    items[n++] = sali_state_within(sali_state_i64("base", 1, &r->base), 1, LAST_BASE);
    items[n++] = sali_state_within(sali_state_i64("tried", 1, &r->tried), 0, SALI_RADII - 1);
    items[n++] = sali_state_sums("jump", SALI_RADII, r->jump);
    items[n++] = sali_state_counts("steps", SALI_RADII, r->steps);
    items[n++] = sali_state_counts("begin", 1, &s->begin);
    items[n++] = sali_state_within(length, 0, SALI_STATE_MOST / SALI_RADII);
    items[n++] = sali_state_within(sali_state_i64("candidates", 1, &s->candidates), 0, SALI_RADII);
    return n;
}

/* SAL_ERR_DATA if the items are not consistent. */
static sal_status changed(void *piece, const sali_warmup *at, sal_error *err)
{
    const sali_radius_search *r = piece;
    const bool searching = r->stage == SALI_RADIUS_COARSE || r->stage == SALI_RADIUS_FINE;
    const int64_t expected = searching ? candidate_count(r) : 0;
    if (r->on && at && r->search.candidates != expected) {
        return sali_fail(err, SAL_ERR_DATA, "candidates is %lld; expected %lld",
                         (long long)r->search.candidates, (long long)expected);
    }
    return !r->on || !at || !searching || r->search.length > 0
               ? SAL_OK
               : sali_fail(err, SAL_ERR_DATA, "length is 0 while radii are searched for");
}

static sal_status adapt(void *piece, const sali_warmup *warmup, bool *renewed, sal_error *err)
{
    (void)err;
    *renewed |= sali_radius_search_adapt(piece, warmup);
    return SAL_OK;
}

const sali_adaptive sali_radius_adaptive = { adapt, state, changed };
