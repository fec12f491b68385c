/* SPDX-License-Identifier: MIT */
/* The factorised kernel's loops over variables of several levels, and counts without a cap.
 * Compiled for float and double. */
#include "samplers/factorised_levels.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/real.h"
#include "core/vector/vmath.h"
#include "samplers/flips.h"
#include "samplers/kernels_real.h"

/* ---- variables of several levels: one slot a state */

/* Log-weights [count x states] of categorical variables. One-hot: v^2 = v, so that without weights
 * w, b adds the same to every label and cancels. */
SALI_CLONES
static void label_log_weights(const sali_stretch *s, const int32_t *code, const sali_factorised *q,
                              real *restrict log_weight)
{
    const real *w = q->w;
    real alpha = (real)q->alpha, beta = (real)q->beta, b = (real)q->b;
    for (int64_t i = 0; i < s->count; i++, log_weight += s->states) {
        int64_t first = s->offset + i * s->states;
        const real *g = (const real *)q->gradient + first, *y = (const real *)q->y + first;
        real g_now = g[code[i]], y_now = y[code[i]];
        for (int32_t v = 0; !w && v < s->states; v++) {
            log_weight[v] = alpha * (g[v] - g_now) + beta * (y[v] - y_now);
        }
        for (int32_t v = 0; w && v < s->states; v++) {
            log_weight[v] = alpha * (g[v] - g_now) + w[first + v] * (beta * y[v] + b) -
                            w[first + code[i]] * (beta * y_now + b);
        }
        log_weight[code[i]] = 0;
    }
}

/* Log-weights [count x states] (level - now) (a + b (level + now)) of variables with levels. */
SALI_CLONES
static void level_log_weights(const sali_stretch *s, const int32_t *code, const sali_factorised *q,
                              real *restrict log_weight)
{
    const real *g = (const real *)q->gradient + s->offset, *y = (const real *)q->y + s->offset;
    const real *w = q->w ? (const real *)q->w + s->offset : NULL;
    for (int64_t i = 0; i < s->count; i++, log_weight += s->states) {
        double times = w ? (double)w[i] : 1, b = times * q->b;
        double a = q->alpha * (double)g[i] + times * q->beta * (double)y[i];
        double now = s->levels[code[i]];
        for (int32_t v = 0; v < s->states; v++) {
            double level = s->levels[v];
            log_weight[v] = (real)((level - now) * (a + b * (level + now)));
        }
        log_weight[code[i]] = 0;
    }
}

/* Rows up to this length are summed one by one: vectors would be mostly empty, and adding up the
 * lanes of one takes longer than the rest. */
enum { SHORT_ROW = 32 };

/* The largest entry of a row, and 0. */
static inline real largest_of(int64_t n, const real *x)
{
    real largest = 0;
    if (n <= SHORT_ROW) {
        for (int64_t v = 0; v < n; v++) {
            largest = x[v] > largest ? x[v] : largest;
        }
        return largest;
    }
#pragma omp simd reduction(max : largest)
    for (int64_t v = 0; v < n; v++) {
        largest = x[v] > largest ? x[v] : largest;
    }
    return largest;
}

/* The sum of a row. */
static inline real sum_of(int64_t n, const real *x)
{
    real sum = 0;
    if (n <= SHORT_ROW) {
        for (int64_t v = 0; v < n; v++) {
            sum += x[v];
        }
        return sum;
    }
#pragma omp simd reduction(+ : sum)
    for (int64_t v = 0; v < n; v++) {
        sum += x[v];
    }
    return sum;
}

/* shifted = each row minus its largest entry (or minus 0, if that is larger). Returns the sum of
 * what was subtracted. */
SALI_CLONES
static double take_largest(int64_t rows, int64_t states, const real *restrict log_weight,
                           real *restrict shifted)
{
    double total = 0;
    for (int64_t i = 0; i < rows; i++, log_weight += states, shifted += states) {
        const real largest = largest_of(states, log_weight);
        for (int64_t v = 0; v < states; v++) {
            shifted[v] = sali_below_largest(log_weight[v], largest);
        }
        total += (double)largest;
    }
    return total;
}

