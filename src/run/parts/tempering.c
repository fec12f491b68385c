/* SPDX-License-Identifier: MIT */
#include "run/parts/tempering.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/saved/tuning.h"
#include "run/part.h"

/* The hot end is where the standard deviation of f / T is this: nearly all states are then as
 * likely as any other. */
#define HOT_SPREAD 0.5
#define HOTTEST 1e6
#define COOLEST_HOT_END 2.0
#define FIRST_GUESS 0.01 /* inverse temperature of the hot end */
/* A pair counts as if it rejected at least this share, so that no two temperatures meet. */
#define LEAST_REJECTION 1e-3
/* Number of updates of the ladder; the last half of warm-up runs with the final ladder. */
#define UPDATES 5

/* ---- swaps of one shard */

sal_status sali_swaps_create(sali_swaps *swaps, sali_memory *memory, const sali_chains *chains,
                             int64_t replicas, sal_error *err)
{
    *swaps = (sali_swaps){
        .n = chains->n,
        .replicas = replicas,
        .tried = SALI_TAKE(memory, int64_t, replicas),
        .made = SALI_TAKE(memory, int64_t, replicas),
        .probability = SALI_TAKE(memory, double, replicas),
        .from_hottest = SALI_TAKE(memory, bool, chains->n),
        .codes = SALI_TAKE(memory, int32_t, chains->space->n_variables),
        .x = sali_memory_take(memory, chains->space->width, chains->element),
    };
    sal_status status = sali_memory_status(memory, err);
    if (status == SAL_OK) {
        sali_swaps_clear(swaps, true);
    }
    return status;
}

void sali_swaps_clear(sali_swaps *swaps, bool trips)
{
    for (int64_t r = 0; r < swaps->replicas; r++) {
        swaps->tried[r] = swaps->made[r] = 0;
        swaps->probability[r] = 0;
    }
    swaps->f_count = 0;
    swaps->f_sum = swaps->f_squares = 0;
    for (int64_t c = 0; trips && c < swaps->n; c++) {
        swaps->from_hottest[c] = false;
    }
    swaps->round_trips = trips ? 0 : swaps->round_trips;
}

double sali_swap_log_ratio(double beta_a, double beta_b, double f_a, double f_b)
{
    if (f_a == -INFINITY || f_b == -INFINITY) {
        return -INFINITY;
    }
    return (beta_a - beta_b) * (f_b - f_a);
}

/* Exchange the states of chains a and b, with f and where they come from. */
static void exchange_states(sali_swaps *swaps, sali_chains *chains, int64_t a, int64_t b)
{
    const sal_space *space = chains->space;
    const double f = chains->f[a];
    const bool from_hottest = swaps->from_hottest[a];
    sali_exchange(chains->codes + a * space->n_variables, chains->codes + b * space->n_variables,
                  swaps->codes, (size_t)space->n_variables * sizeof *chains->codes);
    sali_exchange(sali_row(chains, chains->x, a, space->width),
                  sali_row(chains, chains->x, b, space->width), swaps->x,
                  (size_t)space->width * chains->element);
    chains->f[a] = chains->f[b];
    chains->f[b] = f;
    swaps->from_hottest[a] = swaps->from_hottest[b];
    swaps->from_hottest[b] = from_hottest;
}

/* Note whether the state of chain c, which is at `replica`, has reached an end of the ladder; at
 * the cold end this may complete a round trip. */
static void count_trips(sali_swaps *swaps, int64_t c, int64_t replica)
{
    if (replica == swaps->replicas - 1) {
        swaps->from_hottest[c] = true;
    } else if (replica == 0 && swaps->from_hottest[c]) {
        swaps->from_hottest[c] = false;
        swaps->round_trips++;
    }
}

/* Add f of a state at the hottest temperature to the sums from which the hot end is set. */
static void note_hottest(sali_swaps *swaps, double f)
{
    if (!isfinite(f)) {
        return;
    }
    swaps->f_first = swaps->f_count++ == 0 ? f : swaps->f_first;
    swaps->f_sum += f - swaps->f_first;
    swaps->f_squares += (f - swaps->f_first) * (f - swaps->f_first);
}

