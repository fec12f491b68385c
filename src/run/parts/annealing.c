/* SPDX-License-Identifier: MIT */
/* Annealing: schedules of temperatures (Kirkpatrick, Gelatt & Vecchi 1983). The temperature is set
 * at fixed steps after warm-up; warm-up runs at the first temperature.
 *
 * The schedule 'reheat' heats again when the search stagnates (ReSCO 2025).
 *
 * The first cooling takes a quarter of the steps. The specific heat at its temperatures comes from
 * the draws. ReSCO heats to where it is largest; where f has penalties, that is far above the
 * temperatures that matter. So later coolings begin a little above the coldest temperature at which
 * chains still move much: where the specific heat is a tenth of the largest. At each heating the
 * worst chains resume from the best state that any chain met.
 *
 * All is decided between windows by the calling thread, from draws and states in the order of the
 * chains, so it does not depend on the number of threads. */
#include "run/parts/annealing.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "run/ascent.h"
#include "run/parts/best.h"
#include "run/parts/record.h"
#include "run/sync.h"

/* The usual temperatures. The first is the mean size of a difference, where it is smaller: at the
 * starts, or at states from which no single change leads up. A step down by that much is accepted
 * with probability 1/e. (Random starts break many penalties, and have differences far larger than
 * those that matter.) The last is d / (1 + log V), d a small size at the latter states:
 * of V variables that can step down by d about one does so in three sweeps. */

/* Number of temperatures of a cooling; the schedule 'reheat' has several short coolings. */
#define LEVELS 256
#define SHORT_COOLINGS 4

/* At most so many chains are used to find the range, and entries of all of them together. */
#define CHAINS 8
#define ENTRIES (INT64_C(1) << 22)
/* The first temperature if f does not vary; and the least ratio of the first temperature to the
 * last. */
#define FLAT_FROM 1.0
#define LEAST_RANGE 10.0

/* The first cooling takes this part of all steps, and each later cooling at most that part. */
#define FIRST_PART 4
#define LATER_PART 8
/* Chains are frozen where the specific heat is less than 1/FROZEN_PART of the largest. Later
 * coolings begin at ABOVE times the coldest temperature where chains are not frozen. */
#define FROZEN_PART 10.0
#define ABOVE 1.5
/* A search stagnates when the mean of f changes by less than a STAGNANT part of itself from one
 * look to the next. A look comes after PATIENCE draws, or earlier in short runs, which have
 * LEAST_LOOKS looks at least. */
#define STAGNANT 0.01
#define PATIENCE 100
#define LEAST_LOOKS 16
/* One chain in SHARED_PART is moved to the best state. */
#define SHARED_PART 4

/* ---- the range of temperatures */

/* *from and *to receive the default first and last temperature, from sizes of differences at the
 * starts of shard 0 and at the ends of an ascent from there. */
static sal_status find_range(sal_run *run, double *from, double *to, sal_error *err)
{
    const sali_chains *chains = run->shards[0].chains;
    const sal_space *space = chains->space;
    int64_t n = ENTRIES / space->n_states;
    n = n < 1 ? 1 : n > CHAINS ? CHAINS : n;
    n = n < chains->n ? n : chains->n;
    sali_sizes_seen seen = { 0 };
    int32_t *codes = sali_memdup(chains->codes, n * space->n_variables, sizeof *codes);
    sal_status status = codes ? sali_ascend(run->model, n, codes, run->options.seed, &seen, err)
                              : sali_fail_memory(err);
    *from =
        seen.mean_at_ends > 0 ? fmin(seen.mean_at_starts, seen.mean_at_ends) : seen.mean_at_starts;
    *from = *from > 0 ? *from : FLAT_FROM;
    *to = seen.small / (1 + log((double)space->n_variables));
    *to = *to > 0 && *to < *from / LEAST_RANGE ? *to : *from / LEAST_RANGE;
    sali_free(codes);
    return status;
}

/* Set a->from and a->to from the options, or by find_range where these give none. Collective.
 * SAL_ERR_ARGUMENT: the temperature would rise. */
