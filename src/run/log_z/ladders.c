/* SPDX-License-Identifier: MIT */
/* The levels of all ladders: their making, moves and exchanges. With the energy D = f - log p_0,
 * level l has the density p_0 exp(beta_l D), so that neighbours differ by (beta_(l+1) - beta_l) D
 * and are exchanged as temperatures are (parts/tempering.h). */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/base.h"
#include "run/log_z/log_z.h"
#include "run/parts/tempering.h"
#include "samplers/start.h"

/* Number of levels at first. */
#define FIRST_LEVELS 8
/* The standard deviation, at first, of the difference between p_0 and the level above it. */
#define FIRST_SPREAD 0.5
/* Least beta above 0, at first. */
#define LEAST_BETA 1e-100
/* Neighbours are to reject this share of their exchanges. */
#define REJECTION 0.35
/* A pair counts as if it rejected at least this share, so that no two levels meet. */
#define LEAST_REJECTION 1e-3

/* Most steps from one question whether to stop to the next. */
#define PIECE 256

/* ---- one level */

static int64_t variables(const sali_log_z_ladders *l)
{
    return l->target->space->n_variables;
}

/* Make level k. To be freed after a failure too. */
static sal_status create_level(sali_log_z_ladders *l, int64_t k, sal_error *err)
{
    sali_log_z_level *level = &l->levels[k];
    sali_moved *m = &level->moved;
    *level = (sali_log_z_level){ .beta = 1,
                                 .moved = { .sampler = l->sampler, .settings = l->settings },
                                 .energy = SALI_NEW_ARRAY(double, l->n),
                                 .fresh = SALI_NEW_ARRAY(bool, l->n) };
    sal_status status = level->energy && level->fresh ? SAL_OK : sali_fail_memory(err);
    status = status ? status : sali_bridge_create(l->target, l->base, &level->bridge, err);
    if (status == SAL_OK && k == 0) {
        status = sali_chains_create(level->bridge.model, l->n, SALI_WANT_VALUE, l->seed, &m->chains,
                                    err);
    } else if (status == SAL_OK) {
        status = sali_moved_open(m, level->bridge.model, l->n, l->seed, err);
    }
    for (int64_t c = 0; status == SAL_OK && c < l->n; c++) {
        m->chains->id[c] = (uint32_t)(k * l->n + c);
        m->chains->step[c] = (uint64_t)(l->sweep * l->steps);
    }
    return status;
}

static void free_level(sali_log_z_level *level)
{
    sali_moved_close(&level->moved);
    sali_bridge_free(&level->bridge);
    sali_free(level->energy);
    sali_free(level->fresh);
    *level = (sali_log_z_level){ 0 };
}

/* Set the energies of the states of a level from its f_beta. */
static void note_energies(const sali_log_z_ladders *l, sali_log_z_level *level)
{
    sali_chains *chains = level->moved.chains;
    sali_chains_start(chains, false);
    for (int64_t c = 0; c < l->n; c++) {
        const double base =
            sali_base_value(chains->space, l->base, chains->codes + c * variables(l));
        level->energy[c] = (chains->f[c] - base) / level->beta;
    }
}

/* Draw all states of a level from p_0. */
static void draw_base(const sali_log_z_ladders *l, sali_log_z_level *level)
{
    sali_chains *chains = level->moved.chains;
    for (int64_t c = 0; c < l->n; c++) {
        const sali_stream stream = { .seed = l->seed,
                                     .chain = chains->id[c],
                                     .step = (uint64_t)l->sweep,
                                     .purpose = SALI_RNG_INIT };
        sali_base_draw(chains->space, l->base, &stream, l->uniform,
                       chains->codes + c * variables(l));
        level->fresh[c] = true;
    }
    sali_chains_embed(chains);
    note_energies(l, level);
}

/* The error of the first NaN or +inf that was met, if one was. */
static sal_status check_values(const sali_log_z_ladders *l, sal_error *err)
{
    for (int64_t k = 0; k < l->L; k++) {
        const sali_chains *chains = l->levels[k].moved.chains;
        if (chains->bad_chain >= 0) {
            return sali_chains_report(chains, l->sampler, chains->bad_chain, err);
        }
    }
    return SAL_OK;
}

/* ---- all levels */

/* The standard deviation of the finite energies of level 0; 0: too few are finite. */
static double spread_of_energies(const sali_log_z_ladders *l)
{
    double n = 0, mean = 0, squares = 0;
    for (int64_t c = 0; c < l->n; c++) {
        const double d = l->levels[0].energy[c];
        if (isfinite(d)) {
            const double off = d - mean;
            mean += off / ++n;
            squares += off * (d - mean);
        }
    }
    return n > 1 ? sqrt(squares / (n - 1)) : 0;
}

/* Set beta of level k. */
static void set_beta(sali_log_z_ladders *l, int64_t k, double beta)
{
    l->levels[k].beta = k == 0 ? 1 : beta;
    sali_bridge_set(&l->levels[k].bridge, l->levels[k].beta);
}