double sali_swap_probability(const sal_space *space, double log_ratio)
{
    return (1 - sali_stay_probability(space, false)) * exp(fmin(log_ratio, 0));
}

bool sali_swap_is_made(sali_swaps *swaps, int64_t replica, sali_stream stream, double probability)
{
    const bool made = sali_rng_uniform_at(&stream, 0) < probability;
    if (swaps) {
        swaps->tried[replica]++;
        swaps->probability[replica] += probability;
        swaps->made[replica] += made;
    }
    return made;
}

void sali_swap(sali_swaps *swaps, sali_chains *chains, int64_t parity)
{
    const int64_t last = swaps->replicas - 1;
    for (int64_t a = 0; a < chains->n; a++) {
        if (chains->id[a] % swaps->replicas == last) {
            note_hottest(swaps, chains->f[a]);
        }
    }
    for (int64_t a = 0, b = 1; b < chains->n; a++, b++) {
        const int64_t r = chains->id[a] % swaps->replicas;
        if (r != last && r % 2 == parity) {
            const double log_ratio =
                sali_swap_log_ratio(chains->beta[a], chains->beta[b], chains->f[a], chains->f[b]);
            if (sali_swap_is_made(swaps, r, sali_chains_stream(chains, a, SALI_RNG_SWAP),
                                  sali_swap_probability(chains->space, log_ratio))) {
                exchange_states(swaps, chains, a, b);
            }
        }
    }
    for (int64_t c = 0; c < chains->n; c++) {
        count_trips(swaps, c, chains->id[c] % swaps->replicas);
    }
}

/* ---- the ladder */

/* A geometric ladder from beta = 1 down to `last`. */
static void spread_geometrically(sali_ladder *ladder, double last)
{
    for (int64_t r = 0; r < ladder->n; r++) {
        ladder->beta[r] = r == 0 ? 1 : pow(last, (double)r / (double)(ladder->n - 1));
    }
}

sal_status sali_ladder_create(sali_ladder *ladder, sali_memory *memory, int64_t n,
                              const double *temperatures, sal_error *err)
{
    ladder->n = n;
    ladder->adapt = n > 1 && !temperatures;
    ladder->beta = SALI_TAKE(memory, double, n);
    ladder->temperature = SALI_TAKE(memory, double, n);
    ladder->rate = SALI_TAKE(memory, double, n);
    if (memory->refused) {
        return sali_fail_memory(err);
    }
    spread_geometrically(ladder, FIRST_GUESS);
    for (int64_t r = 0; temperatures && r < n; r++) {
        ladder->beta[r] = 1 / temperatures[r];
    }
    return SAL_OK;
}

bool sali_ladder_is_due(const sali_ladder *ladder, int64_t before, int64_t done, int64_t total)
{
    bool due = false;
    for (int k = 1; k <= UPDATES; k++) {
        int64_t at = total >> k;
        due |= before < at && at <= done;
    }
    return due && ladder->adapt;
}

/* The temperature at which f / T would have the standard deviation HOT_SPREAD if f varied as at the
 * present hot end; NaN if that is unknown. */
static double hot_end(int64_t n_shards, sali_swaps *const *swaps)
{
    double n = 0, variance = 0;
    for (int64_t k = 0; k < n_shards; k++) {
        double count = (double)swaps[k]->f_count;
        if (count > 1) {
            variance += swaps[k]->f_squares - swaps[k]->f_sum * swaps[k]->f_sum / count;
            n += count - 1;
        }
    }
    return n > 0 ? sqrt(fmax(variance, 0) / n) / HOT_SPREAD : NAN;
}

/* Fill barrier [n] with the rejection rates of the pairs, summed from temperature 1 on: an estimate
 * of the communication barrier Lambda (Syed et al. 2022, eq. 22). A pair that was never tried
 * counts as 0.5. */