/* norm[i] = the sum of row i, in [1, states]. Returns the sum of the logarithms of all norms minus
 * log *last; *last is below 1e200. */
SALI_CLONES
static double sum_rows(int64_t rows, int64_t states, const real *restrict weight,
                       real *restrict norm, double *last)
{
    double total = 0, product = 1;
    for (int64_t i = 0; i < rows; i++, weight += states) {
        const real sum = sum_of(states, weight);
        norm[i] = sum;
        product *= (double)sum;
        if (!(product < 1e200)) { /* states < 2^31 */
            total += log(product);
            product = 1;
        }
    }
    *last = product;
    return total;
}

/* From log-weights: weights exp(log_weight - largest) and, in row->norm, their sums by variable.
 * Returns the sum over variables of the log norm, except for the factor that *norm takes. */
static double normalise_levels(const sali_stretch *s, const sali_move_row *row, double *norm)
{
    double last;
    const real *log_weight = (const real *)row->log_weight + s->slot;
    real *weight = (real *)row->weight + s->slot;
    double total = take_largest(s->count, s->states, log_weight, weight);
    RN(sali_vexp)(s->count * s->states, weight, weight);
    total += sum_rows(s->count, s->states, weight, (real *)row->norm + s->first, &last);
    return total + sali_norm_multiply(norm, last);
}

/* Compute the log-weights from q, then as normalise_levels. */
double RN(sali_levels_prepare)(const sali_stretch *s, const int32_t *codes,
                               const sali_factorised *q, const sali_move_row *row, double *norm)
{
    real *log_weight = (real *)row->log_weight + s->slot;
    if (s->kind == SAL_CATEGORICAL) {
        label_log_weights(s, codes + s->first, q, log_weight);
    } else {
        level_log_weights(s, codes + s->first, q, log_weight);
    }
    return normalise_levels(s, row, norm);
}

/* Up to this many states, a loop over all of them is faster than mispredicted branches on where to
 * stop. */
enum { FEW_STATES = 8 };

/* The last state v with weight such that the weights before v add up to `target` at most: one of
 * positive weight, even if rounding carries the sum past the end. */
static int32_t pick_level(const real *weight, int32_t states, real target)
{
    int32_t chosen = 0;
    for (int32_t v = 0; states <= FEW_STATES && v < states; v++) {
        const int32_t here = (weight[v] > 0) & !(target < 0);
        chosen += (v - chosen) & -here;
        target -= weight[v] > 0 ? weight[v] : 0;
    }
    if (states <= FEW_STATES) {
        return chosen;
    }
    for (int32_t v = 0; v < states; v++) {
        if (weight[v] > 0) {
            chosen = v;
            target -= weight[v];
            if (target < 0) {
                break;
            }
        }
    }
    return chosen;
}

/* Draw codes_new and x_new of the stretch's variables; returns the sum of their log-weights. */
static double draw_levels(const sali_stretch *s, const void *uniforms, const sali_move_row *row,
                          int32_t *codes_new, void *x_new)
{
    const real *u = (const real *)uniforms + s->first;
    const real *weight = (const real *)row->weight + s->slot;
    const real *log_weight = (const real *)row->log_weight + s->slot;
    const real *norm = (const real *)row->norm + s->first;
    real *x = (real *)x_new + s->offset;
    const bool one_hot = s->kind == SAL_CATEGORICAL;
    double total = 0;
    if (one_hot) {
        memset(x, 0, (size_t)(s->count * s->states) * sizeof *x);
    }
    for (int64_t i = 0; i < s->count; i++) {
        int32_t v = pick_level(weight + i * s->states, s->states, u[i] * norm[i]);
        codes_new[s->first + i] = v;
        total += (double)log_weight[i * s->states + v];
        if (one_hot) {
            x[i * s->states + v] = 1;
        } else {
            x[i] = (real)s->levels[v];
        }
    }
    return total;
}

