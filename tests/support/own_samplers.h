/* SPDX-License-Identifier: MIT */
/* Samplers as a user writes them, right and wrong ones. */
#ifndef OWN_SAMPLERS_H
#define OWN_SAMPLERS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <saltus/saltus.h>

/* ---- one variable moves, by the softmax of log-weights of all moves: Gibbs with gradients, or
 * with exact differences, as the library's gwg and lb. States are counted as in sal_origin.entry.
 */

static inline int64_t own_row_size(const sal_space *space, const double *values, const void *data)
{
    int64_t n = 0;
    (void)values;
    (void)data;
    for (int64_t v = 0; v < sal_space_variables(space); v++) {
        n += sal_space_states(space, v);
    }
    return n;
}

/* Half of the differences; no weight for staying. */
static inline void own_weights(const sal_origin *s, double *row)
{
    for (int64_t v = 0; v < s->variables; v++) {
        for (int64_t k = s->entry[v]; k < s->entry[v + 1]; k++) {
            int32_t code = (int32_t)(k - s->entry[v]);
            double difference = s->gradient ? sal_origin_first_order(s, v, code)
                                            : sal_origin_difference(s, v, code);
            row[k] = code == s->codes[v] ? -INFINITY : 0.5 * difference;
        }
    }
}

static inline void own_draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    int64_t move = sal_random_softmax(random, s->entry[s->variables], s->row), v = 0;
    if (move < 0) { /* nowhere to go */
        return;
    }
    while (move >= s->entry[v + 1]) {
        v++;
    }
    to[v] = (int32_t)(move - s->entry[v]);
}

/* Log-weight of the move to `to`, without normaliser; NaN where nothing moves. */
static inline double own_weight_of(const sal_origin *s, const int32_t *to)
{
    double weight = NAN;
    for (int64_t v = 0; v < s->variables; v++) {
        if (to[v] != s->codes[v]) {
            weight = isnan(weight) ? s->row[s->entry[v] + to[v]] : -INFINITY;
        }
    }
    return weight;
}

static inline double own_log_q(const sal_origin *s, const int32_t *to)
{
    double norm = sal_log_sum_exp(s->entry[s->variables], s->row), weight = own_weight_of(s, to);
    if (norm == -INFINITY) {
        return isnan(weight) ? 0 : -INFINITY;
    }
    return isnan(weight) ? -INFINITY : weight - norm;
}

static const sal_sampler_descriptor own_gwg = {
    .name = "own-gwg",
    .doc = "one variable by half the first-order differences",
    .needs_gradient = true,
    .row_size = own_row_size,
    .prepare = own_weights,
    .draw = own_draw,
    .log_q = own_log_q,
};

static const sal_sampler_descriptor own_lb = {
    .name = "own-lb",
    .needs_differences = true,
    .row_size = own_row_size,
    .prepare = own_weights,
    .draw = own_draw,
    .log_q = own_log_q,
};

/* ---- all variables move at once, as the library's ncg; nothing is kept of a state */

/* x of variable v at a code, if it has one real. */
static inline double own_level(const sal_origin *s, int64_t v, int32_t code)
{
    int32_t codes[64];
    double x[64];
    memcpy(codes, s->codes, (size_t)s->variables * sizeof *codes);
    codes[v] = code;
    sal_space_embed(s->space, 1, codes, x, NULL);
    return x[s->real[v]];
}

/* log-weights of the codes of variable v into w, their number: g'd / 2 - d'd / (2 eps). */
static inline int64_t own_ncg_weights(const sal_origin *s, int64_t v, double *w)
{
    int64_t n = s->entry[v + 1] - s->entry[v];
    const double *g = s->gradient + s->real[v];
    for (int32_t code = 0; code < n; code++) {
        double difference = 0, square = 0;
        if (s->real[v + 1] - s->real[v] > 1) {
            difference = g[code] - g[s->codes[v]];
            square = code == s->codes[v] ? 0 : 2;
        } else if (code != s->codes[v]) {
            double d = own_level(s, v, code) - s->x[s->real[v]];
            difference = g[0] * d;
            square = d * d;
        }
        w[code] = difference / 2 - square / (2 * s->step_size);
    }
    return n;
}

static inline void own_ncg_draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    double w[64];
    for (int64_t v = 0; v < s->variables; v++) {
        int64_t n = own_ncg_weights(s, v, w);
        to[v] = (int32_t)sal_random_softmax(random, n, w);
    }
}

static inline double own_ncg_log_q(const sal_origin *s, const int32_t *to)
{
    double w[64], log_q = 0;
    for (int64_t v = 0; v < s->variables; v++) {
        int64_t n = own_ncg_weights(s, v, w);
        log_q += w[to[v]] - sal_log_sum_exp(n, w);
    }
    return log_q;
}