static void cumulate_rejections(const sali_ladder *ladder, int64_t n_shards,
                                sali_swaps *const *swaps, double *barrier)
{
    barrier[0] = 0;
    for (int64_t r = 0; r + 1 < ladder->n; r++) {
        double tried = 0, probability = 0;
        for (int64_t k = 0; k < n_shards; k++) {
            tried += (double)swaps[k]->tried[r];
            probability += swaps[k]->probability[r];
        }
        double rejection = tried > 0 ? 1 - probability / tried : 0.5;
        barrier[r + 1] = barrier[r] + fmax(rejection, LEAST_REJECTION);
    }
}

/* Set the inverse temperatures at equal parts of the barrier, down to `last`. Between known
 * temperatures the barrier is linear in log beta; beyond its end it rises with its last slope. */
static void spread_evenly(sali_ladder *ladder, const double *barrier, double last)
{
    int64_t n = ladder->n, at = 0;
    const double *beta = ladder->temperature; /* a copy of the old ladder */
    double total = barrier[n - 1], end = barrier[n - 1];
    memcpy(ladder->temperature, ladder->beta, (size_t)n * sizeof *ladder->beta);
    double slope = (barrier[n - 1] - barrier[n - 2]) / log(beta[n - 2] / beta[n - 1]);
    if (last < beta[n - 1]) {
        total += slope * log(beta[n - 1] / last);
    } else { /* end where the barrier reaches `last` */
        while (beta[at + 1] > last) {
            at++;
        }
        total = barrier[at] + (barrier[at + 1] - barrier[at]) * log(beta[at] / last) /
                                  log(beta[at] / beta[at + 1]);
    }
    at = 0;
    for (int64_t r = 1; r < n; r++) {
        double want = total * (double)r / (double)(n - 1);
        while (at + 2 < n && barrier[at + 1] < want) {
            at++;
        }
        double share = (want - barrier[at]) / (barrier[at + 1] - barrier[at]);
        ladder->beta[r] = want > end ? beta[n - 1] * exp(-(want - end) / slope)
                                     : beta[at] * pow(beta[at + 1] / beta[at], share);
    }
}

void sali_ladder_update(sali_ladder *ladder, int64_t n_shards, sali_swaps *const *swaps)
{
    double last = 1 / hot_end(n_shards, swaps), barrier[SALI_MOST_REPLICAS];
    last = isnan(last) ? ladder->beta[ladder->n - 1]
                       : fmin(fmax(last, 1 / HOTTEST), 1 / COOLEST_HOT_END);
    cumulate_rejections(ladder, n_shards, swaps, barrier);
    if (ladder->updates++ == 0) { /* the first guess may be far off, and so may its rates */
        spread_geometrically(ladder, last);
    } else {
        spread_evenly(ladder, barrier, last);
    }
    for (int64_t k = 0; k < n_shards; k++) {
        sali_swaps_clear(swaps[k], false);
    }
}

void sali_ladder_finish(sali_ladder *ladder, int64_t chains, int64_t n_shards,
                        sali_swaps *const *swaps)
{
    ladder->round_trips = 0;
    for (int64_t k = 0; k < n_shards; k++) {
        ladder->round_trips += (double)swaps[k]->round_trips;
    }
    ladder->round_trips /= (double)chains;
    ladder->barrier = 0;
    for (int64_t r = 0; r < ladder->n; r++) {
        int64_t tried = 0, made = 0;
        ladder->temperature[r] = 1 / ladder->beta[r];
        for (int64_t k = 0; k < n_shards; k++) {
            tried += swaps[k]->tried[r];
            made += swaps[k]->made[r];
        }
        ladder->rate[r] = tried > 0 ? (double)made / (double)tried : NAN;
        ladder->barrier += r + 1 < ladder->n ? 1 - ladder->rate[r] : 0;
    }
}

/* ---- the part of a run */

typedef struct tempering {
    sal_run *run;
    sali_ladder ladder;
    sali_swaps *swaps; /* [n_shards] */
    sali_swaps **all;  /* [n_shards] pointers to the elements of swaps */
    bool meets;        /* shards meet after swaps, across seams or to exchange clusters */
} tempering;