double sali_log_z_beta(const sali_log_z_ladders *l, int64_t k)
{
    return k == 0 ? 0 : l->levels[k].beta;
}

/* Put the states of level k, above 0, at draws from p_0 or, where the target forbids some, at
 * states that are allowed. */
static sal_status start_level(sali_log_z_ladders *l, int64_t k, sal_error *err)
{
    sali_log_z_level *level = &l->levels[k];
    bool allowed = true;
    draw_base(l, level);
    for (int64_t c = 0; c < l->n; c++) {
        level->fresh[c] = false;
        allowed &= level->energy[c] > -INFINITY;
    }
    if (allowed || level->moved.chains->bad_chain >= 0) {
        return SAL_OK;
    }
    sal_status status = sali_start(level->moved.chains, NULL, NULL, err);
    if (status == SAL_OK) {
        note_energies(l, level);
    }
    return status;
}

sal_status sali_log_z_ladders_create(sali_log_z_ladders *l, sal_model *target, const double *base,
                                     const sal_log_z_options *o, sal_error *err)
{
    const int64_t V = target->space->n_variables;
    l->n = o->chains;
    l->target = target;
    l->base = base;
    l->steps = o->steps;
    l->seed = o->seed;
    l->threads = o->threads;
    l->levels = SALI_NEW_ARRAY(sali_log_z_level, SALI_LOG_Z_MOST_LEVELS);
    l->swaps = SALI_NEW_ARRAY(double, SALI_LOG_Z_MOST_LEVELS);
    l->uniform = SALI_NEW_ARRAY(double, V);
    l->codes = SALI_NEW_ARRAY(int32_t, V);
    sal_status status =
        l->levels && l->swaps && l->uniform && l->codes ? SAL_OK : sali_fail_memory(err);
    while (status == SAL_OK && l->L < FIRST_LEVELS) {
        status = create_level(l, l->L++, err);
    }
    if (status != SAL_OK) {
        return status;
    }
    set_beta(l, 0, 0);
    draw_base(l, &l->levels[0]);
    const double first = fmax(fmin(0.5, FIRST_SPREAD / spread_of_energies(l)), LEAST_BETA);
    for (int64_t k = 1; status == SAL_OK && k < l->L; k++) {
        set_beta(l, k, pow(first, (double)(l->L - 1 - k) / (double)(l->L - 2)));
        status = start_level(l, k, err);
    }
    return status ? status : check_values(l, err);
}

void sali_log_z_ladders_free(sali_log_z_ladders *l)
{
    for (int64_t k = 0; l->levels && k < l->L; k++) {
        free_level(&l->levels[k]);
    }
    sali_free(l->levels);
    sali_free(l->swaps);
    sali_free(l->uniform);
    sali_free(l->codes);
}

/* ---- sweeps */

/* Move the states of level k + 1 by the next steps of a sweep. */
static void move_level(void *context, int64_t k)
{
    sali_log_z_ladders *l = context;
    sali_log_z_level *level = &l->levels[k + 1];
    const int64_t left = l->steps - l->moved, n = left < PIECE ? left : PIECE;
    sali_moved *m = &level->moved;
    if (l->moved == 0) {
        sali_chains_embed(m->chains);
        sali_moved_go(m, n);
    } else {
        sali_sampler_steps(m->sampler, m->self, m->chains, n);
    }
    if (n == left) {
        note_energies(l, level);
    }
}

/* Exchange the states of ladder c at levels k and k + 1. */
static void exchange_states(sali_log_z_ladders *l, int64_t k, int64_t c)
{
    sali_log_z_level *low = &l->levels[k], *high = low + 1;
    const int64_t V = variables(l);
    const double energy = low->energy[c];
    const bool fresh = low->fresh[c];
    sali_exchange(low->moved.chains->codes + c * V, high->moved.chains->codes + c * V, l->codes,
                  (size_t)V * sizeof *l->codes);
    low->energy[c] = high->energy[c];
    high->energy[c] = energy;
    low->fresh[c] = high->fresh[c];
    high->fresh[c] = fresh;
}

/* Try to exchange the states of levels k and k + 1 in all ladders if it is their turn, and note the
 * probabilities in any case. */
static void exchange_levels(sali_log_z_ladders *l, int64_t k)
{
    const sali_log_z_level *low = &l->levels[k], *high = low + 1;
    for (int64_t c = 0; c < l->n; c++) {
        const double probability = sali_swap_probability(
            l->target->space, sali_swap_log_ratio(sali_log_z_beta(l, k), high->beta, low->energy[c],
                                                  high->energy[c]));
        const sali_stream stream = { .seed = l->seed,
                                     .chain = low->moved.chains->id[c],
                                     .step = (uint64_t)l->sweep,
                                     .purpose = SALI_RNG_SWAP };
        l->swaps[k] += probability;
        if ((l->sweep + k) % 2 == 0 && sali_swap_is_made(NULL, k, stream, probability)) {
            exchange_states(l, k, c);
        }
    }
}

