/* SPDX-License-Identifier: MIT */
/* The arithmetic of dlmc.h over arrays. Compiled for float and double. */
#include <float.h>
#include <math.h>

#include "core/real.h"
#include "core/vector/vmath.h"
#include "samplers/langevin/dlmc.h"

#define LEAST (SALI_REAL_BITS == 32 ? (real)FLT_MIN : (real)DBL_MIN)

/* x = r becomes -A = -min(r, 1). */
SALI_CLONES
static void minus_step(int64_t n, real *x)
{
    for (int64_t k = 0; k < n; k++) {
        x[k] = x[k] < 1 ? -x[k] : -1;
    }
}

SALI_CLONES
static void negate_rates(int64_t n, real *x)
{
    for (int64_t k = 0; k < n; k++) {
        x[k] = -x[k];
    }
}

/* x = r becomes -A: -min(r, 1) with `euler`, else exp(-r) - 1. */
static void minus_a(bool euler, int64_t n, real *x)
{
    if (euler) {
        minus_step(n, x);
    } else {
        negate_rates(n, x);
        RN(sali_vexpm1)(n, x, x);
    }
}

/* ---- two-level variables. With e = exp(-|d|), g(t) / nu is (1 + e) g(e) / e, as g is balanced;
 *
 *     log(p / (1 - p)) = d + log(A / (1 + e B)) below d = 0, log(A / (e + B)) above.
 *
 * e + B of a flip that is as good as certain counts as LEAST at least. */

SALI_CLONES
static void log_below(int64_t n, const real *restrict d, real *restrict log_e)
{
    for (int64_t k = 0; k < n; k++) {
        log_e[k] = d[k] > 0 ? -d[k] : d[k];
    }
}

/* log(r / (1 + e)) from log g(e). */
SALI_CLONES
static void log_rates(int64_t n, real log_tau, const real *restrict log_e, real *restrict log_g)
{
    for (int64_t k = 0; k < n; k++) {
        log_g[k] += log_tau - log_e[k];
    }
}

SALI_CLONES
static void rates_from(int64_t n, const real *restrict e, real *restrict r)
{
    for (int64_t k = 0; k < n; k++) {
        r[k] *= 1 + e[k];
    }
}

SALI_CLONES
static void flip_odds(int64_t n, const real *restrict d, const real *restrict minus,
                      real *restrict e)
{
    for (int64_t k = 0; k < n; k++) {
        const real b = 1 + minus[k], above = e[k] + b, below = 1 + e[k] * b;
        const real stay = d[k] > 0 ? above : below;
        e[k] = -minus[k] / (stay < LEAST ? LEAST : stay);
    }
}

SALI_CLONES
static void finish_flips(int64_t n, const real *restrict log_odds, real *restrict d)
{
    for (int64_t k = 0; k < n; k++) {
        const real t = (d[k] < 0 ? d[k] : 0) + log_odds[k];
        const bool infinite = d[k] == (real)INFINITY || d[k] == -(real)INFINITY;
        d[k] = infinite ? d[k] : t;
    }
}

/* Replace d [n] of two-level variables by log-weights; e and r are scratch of n reals. */
static void flip_weights(const sali_dlmc_rates *rates, int64_t n, real *d, real *e, real *r)
{
    log_below(n, d, e);
    rates->balance.log_g(rates->balance.context, n, e, r);
    log_rates(n, (real)rates->log_tau, e, r);
    RN(sali_vexp)(n, r, r);
    RN(sali_vexp)(n, e, e);
    rates_from(n, e, r);
    minus_a(rates->euler, n, r);
    flip_odds(n, d, r, e);
    RN(sali_vlog)(n, e, e);
    finish_flips(n, e, d);
}

/* ---- variables of several levels: one slot a state, except for staying where there is no cap.
 * Weights are relative to exp(m), the largest weight of a variable. */