/* Make the ladder: given, from a tuning, or a first guess. */
static sal_status create(void *self, sal_error *err)
{
    tempering *t = self;
    sal_run *run = t->run;
    const sal_run_options *o = &run->options;
    const double *temperatures = o->tempering.temperatures;
    sal_status status = SAL_OK;
    if (o->tuning) { /* checked when replicas were counted */
        sal_tuning_values(o->tuning, SALI_TUNED_TEMPERATURES, &temperatures, NULL, NULL);
    }
    if (run->replicas > 1) {
        status = sali_run_check_independent(run->sampler, "", "swaps between temperatures", err);
    }
    status = status
                 ? status
                 : sali_ladder_create(&t->ladder, &run->memory, run->replicas, temperatures, err);
    t->ladder.adapt &= !run->tuned;
    return status;
}

/* Set the temperatures of all chains. */
static void set_temperatures(const tempering *t)
{
    const sal_run *run = t->run;
    for (int64_t k = 0; k < run->n_shards; k++) {
        sali_chains *chains = run->shards[k].chains;
        for (int64_t c = 0; c < chains->n; c++) {
            chains->beta[c] = t->ladder.beta[chains->id[c] % run->replicas];
        }
    }
}

/* Set the temperatures of all chains, and make room for the swaps of all shards. */
static sal_status open(void *self, sal_error *err)
{
    tempering *t = self;
    sal_run *run = t->run;
    sal_status status = SAL_OK;
    t->ladder.every = run->options.tempering.swap_every;
    t->meets = sali_run_has_seams(run) || run->options.tempering.houdayer;
    set_temperatures(t);
    if (run->replicas == 1) {
        return SAL_OK;
    }
    t->swaps = SALI_TAKE(&run->memory, sali_swaps, run->n_shards);
    t->all = SALI_TAKE(&run->memory, sali_swaps *, run->n_shards);
    for (int64_t k = 0; t->swaps && t->all && k < run->n_shards; k++) {
        sali_chains *chains = run->shards[k].chains;
        chains->coldest = t->ladder.beta[0];
        t->all[k] = &t->swaps[k];
        status = sali_swaps_create(t->all[k], &run->memory, chains, run->replicas, err);
        if (status != SAL_OK) {
            return status;
        }
    }
    return sali_memory_status(&run->memory, err);
}

/* Steps until the next swap; swaps are at multiples of ladder.every of the chains' steps. */
static int64_t due(const void *self, const sali_run_shard *shard)
{
    const tempering *t = self;
    const int64_t every = t->ladder.every;
    return t->ladder.n > 1 ? every - (int64_t)(shard->chains->step[0] % (uint64_t)every)
                           : SALI_NEVER;
}

/* Swap within the shard if that is due. True: refresh the shard. False where shards meet then,
 * because the refresh comes after that. */
static bool after(void *self, const sali_window *w, sali_run_shard *shard)
{
    tempering *t = self;
    const uint64_t step = shard->chains->step[0], every = (uint64_t)t->ladder.every;
    (void)w;
    if (t->ladder.n == 1 || step % every != 0) {
        return false;
    }
    sali_swap(&t->swaps[shard->k], shard->chains, (int64_t)(step / every % 2));
    return !t->meets;
}

/* Update the ladder where that is due in warm-up. */
static sal_status window(void *self, const sali_window *w, bool *refresh, sal_error *err)
{
    tempering *t = self;
    const sal_run *run = t->run;
    (void)err;
    if (w->warmup &&
        sali_ladder_is_due(&t->ladder, w->done, run->warmup_done, run->options.warmup)) {
        sali_ladder_update(&t->ladder, run->n_shards, t->all);
        set_temperatures(t);
        *refresh = true;
    }
    return SAL_OK;
}

/* Forget the swaps of warm-up. */
static void warmed_up(void *self)
{
    tempering *t = self;
    for (int64_t k = 0; t->swaps && k < t->run->n_shards; k++) {
        sali_swaps_clear(&t->swaps[k], true);
    }
}

/* List the items of the swaps of a shard of n chains; the numbers that decide the next temperatures
 * are sent to all ranks. */