static const sal_sampler_descriptor own_ncg = {
    .name = "own-ncg",
    .needs_gradient = true,
    .has_step_size = true,
    .draw = own_ncg_draw,
    .log_q = own_ncg_log_q,
};

/* ---- wrong ones */

/* The normaliser is forgotten: it depends on the state. */
static inline double own_loose_log_q(const sal_origin *s, const int32_t *to)
{
    return own_log_q(s, to) > -INFINITY ? own_weight_of(s, to) - 2 : -INFINITY;
}

static const sal_sampler_descriptor own_loose = {
    .name = "own-loose",
    .needs_gradient = true,
    .row_size = own_row_size,
    .prepare = own_weights,
    .draw = own_draw,
    .log_q = own_loose_log_q,
};

/* As if the way back were as probable as the way there: the ratio of log q is dropped. */
static inline double own_dropped_log_q(const sal_origin *s, const int32_t *to)
{
    return own_log_q(s, to) > -INFINITY ? -log((double)s->entry[s->variables]) : -INFINITY;
}

static const sal_sampler_descriptor own_dropped = {
    .name = "own-dropped",
    .needs_gradient = true,
    .row_size = own_row_size,
    .prepare = own_weights,
    .draw = own_draw,
    .log_q = own_dropped_log_q,
};

/* log q is fine, but something else is drawn: the weights are halved. */
static inline void own_other_draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    int64_t n = s->entry[s->variables];
    double *half = malloc((size_t)n * sizeof *half);
    for (int64_t k = 0; k < n; k++) {
        half[k] = s->row[k] / 2;
    }
    sal_origin other = *s;
    other.row = half;
    own_draw(&other, random, to);
    free(half);
}

static const sal_sampler_descriptor own_other = {
    .name = "own-other",
    .needs_gradient = true,
    .row_size = own_row_size,
    .prepare = own_weights,
    .draw = own_other_draw,
    .log_q = own_log_q,
};

/* Only the first variable ever moves: right, but it does not reach all states. */
static inline void own_stuck_draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    to[0] = (int32_t)sal_random_below(random, s->entry[1]);
}

static inline double own_stuck_log_q(const sal_origin *s, const int32_t *to)
{
    for (int64_t v = 1; v < s->variables; v++) {
        if (to[v] != s->codes[v]) {
            return -INFINITY;
        }
    }
    return -log((double)s->entry[1]);
}

static const sal_sampler_descriptor own_stuck = {
    .name = "own-stuck",
    .draw = own_stuck_draw,
    .log_q = own_stuck_log_q,
};

/* ---- one that learns: r variables are drawn anew, r tuned in warm-up */

static inline int64_t own_size(const sal_origin *s)
{
    int64_t r = (int64_t)(s->tuned[0] + s->values[0]);
    return r < s->variables ? r : s->variables;
}

/* r times a variable, which may be one that moved already: binary variables flip. */
static inline void own_flips_draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    int64_t first = sal_random_below(random, s->variables);
    for (int64_t k = 0; k < own_size(s); k++) {
        to[(first + k) % s->variables] ^= 1;
    }
}

/* Runs of r flips, each start equally probable: the way back is as probable. */
static inline double own_flips_log_q(const sal_origin *s, const int32_t *to)
{
    double probability = 0;
    for (int64_t first = 0; first < s->variables; first++) {
        bool same = true;
        for (int64_t k = 0; k < s->variables; k++) {
            int64_t v = (first + k) % s->variables;
            same &= (to[v] != s->codes[v]) == (k < own_size(s));
        }
        probability += same ? 1.0 / (double)s->variables : 0;
    }
    return log(probability);
}

static inline void own_flips_adapt(const sal_sampler_window *w, double *tuned, const void *data)
{
    double gain = 4 * (double)w->steps / ((double)w->done + 50);
    (void)data;
    tuned[0] += gain * (w->acceptance_rate > 0.3 ? 1 : -1);
    tuned[1] = w->acceptance_rate;
}

static const sal_setting own_flips_settings[] = {
    { "more", 0, 0, 5, true, "flips beside those that are tuned", NULL }, { 0 }
};

static const sal_setting own_flips_tuned[] = { { "flips", 3, 1, 6, true, "how many flip", NULL },
                                               { "rate", 0, 0, 1, false, NULL, NULL },
                                               { 0 } };

static const sal_sampler_descriptor own_flips = {
    .name = "own-flips",
    .kinds = SAL_MOVES_BINARY | SAL_MOVES_SPIN,
    .settings = own_flips_settings,
    .draw = own_flips_draw,
    .log_q = own_flips_log_q,
    .tuned = own_flips_tuned,
    .adapt = own_flips_adapt,
};

static const sal_sampler_descriptor *const own_all[] = { &own_gwg,   &own_lb,    &own_ncg,
                                                         &own_loose, &own_other, &own_dropped,
                                                         &own_stuck, &own_flips, NULL };

#endif
