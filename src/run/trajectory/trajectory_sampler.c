/* SPDX-License-Identifier: MIT */
/* Sampling along a trajectory: a step of a chain is a sweep from the independent model up to the
 * model itself. At each level the chain's state there moves by the inner sampler, then it changes
 * places with the state of the level above, with the Metropolis probability for the product of the
 * two targets. States of level 0 are drawn anew each time, so fresh states keep coming up. Each of
 * these moves leaves the product of all levels invariant, and so does the sweep. Bereux, Decelle,
 * Furtlehner & Seoane 2026 (parallel trajectory tempering). */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/object.h"
#include "models/tape_model.h"
#include "run/trajectory/trajectory.h"

typedef struct climb {
    const sal_trajectory *t;
    bool level_step_sizes;
    int64_t n, V, L, K; /* K steps at a visit of a level */
    sali_visitor visitor;
    double *top; /* [parameters] of the model itself */
    int32_t *codes, *work;
    uint64_t *step;             /* [L + 1 x n] */
    uint8_t *fresh;             /* [L + 1 x n] the state has come up from level 0 */
    int64_t *counts;            /* [L + 2]: sweeps, swaps made, arrivals */
    uint32_t *id;               /* [n] */
    double *here[2], *above[2]; /* [n] f of this level and of the next one; by MINE, NEXT */
} climb;

enum { MINE, NEXT };

/* ---- making and taking apart */

/* Whether some level has beta between 0 and 1, for which the visitor needs a bridge. */
static bool is_mixed(const sal_trajectory *t)
{
    bool mixed = false;
    for (int64_t k = 0; k < t->n; k++) {
        mixed |= t->levels[k].info.beta > 0 && t->levels[k].info.beta < 1;
    }
    return mixed;
}

/* Allocate the states of all levels for the chains, and a visitor. The population climbs at the
 * first step. */
static sal_status climb_create(const sali_chains *chains, const sali_sampler_settings *settings,
                               void *shared, void **self, sal_error *err)
{
    (void)shared;
    climb *s = SALI_OBJECT(climb);
    if (!s) {
        return sali_fail_memory(err);
    }
    const sal_trajectory *t = s->t = settings->trajectory;
    s->level_step_sizes = settings->level_step_sizes;
    s->K = t->steps * settings->level_steps;
    const int64_t n = s->n = chains->n, V = s->V = chains->space->n_variables, L = s->L = t->n;
    s->top = SALI_OBJECT_ARRAY(s, double, t->parameters);
    s->codes = SALI_OBJECT_ARRAY(s, int32_t, L * n * V);
    s->work = SALI_OBJECT_ARRAY(s, int32_t, n * V);
    s->step = SALI_OBJECT_ARRAY(s, uint64_t, (L + 1) * n);
    s->fresh = SALI_OBJECT_ARRAY(s, uint8_t, (L + 1) * n);
    s->counts = SALI_OBJECT_ARRAY(s, int64_t, L + 2);
    s->id = SALI_OBJECT_ARRAY(s, uint32_t, n);
    for (int k = MINE; k <= NEXT; k++) {
        s->here[k] = SALI_OBJECT_ARRAY(s, double, n);
        s->above[k] = SALI_OBJECT_ARRAY(s, double, n);
    }
    sal_status status = sali_object_own(s, &s->visitor, sali_visitor_free, err);
    status = status
                 ? status
                 : sali_visitor_create(&s->visitor, chains->model, t->log_base, settings->inner,
                                       settings->inner_settings, is_mixed(t), n, chains->seed, err);
    return sali_object_finish(s, status, self, err);
}

static void climb_refresh(void *self, sali_chains *chains)
{
    climb *s = self;
    sali_params_get(sali_model_tape(chains->model)->params, s->top);
    sali_chains_start(chains, false);
}

/* List the states at all levels. A count of 0 sweeps makes the next step climb from level 0
 * again. */
static int64_t climb_state(void *shared, void *self, sali_state_item *items)
{
    climb *s = self;
    (void)shared;
    if (!s) {
        return 0;
    }
    const sal_space *space = s->visitor.model->space;
    items[0] = sali_state_codes("levels.codes", space, s->L * s->n, s->codes);
    items[1] = sali_state_u64("levels.step", (s->L + 1) * s->n, s->step);
    items[2] = sali_state_u8("levels.fresh", (s->L + 1) * s->n, s->fresh);
    items[3] = sali_state_counts("levels.counts", s->L + 2, s->counts);
    return 4;
}