static sal_status set_range(sali_annealing *a, sal_error *err)
{
    sal_run *run = a->run;
    const sal_run_options *o = &run->options;
    double from = o->annealing.from, to = o->annealing.to;
    if (from == 0 || to == 0) {
        double found[2] = { from, to };
        sal_status status =
            sali_ranks_own(&run->ranks, 0) ? find_range(run, &found[0], &found[1], err) : SAL_OK;
        status = sali_sync_status(run, status, err);
        status = status ? status : sali_sync_value(run, found, sizeof found, err);
        if (status != SAL_OK) {
            return status;
        }
        from = found[0];
        to = found[1];
    }
    a->from = o->annealing.from > 0 ? o->annealing.from : from;
    a->to = o->annealing.to > 0 ? o->annealing.to : to < a->from ? to : a->from / LEAST_RANGE;
    if (a->to > a->from) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "annealing from temperature %g%s to %g; expected it to fall", a->from,
                         o->annealing.from > 0 ? "" : " (computed from f)", a->to);
    }
    return SAL_OK;
}

/* ---- schedules */

static bool is_linear(const sal_run *run)
{
    const sal_annealing_schedule schedule = run->options.annealing.schedule;
    return schedule == SAL_ANNEAL_LINEAR || schedule == SAL_ANNEAL_RLSA;
}

static bool is_reheating(const sal_run *run)
{
    return run->options.annealing.schedule == SAL_ANNEAL_REHEAT;
}

static int64_t all_steps(const sal_run *run)
{
    return run->options.draws * run->options.thin;
}

/* The number of steps at one temperature. */
static int64_t level_steps(const sal_run *run)
{
    const int64_t steps = all_steps(run),
                  levels = is_reheating(run) ? SHORT_COOLINGS * LEVELS : LEVELS;
    return steps > levels ? steps / levels : 1;
}

/* The number of steps of the present cooling, in the schedule 'reheat'. */
static double length_of(const sali_annealing *a)
{
    const int64_t part = a->heating.reheats > 0 ? LATER_PART : FIRST_PART;
    const double steps = (double)all_steps(a->run) / (double)part;
    return steps > 1 ? steps : 1;
}

/* The temperature at a step after warm-up. */
static double temperature_at(const sali_annealing *a, int64_t step)
{
    const sal_run *run = a->run;
    const int64_t steps = all_steps(run), level = level_steps(run);
    const double share = (double)step / (double)steps;
    if (is_reheating(run)) {
        const double top = a->heating.reheats > 0 ? a->heating.peak : a->from;
        const double cooled = (double)(step - a->heating.begun) / length_of(a);
        return cooled < 1 ? top * pow(a->to / top, cooled) : a->to;
    }
    if (!is_linear(run)) {
        return a->from * pow(a->to / a->from, share);
    }
    /* the last level is at a->to exactly, which may be far from the level before */
    return level < steps && step + level >= steps ? a->to : fmax(a->from * (1 - share), a->to);
}

double sali_anneal_temperature_at(const sal_run *run, int64_t step)
{
    return temperature_at(sali_run_annealing(run), step);
}

static void set_temperature(sali_chains *chains, double temperature)
{
    for (int64_t c = 0; c < chains->n; c++) {
        chains->beta[c] = 1 / temperature;
    }
}

/* ---- the specific heat */

int64_t sali_heat_edge(int64_t n, const double *heat)
{
    double largest = 0;
    int64_t edge = 0;
    for (int64_t k = 0; k < n; k++) {
        largest = fmax(largest, heat[k]);
    }
    for (int64_t k = 0; largest > 0 && k < n; k++) {
        edge = heat[k] * FROZEN_PART >= largest ? k : edge;
    }
    return edge;
}

/* The variance of f at draws first .. last - 1, from differences of successive draws, so that
 * neither the fall of the temperature raises it nor chains that are frozen at different f. */
static double variance_of_f(const sal_run *run, int64_t first, int64_t last)
{
    double sum = 0, n = 0;
    const int64_t row = run->over ? run->draws_made : run->options.draws;
    for (int64_t c = 0; c < run->options.chains; c++) {
        const double *f = sali_run_record(run)->log_prob + c * row;
        for (int64_t d = first + 1; d < last; d++) {
            if (isfinite(f[d]) && isfinite(f[d - 1])) {
                sum += (f[d] - f[d - 1]) * (f[d] - f[d - 1]) / 2;
                n++;
            }
        }
    }
    return n > 0 ? sum / n : 0;
}