/* For each row of d: largest = m = max(0, d), shifted = d - m, and stay = -m. */
SALI_CLONES
static void take_largest(int64_t rows, int32_t entries, const real *restrict d,
                         real *restrict shifted, real *restrict largest, real *restrict stay)
{
    for (int64_t i = 0; i < rows; i++, d += entries, shifted += entries) {
        real most = 0;
        for (int32_t v = 0; v < entries; v++) {
            most = d[v] > most ? d[v] : most;
        }
        for (int32_t v = 0; v < entries; v++) {
            shifted[v] = d[v] - most;
        }
        largest[i] = most;
        stay[i] = -most;
    }
}

/* log_g becomes log(r / Z) = log tau + log g - (d - m), where Z is exp(-m) times the sum of t; 0
 * for slots that are no move. */
SALI_CLONES
static void log_rates_of(int64_t n, real log_tau, const real *restrict shifted,
                         real *restrict log_g)
{
    for (int64_t k = 0; k < n; k++) {
        const real log_rate = log_tau + log_g[k] - shifted[k];
        log_g[k] = shifted[k] == -(real)INFINITY ? 0 : log_rate;
    }
}

/* r / Z becomes r: multiply each row by the sum of its weights and `stay`. */
SALI_CLONES
static void times_sums(int64_t rows, int32_t entries, const real *restrict weight,
                       const real *restrict stay, real *restrict r)
{
    for (int64_t i = 0; i < rows; i++, weight += entries, r += entries) {
        real sum = stay[i];
        for (int32_t v = 0; v < entries; v++) {
            sum += weight[v];
        }
        for (int32_t v = 0; v < entries; v++) {
            r[v] *= sum;
        }
    }
}

/* Replace each weight by A over the weight of staying, `stay` + sum of weight B; `minus` is -A. */
SALI_CLONES
static void divide_weights(int64_t rows, int32_t entries, const real *restrict minus,
                           const real *restrict stay, real *restrict weight)
{
    for (int64_t i = 0; i < rows; i++, weight += entries, minus += entries) {
        real sum = stay[i];
        for (int32_t v = 0; v < entries; v++) {
            sum += weight[v] * (1 + minus[v]);
        }
        sum = sum < LEAST ? LEAST : sum;
        for (int32_t v = 0; v < entries; v++) {
            weight[v] = -minus[v] / sum;
        }
    }
}

SALI_CLONES
static void finish_levels(int64_t rows, int32_t entries, const real *restrict log_odds,
                          const real *restrict largest, real *restrict d)
{
    for (int64_t i = 0; i < rows; i++, d += entries, log_odds += entries) {
        for (int32_t v = 0; v < entries; v++) {
            d[v] += log_odds[v] - largest[i];
        }
    }
}

/* Replace d of a stretch of several levels by log-weights; w and r are scratch of as many reals. */
static void level_weights(const sali_dlmc_rates *rates, const sali_stretch *s, const int32_t *codes,
                          real *d, real *w, real *r)
{
    const int32_t entries = sali_entries(s->states);
    const int64_t n = s->count * entries;
    real *largest = (real *)rates->largest + s->first, *stay = (real *)rates->stay + s->first;
    rates->balance.log_g(rates->balance.context, n, d, r);
    take_largest(s->count, entries, d, w, largest, stay);
    log_rates_of(n, (real)rates->log_tau, w, r);
    RN(sali_vexp)(n, r, r);
    RN(sali_vexp)(n, w, w);
    RN(sali_vexp)(s->count, stay, stay);
    times_sums(s->count, entries, w, stay, r);
    minus_a(rates->euler, n, r);
    divide_weights(s->count, entries, r, stay, w);
    RN(sali_vlog)(n, w, w);
    finish_levels(s->count, entries, w, largest, d);
    for (int64_t i = 0; i < s->count && s->states > 0; i++) {
        d[i * s->states + codes[i]] = 0;
    }
}

void RN(sali_dlmc_weights)(const sal_space *space, const sali_dlmc_rates *rates,
                           const int32_t *codes, real *d)
{
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        real *weight = (real *)rates->weight + s->slot, *rate = (real *)rates->rate + s->slot;
        if (sali_two_level(s)) {
            flip_weights(rates, s->count, d + s->slot, weight, rate);
        } else {
            level_weights(rates, s, codes + s->first, d + s->slot, weight, rate);
        }
    }
}