static int64_t list_swaps(const sali_swaps *w, int64_t n, sali_state_item *items)
{
    const int64_t R = w->replicas;
    const sali_state_item own[] = {
        sali_state_counts("swaps.tried", R, w->tried),
        sali_state_counts("swaps.made", R, w->made),
        sali_state_sums("swaps.probability", R, w->probability),
        sali_state_within(sali_state_u8("swaps.from_hottest", n, (uint8_t *)w->from_hottest), 0, 1),
        sali_state_counts("swaps.round_trips", 1, (int64_t *)&w->round_trips),
        sali_state_counts("swaps.f_count", 1, (int64_t *)&w->f_count),
        sali_state_reals("swaps.f", 3, (double *)&w->f_first),
    };
    const int64_t count = sizeof own / sizeof *own;
    for (int64_t k = 0; k < count; k++) {
        items[k] = own[k];
        items[k].kept |= own[k].data == w->from_hottest ? 0 : SALI_STATE_SENT;
    }
    return count;
}

static int64_t items(void *self, sali_run_shard *shard, sali_state_item *items)
{
    tempering *t = self;
    if (shard) {
        return t->swaps ? list_swaps(&t->swaps[shard->k], shard->chains->n, items) : 0;
    }
    items[0] = sali_state_within(sali_state_f64("ladder", t->ladder.n, t->ladder.beta), DBL_MIN, 1);
    items[1] = sali_state_within(sali_state_i64("ladder.updates", 1, &t->ladder.updates), 0, 1000);
    return 2;
}

static sal_status restored(void *self, const sali_run_shard *shard, sal_error *err)
{
    const tempering *t = self;
    const sali_ladder *ladder = &t->ladder;
    bool falls = ladder->beta[0] == 1;
    for (int64_t r = 1; r < ladder->n; r++) {
        falls &= ladder->beta[r] < ladder->beta[r - 1];
    }
    if (!falls) {
        return sali_fail(err, SAL_ERR_DATA, "ladder: it does not fall from 1");
    }
    const sali_swaps *w = shard && t->swaps ? &t->swaps[shard->k] : NULL;
    for (int64_t r = 0; w && r < w->replicas; r++) {
        if (w->made[r] > w->tried[r]) {
            return sali_fail(err, SAL_ERR_DATA, "swaps.made: %lld of %lld that were tried",
                             (long long)w->made[r], (long long)w->tried[r]);
        }
    }
    return SAL_OK;
}

static sal_status finish(void *self, sal_error *err)
{
    tempering *t = self;
    (void)err;
    sali_ladder_finish(&t->ladder, t->run->options.chains, t->swaps ? t->run->n_shards : 0, t->all);
    return SAL_OK;
}

static sal_status summarise(const void *self, sal_run_summary *s, sal_error *err)
{
    const tempering *t = self;
    const sali_ladder *ladder = &t->ladder;
    (void)err;
    s->temperatures = ladder->temperature;
    s->swap_rates = ladder->rate;
    for (int64_t r = 0; r + 1 < ladder->n; r++) {
        s->swap_rate_min = r > 0 ? fmin(s->swap_rate_min, ladder->rate[r]) : ladder->rate[r];
    }
    if (ladder->n > 1) {
        s->round_trips = ladder->round_trips;
        s->barrier = ladder->barrier;
    }
    return SAL_OK;
}

const sali_run_part sali_part_tempering = {
    .name = "tempering",
    .size = sizeof(tempering),
    .create = create,
    .open = open,
    .due = due,
    .after = after,
    .window = window,
    .warmed_up = warmed_up,
    .items = items,
    .restored = restored,
    .finish = finish,
    .summarise = summarise,
};

const sali_ladder *sali_run_ladder(const sal_run *run)
{
    const tempering *t = run->selves[SALI_PART_tempering];
    return &t->ladder;
}

sali_swaps *sali_run_swaps(const sal_run *run, int64_t shard)
{
    const tempering *t = run->selves[SALI_PART_tempering];
    return t->swaps ? &t->swaps[shard] : NULL;
}