double sali_heat_temperature(const sal_run *run)
{
    const sali_annealing *a = sali_run_annealing(run);
    const int64_t draws = run->draws_made;
    double heat[SALI_HEAT_BINS], T[SALI_HEAT_BINS];
    for (int64_t k = 0; k < SALI_HEAT_BINS; k++) {
        const int64_t first = k * draws / SALI_HEAT_BINS, last = (k + 1) * draws / SALI_HEAT_BINS;
        T[k] = temperature_at(a, (first + last) / 2 * run->options.thin);
        heat[k] = variance_of_f(run, first > 0 ? first - 1 : 0, last) / (T[k] * T[k]);
    }
    return fmin(ABOVE * T[sali_heat_edge(SALI_HEAT_BINS, heat)], a->from);
}

/* ---- sharing the best state */

static int by_f(const void *a, const void *b)
{
    const sali_standing *x = a, *y = b;
    return x->f != y->f ? (x->f > y->f) - (x->f < y->f)
                        : (x->chain > y->chain) - (x->chain < y->chain);
}

/* Move the quarter of the chains with the smallest f to the best state that any chain met. The
 * shards that have these chains are embedded again; the caller refreshes them. Collective. */
static sal_status share_best(sali_annealing *a, sal_error *err)
{
    sal_run *run = a->run;
    const int64_t V = run->model->space->n_variables, some = run->options.chains / SHARED_PART;
    sali_heating *h = &a->heating;
    int64_t n = 0;
    bool known = false;
    sal_status status = sali_best_share(run, h->best, &known, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_run_shard *shard = &run->shards[k];
        for (int64_t c = 0; c < shard->chains->n; c++, n++) {
            h->standings[n] =
                (sali_standing){ .f = shard->chains->f[c], .shard = shard, .chain = n };
        }
    }
    qsort(h->standings, (size_t)n, sizeof *h->standings, by_f);
    for (int64_t k = 0; known && k < some; k++) {
        sali_run_shard *shard = h->standings[k].shard;
        const int64_t c = h->standings[k].chain - shard->first;
        if (sali_ranks_own(&run->ranks, shard->k)) {
            memcpy(shard->chains->codes + c * V, h->best, (size_t)V * sizeof *h->best);
            h->moved[shard->k] = true;
        }
    }
    for (int64_t k = run->ranks.first; k < run->ranks.end; k++) {
        if (h->moved[k]) {
            sali_chains_embed(run->shards[k].chains);
            sali_sampler_forget(run->sampler, run->shards[k].self);
            h->moved[k] = false;
        }
    }
    return SAL_OK;
}

sal_status sali_share_best(const sal_run *run, sal_error *err)
{
    return share_best(run->selves[SALI_PART_annealing], err);
}

/* ---- when */

/* The mean of f over all chains and their draws first .. last - 1, while the run is made. */
static double mean_of(const sal_run *run, int64_t first, int64_t last)
{
    double sum = 0;
    for (int64_t c = 0; c < run->options.chains; c++) {
        for (int64_t d = first; d < last; d++) {
            sum += sali_run_record(run)->log_prob[c * run->options.draws + d];
        }
    }
    return sum / (double)(run->options.chains * (last - first));
}

static int64_t patience_draws(const sal_run *run)
{
    const int64_t part = run->options.draws / LEAST_LOOKS;
    return part < 1 ? 1 : part > PATIENCE ? PATIENCE : part;
}

/* Whether a look is due, and the mean of f since the last look is the same as before. */
static bool has_stagnated(sali_annealing *a)
{
    const sal_run *run = a->run;
    sali_heating *h = &a->heating;
    const int64_t n = patience_draws(run);
    if (run->draws_made - h->looked < n || run->draws_made < 2 * n) {
        return false;
    }
    const double now = mean_of(run, run->draws_made - n, run->draws_made);
    const double before = mean_of(run, run->draws_made - 2 * n, run->draws_made - n);
    h->looked = run->draws_made;
    return !(fabs(now - before) > STAGNANT * fabs(before));
}

/* After a window, heat if that is due. *refresh becomes true if so: chains have another
 * temperature, and some perhaps other states. */
static sal_status reheat_if_due(sali_annealing *a, bool *refresh, sal_error *err)
{
    sal_run *run = a->run;
    sali_heating *h = &a->heating;
    const double over = (double)(run->steps - h->begun) / length_of(a);
    /* only at the ends of whole windows: shorter windows depend on what the caller wants to see */
    if (run->steps % sali_run_sample_window(run) != 0 || run->steps >= all_steps(run) ||
        (h->reheats == 0 && over < 1)) {
        return SAL_OK;
    }
    if (!has_stagnated(a) && over < 1) {
        return SAL_OK;
    }
    if (h->reheats == 0) {
        h->peak = sali_heat_temperature(run);
    }
    h->reheats++;
    h->begun = run->steps;
    h->looked = run->draws_made;
    *refresh = true;
    for (int64_t k = 0; k < run->n_shards; k++) {
        set_temperature(run->shards[k].chains, h->peak);
    }
    return share_best(a, err);
}