/* ---- levels */

/* The states at level k [n x V]; at level L, the model itself, the codes of the chains. */
static int32_t *codes_at(const climb *s, const sali_chains *chains, int64_t k)
{
    return k < s->L ? s->codes + k * s->n * s->V : chains->codes;
}

/* Take the visitor to level k, and set the numbers of the random streams that chains have there. */
static void go_to_level(climb *s, const sali_chains *chains, int64_t k)
{
    const sali_path_level *level = &s->t->levels[k];
    sali_visitor_go(&s->visitor, k < s->L ? level->values : s->top,
                    k < s->L ? level->info.beta : 1);
    for (int64_t c = 0; c < s->n; c++) {
        s->id[c] = (uint32_t)((uint64_t)chains->id[c] * (uint64_t)(s->L + 1) + (uint64_t)k);
    }
}

/* Move the states of level k, where the visitor is, by the steps of a visit. States of level 0
 * become fresh. */
static void move_level(climb *s, const sali_chains *chains, int64_t k)
{
    double own = k < s->L ? s->t->levels[k].step_size : s->t->step_size;
    double step_size = s->level_step_sizes ? own : 0;
    sali_visitor_move(&s->visitor, s->K, step_size, s->id, s->step + k * s->n,
                      codes_at(s, chains, k));
    for (int64_t c = 0; k == 0 && c < s->n; c++) {
        s->fresh[c] = 1;
    }
}

/* Try to swap the states of levels k - 1 and k of each chain. The visitor is at level k, and here[]
 * has f of level k - 1. */
static void swap_with_below(climb *s, const sali_chains *chains, int64_t k)
{
    const size_t bytes = (size_t)s->V * sizeof(int32_t);
    int32_t *low = codes_at(s, chains, k - 1), *high = codes_at(s, chains, k);
    sali_visitor_value(&s->visitor, s->n, low, s->above[MINE]);
    sali_visitor_value(&s->visitor, s->n, high, s->above[NEXT]);
    for (int64_t c = 0; c < s->n; c++) {
        sali_stream stream = { .seed = chains->seed,
                               .chain = s->id[c],
                               .step = chains->step[c],
                               .purpose = SALI_RNG_SWAP };
        double log_ratio =
            s->here[NEXT][c] + s->above[MINE][c] - s->here[MINE][c] - s->above[NEXT][c];
        if (log(sali_rng_uniform_at(&stream, 0)) < log_ratio) {
            uint8_t *fresh = s->fresh + k * s->n + c, was = *fresh;
            sali_exchange(low + c * s->V, high + c * s->V, s->work, bytes);
            *fresh = fresh[-s->n];
            fresh[-s->n] = was;
            s->counts[k]++;
        }
    }
}

/* Count the states that came from level 0 to the model itself, each once. */
static void count_arrivals(climb *s)
{
    uint8_t *fresh = s->fresh + s->L * s->n;
    for (int64_t c = 0; c < s->n; c++) {
        s->counts[s->L + 1] += fresh[c];
        fresh[c] = 0;
    }
}

/* One sweep from level 0 to the model itself: at each level swap with the level below, then
 * move. */
static void sweep_levels(climb *s, sali_chains *chains)
{
    for (int64_t k = 0; k <= s->L; k++) {
        go_to_level(s, chains, k);
        if (k > 0) {
            swap_with_below(s, chains, k);
        }
        if (k == s->L) {
            (void)sali_chains_take_sums(s->visitor.at[0].chains);
        }
        move_level(s, chains, k);
        if (k < s->L) {
            sali_visitor_value(&s->visitor, s->n, codes_at(s, chains, k), s->here[MINE]);
            sali_visitor_value(&s->visitor, s->n, codes_at(s, chains, k + 1), s->here[NEXT]);
        }
    }
    s->counts[0]++;
    count_arrivals(s);
}

/* ---- the start: a population climbs from level 0, drawn again by its weights at each level */

/* Systematic resampling of the states `from` of the level below, with weights exp(above - here),
 * into `to`. */