/* Count the states that came from p_0 up to the last level, each once. */
static void count_arrivals(sali_log_z_ladders *l)
{
    bool *fresh = l->levels[l->L - 1].fresh;
    for (int64_t c = 0; c < l->n; c++) {
        l->arrivals += fresh[c];
        fresh[c] = false;
    }
}

sal_status sali_log_z_sweep(sali_log_z_ladders *l, double *energies, bool (*stops)(void *data),
                            void *data, sal_error *err)
{
    draw_base(l, &l->levels[0]);
    for (l->moved = 0; l->moved < l->steps; l->moved += PIECE) {
        if (l->moved > 0 && stops(data)) {
            return SAL_OK;
        }
        sali_shard_run_paced(&l->pace, 1, l->L - 1, l->threads, move_level, l);
    }
    sal_status status = check_values(l, err);
    for (int64_t k = 0; status == SAL_OK && energies && k < l->L; k++) {
        memcpy(energies + k * l->n, l->levels[k].energy, (size_t)l->n * sizeof *energies);
    }
    return status;
}

void sali_log_z_exchange(sali_log_z_ladders *l)
{
    for (int64_t k = 0; k + 1 < l->L; k++) {
        exchange_levels(l, k);
    }
    count_arrivals(l);
    l->counted++;
    l->sweep++;
}

void sali_log_z_clear(sali_log_z_ladders *l)
{
    memset(l->swaps, 0, SALI_LOG_Z_MOST_LEVELS * sizeof *l->swaps);
    l->counted = l->arrivals = 0;
}

/* ---- places of the levels */

/* Fill barrier [L] with the rejection rates of neighbours, summed from level 0 on. */
static void cumulate_rejections(const sali_log_z_ladders *l, double *barrier)
{
    barrier[0] = 0;
    for (int64_t k = 0; k + 1 < l->L; k++) {
        const double made = l->swaps[k] / (double)(l->n * l->counted);
        barrier[k + 1] = barrier[k] + fmax(1 - made, LEAST_REJECTION);
    }
}

/* beta [n] receives levels at equal parts of the barrier, which is linear in beta between the
 * present levels; from [n] the present level that is nearest below. */
static void spread_levels(const sali_log_z_ladders *l, const double *barrier, int64_t n,
                          double *beta, int64_t *from)
{
    int64_t at = 0;
    for (int64_t k = 0; k < n; k++) {
        const double want = barrier[l->L - 1] * (double)k / (double)(n - 1);
        while (at + 2 < l->L && barrier[at + 1] <= want) {
            at++;
        }
        const double low = sali_log_z_beta(l, at), high = sali_log_z_beta(l, at + 1);
        const double share = fmin((want - barrier[at]) / (barrier[at + 1] - barrier[at]), 1);
        beta[k] = k + 1 == n ? 1 : low + share * (high - low);
        from[k] = k + 1 == n ? l->L - 1 : share > 0.5 || at == 0 ? at + 1 : at;
    }
    from[0] = 0;
}

/* Copy the states of all levels from [n] to codes [n x ladders x V]. */
static void copy_states(const sali_log_z_ladders *l, int64_t n, const int64_t *from, int32_t *codes)
{
    const int64_t size = l->n * variables(l);
    for (int64_t k = 0; k < n; k++) {
        memcpy(codes + k * size, l->levels[from[k]].moved.chains->codes,
               (size_t)size * sizeof *codes);
    }
}

/* Make n levels of these betas, with these states. */
static sal_status set_levels(sali_log_z_ladders *l, int64_t n, const double *beta,
                             const int32_t *codes, sal_error *err)
{
    const int64_t size = l->n * variables(l);
    sal_status status = SAL_OK;
    while (l->L > n) {
        free_level(&l->levels[--l->L]);
    }
    while (status == SAL_OK && l->L < n) {
        status = create_level(l, l->L++, err);
    }
    for (int64_t k = 1; status == SAL_OK && k < n; k++) {
        sali_log_z_level *level = &l->levels[k];
        set_beta(l, k, beta[k]);
        memcpy(level->moved.chains->codes, codes + k * size, (size_t)size * sizeof *codes);
        memset(level->fresh, 0, (size_t)l->n * sizeof *level->fresh);
    }
    return status;
}

sal_status sali_log_z_place(sali_log_z_ladders *l, sal_error *err)
{
    double barrier[SALI_LOG_Z_MOST_LEVELS], beta[SALI_LOG_Z_MOST_LEVELS];
    int64_t from[SALI_LOG_Z_MOST_LEVELS];
    cumulate_rejections(l, barrier);
    const int64_t wanted = 2 + (int64_t)ceil(barrier[l->L - 1] / REJECTION);
    const int64_t n = wanted < SALI_LOG_Z_MOST_LEVELS ? wanted : SALI_LOG_Z_MOST_LEVELS;
    int32_t *codes = SALI_NEW_ARRAY(int32_t, n * l->n * variables(l));
    if (!codes) {
        return sali_fail_memory(err);
    }
    spread_levels(l, barrier, n, beta, from);
    copy_states(l, n, from, codes);
    sal_status status = set_levels(l, n, beta, codes, err);
    sali_free(codes);
    sali_log_z_clear(l);
    return status;
}