/* ---- the part of a run */

static bool is_wanted(const sal_run *run)
{
    return run->options.annealing.on;
}

/* Make room for sharing the best state, in the schedule 'reheat'. */
static sal_status create(void *self, sal_error *err)
{
    sali_annealing *a = self;
    sal_run *run = a->run;
    sali_memory *m = &run->memory;
    if (is_reheating(run)) {
        a->heating.standings = SALI_TAKE(m, sali_standing, run->options.chains);
        a->heating.best = SALI_TAKE(m, int32_t, run->model->space->n_variables);
        a->heating.moved = SALI_TAKE(m, bool, run->n_shards);
    }
    return sali_memory_status(m, err);
}

/* Find the range of temperatures, and set the first one, at which warm-up runs. */
static sal_status begin(void *self, sal_error *err)
{
    sali_annealing *a = self;
    sal_run *run = a->run;
    sal_status status = set_range(a, err);
    for (int64_t k = 0; status == SAL_OK && k < run->n_shards; k++) {
        set_temperature(run->shards[k].chains, a->from);
    }
    if (status == SAL_OK) {
        sali_run_refresh(run);
    }
    return status;
}

/* Set the temperature of the shard where a new level of the schedule begins; then the shard is to
 * be refreshed. */
static bool before(void *self, const sali_window *w, sali_run_shard *shard, int64_t step)
{
    const sali_annealing *a = self;
    if (w->warmup || step % level_steps(a->run) != 0) {
        return false;
    }
    set_temperature(shard->chains, temperature_at(a, step));
    return true;
}

/* In the schedule 'reheat': bring f of the new draws to all ranks, and heat if that is due. */
static sal_status window(void *self, const sali_window *w, bool *refresh, sal_error *err)
{
    sali_annealing *a = self;
    sal_run *run = a->run;
    if (w->warmup || !is_reheating(run)) {
        return SAL_OK;
    }
    const int64_t before = w->done / run->options.thin;
    sal_status status = sali_sync_log_probs(run, sali_run_record(run)->log_prob, before, err);
    return status ? status : reheat_if_due(a, refresh, err);
}

static int64_t items(void *self, sali_run_shard *shard, sali_state_item *items)
{
    sali_annealing *a = self;
    sali_heating *h = &a->heating;
    if (shard) {
        return 0;
    }
    items[0] = sali_state_f64("anneal_from", 1, &a->from);
    items[1] = sali_state_f64("anneal_to", 1, &a->to);
    items[2] = sali_state_within(sali_state_i64("reheats", 1, &h->reheats), 0, 1e18);
    items[3] = sali_state_within(sali_state_i64("reheat_begun", 1, &h->begun), 0, 1e18);
    items[4] = sali_state_within(sali_state_i64("reheat_looked", 1, &h->looked), 0, 1e18);
    items[5] = sali_state_within(sali_state_f64("reheat_peak", 1, &h->peak), 0, DBL_MAX);
    return 6;
}

static sal_status restored(void *self, const sali_run_shard *shard, sal_error *err)
{
    const sali_annealing *a = self;
    (void)shard;
    return a->to > 0 && a->to <= a->from && a->from <= DBL_MAX
               ? SAL_OK
               : sali_fail(err, SAL_ERR_DATA, "anneal_from, anneal_to: not a range");
}

static sal_status summarise(const void *self, sal_run_summary *s, sal_error *err)
{
    const sali_annealing *a = self;
    (void)err;
    s->annealed = true;
    s->anneal_from = a->from;
    s->anneal_to = a->to;
    s->reheats = a->heating.reheats;
    s->reheat_to = a->heating.reheats > 0 ? a->heating.peak : NAN;
    return SAL_OK;
}

const sali_run_part sali_part_annealing = {
    .name = "annealing",
    .each_step = true,
    .wanted = is_wanted,
    .size = sizeof(sali_annealing),
    .create = create,
    .begin = begin,
    .before = before,
    .window = window,
    .items = items,
    .restored = restored,
    .summarise = summarise,
};