static void resample_level(climb *s, const sali_chains *chains, const int32_t *from, int32_t *to)
{
    double most = -INFINITY, total = 0, below = 0;
    for (int64_t c = 0; c < s->n; c++) {
        most = fmax(most, s->above[MINE][c] - s->here[MINE][c]);
    }
    if (most == -INFINITY) { /* all are forbidden here; chains start at an allowed state */
        memcpy(to, chains->codes, to == chains->codes ? 0 : (size_t)(s->n * s->V) * sizeof *to);
        return;
    }
    for (int64_t c = 0; c < s->n; c++) {
        double d = s->above[MINE][c] - s->here[MINE][c] - most;
        s->above[NEXT][c] = exp(d);
        total += s->above[NEXT][c];
    }
    sali_stream stream = {
        .seed = chains->seed, .chain = s->id[0], .step = 0, .purpose = SALI_RNG_SWAP
    };
    const double shift = sali_rng_uniform_at(&stream, 2);
    int64_t from_row = 0;
    for (int64_t c = 0; c < s->n; c++) {
        double place = ((double)c + shift) / (double)s->n * total;
        while (from_row + 1 < s->n && below + s->above[NEXT][from_row] < place) {
            below += s->above[NEXT][from_row++];
        }
        memcpy(to + c * s->V, from + from_row * s->V, (size_t)s->V * sizeof *to);
    }
}

/* Fill all levels: draw a population at level 0, and at each level resample and move it. */
static void fill_levels(climb *s, sali_chains *chains)
{
    memset(s->step, 0, (size_t)((s->L + 1) * s->n) * sizeof *s->step);
    memset(s->fresh, 0, (size_t)((s->L + 1) * s->n));
    memset(s->counts, 0, (size_t)(s->L + 2) * sizeof *s->counts);
    for (int64_t k = 0; k <= s->L; k++) {
        go_to_level(s, chains, k);
        if (k > 0) {
            sali_visitor_value(&s->visitor, s->n, codes_at(s, chains, k - 1), s->above[MINE]);
            resample_level(s, chains, codes_at(s, chains, k - 1), codes_at(s, chains, k));
        }
        move_level(s, chains, k);
        if (k < s->L) {
            sali_visitor_value(&s->visitor, s->n, codes_at(s, chains, k), s->here[MINE]);
        }
    }
}

/* ---- a step */

/* Add the acceptance of the inner sampler's steps on the model itself to the sums of the chains, K
 * steps as one. */
static void note_sums(const climb *s, sali_chains *chains)
{
    const sali_chains *inner = s->visitor.at[0].chains;
    const double steps = (double)s->K;
    for (int64_t c = 0; c < s->n; c++) {
        chains->accepted_sum[c] += inner->accepted_sum[c] / steps;
        chains->acceptance_sum[c] += inner->acceptance_sum[c] / steps;
    }
}

/* One step of the chains is a sweep; the first one fills the levels before. */
static void climb_step(void *self, sali_chains *chains)
{
    climb *s = self;
    memcpy(chains->x_new, chains->x, (size_t)(s->n * chains->space->width) * chains->element);
    if (s->counts[0] == 0) {
        fill_levels(s, chains);
    }
    sweep_levels(s, chains);
    sali_chains_embed(chains);
    sali_levels_note_jumps(chains);
    note_sums(s, chains);
    sali_chains_start(chains, false);
    sali_levels_take_fault(chains, sali_visitor_fault(&s->visitor));
    sali_chains_tick(chains);
}

void sali_trajectory_counts(const void *self, double *counts)
{
    const climb *s = self;
    for (int64_t k = 0; k < s->L + 2; k++) {
        counts[k] = (double)s->counts[k];
    }
}

void sali_trajectory_rates(int64_t n_shards, int64_t levels, const double *counts, double chains,
                           double *rate, double *arrivals)
{
    *arrivals = 0;
    for (int64_t k = 0; k < levels; k++) {
        rate[k] = 0;
    }
    for (int64_t i = 0; i < n_shards; i++) {
        const double *of = counts + i * (levels + 2);
        *arrivals += of[levels + 1];
        for (int64_t k = 0; k < levels; k++) {
            rate[k] += of[k + 1];
        }
    }
    for (int64_t k = 0; k < levels; k++) {
        rate[k] /= chains * counts[0];
    }
    *arrivals /= chains;
}

const sali_sampler sali_trajectory_record = {
    .name = "trajectory",
    .doc = "sweeps over the levels of a training's trajectory",
    .source = "Bereux, Decelle, Furtlehner & Seoane 2026",
    .engine =
        &(const sal_sampler_engine){
            .create = climb_create,
            .destroy = sali_object_free,
            .refresh = climb_refresh,
            .state = climb_state,
            .step = climb_step,
        },
};