/* The sum over the stretch's variables of the log-weight of moving to `to`. */
static double weigh_levels(const sali_stretch *s, const int32_t *to, const sali_move_row *row)
{
    const real *log_weight = (const real *)row->log_weight + s->slot;
    double total = 0;
    for (int64_t i = 0; i < s->count; i++) {
        total += (double)log_weight[i * s->states + to[s->first + i]];
    }
    return total;
}

/* ---- counts without a cap: one slot for the move down and one for up; staying has no slot */

/* From the log-weights of down and up: weights, and in row->norm their sums with the weight of
 * staying. Returns the sum of log norms, except for the factor that *norm takes. */
static double normalise_steps(const sali_stretch *s, const sali_move_row *row, double *norm)
{
    const real *log_weight = (const real *)row->log_weight + s->slot;
    real *weight = (real *)row->weight + s->slot, *sum = (real *)row->norm + s->first;
    double total = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const real largest = largest_of(2, log_weight + 2 * i);
        for (int64_t k = 2 * i; k < 2 * i + 2; k++) {
            weight[k] = (real)exp((double)(log_weight[k] - largest));
        }
        sum[i] = weight[2 * i] + weight[2 * i + 1] + (real)exp(-(double)largest);
        total += (double)largest + sali_norm_multiply(norm, (double)sum[i]);
    }
    return total;
}

/* Move each count down, not at all, or up; returns the sum of the moves' log-weights, 0 for
 * staying. */
static double draw_steps(const sali_stretch *s, const int32_t *codes, const void *uniforms,
                         const sali_move_row *row, int32_t *codes_new, void *x_new)
{
    const real *u = (const real *)uniforms + s->first, *sum = (const real *)row->norm + s->first;
    const real *log_weight = (const real *)row->log_weight + s->slot;
    const real *weight = (const real *)row->weight + s->slot;
    double total = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const real target = u[i] * sum[i], last = sum[i] - weight[2 * i + 1];
        const bool down = target < weight[2 * i];
        const bool up = !down && target >= last && weight[2 * i + 1] > 0;
        const int32_t code = codes[s->first + i] + up - down;
        total += down ? (double)log_weight[2 * i] : up ? (double)log_weight[2 * i + 1] : 0;
        codes_new[s->first + i] = code;
        ((real *)x_new)[s->offset + i] = (real)code;
    }
    return total;
}

/* The sum of the log-weights of the moves to `to`; -inf if a count moves by more than 1. */
static double weigh_steps(const sali_stretch *s, const int32_t *codes, const int32_t *to,
                          const sali_move_row *row)
{
    const real *log_weight = (const real *)row->log_weight + s->slot;
    double total = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t step = (int64_t)to[s->first + i] - codes[s->first + i];
        total += step == 0               ? 0
                 : step < -1 || step > 1 ? -INFINITY
                                         : (double)log_weight[2 * i + (step > 0)];
    }
    return total;
}

/* ---- both */

double RN(sali_levels_normalise)(const sali_stretch *s, const sali_move_row *row, double *norm)
{
    return s->states > 0 ? normalise_levels(s, row, norm) : normalise_steps(s, row, norm);
}

double RN(sali_levels_draw)(const sali_stretch *s, const int32_t *codes, const void *uniforms,
                            const sali_move_row *row, int32_t *codes_new, void *x_new)
{
    return s->states > 0 ? draw_levels(s, uniforms, row, codes_new, x_new)
                         : draw_steps(s, codes, uniforms, row, codes_new, x_new);
}

double RN(sali_levels_weigh)(const sali_stretch *s, const int32_t *codes, const int32_t *to,
                             const sali_move_row *row)
{
    return s->states > 0 ? weigh_levels(s, to, row) : weigh_steps(s, codes, to, row);
}
