/* SPDX-License-Identifier: MIT */
/* The factorised kernel: q(v) proportional to exp(a v + b v^2) for each variable, independently.
 * Log-weights are kept relative to staying, a (v - v0) + b (v^2 - v0^2), so that a forbidden move
 * is -inf and staying is 0. Compiled for float and double. */
#include <math.h>

#include "core/real.h"
#include "core/vector/vmath.h"
#include "samplers/kernels_real.h"

/* Sums and products run over this many lanes, so that they vectorise in a fixed order. */
#define LANES 8
/* Factors in [1, 2] of a lane's product; that of all lanes together does not overflow a double. */
#define PRODUCT_TERMS 125

typedef struct coefficients {
    double alpha, beta, b;
    const real *gradient, *y;
    const real *w; /* [N], or NULL: 1 */
} coefficients;

/* ---- two-level variables: one slot, the flip */

/* t = log-odds of the flip; minus = -|t|. */
SALI_CLONES
static void flip_odds(const sali_stretch *s, const int32_t *code, const coefficients *k,
                      real *restrict t, real *restrict minus)
{
    const real *g = k->gradient + s->offset, *y = k->y + s->offset;
    real lo = (real)s->levels[0], hi = (real)s->levels[1];
    real alpha = (real)k->alpha * (hi - lo), beta = (real)k->beta * (hi - lo);
    real square = (real)(k->b * (s->levels[1] * s->levels[1] - s->levels[0] * s->levels[0]));
    for (int64_t i = 0; !k->w && i < s->count; i++) {
        real up = alpha * g[i] + beta * y[i] + square;
        t[i] = code[i] ? -up : up;
        minus[i] = t[i] > 0 ? -t[i] : t[i];
    }
    for (int64_t i = 0; k->w && i < s->count; i++) {
        real up = alpha * g[i] + k->w[s->offset + i] * (beta * y[i] + square);
        t[i] = code[i] ? -up : up;
        minus[i] = t[i] > 0 ? -t[i] : t[i];
    }
}

/* p = sigmoid(t) from e = exp(-|t|). */
SALI_CLONES
static void flip_probability(const real *restrict t, const real *restrict e, int64_t n,
                             real *restrict p)
{
    for (int64_t i = 0; i < n; i++) {
        p[i] = (t[i] >= 0 ? 1 : e[i]) / (1 + e[i]);
    }
}

/* sum of log(1 + exp(t)) = sum of max(t, 0) + log of the product of (1 + e). */
SALI_CLONES
static double sum_softplus(const real *restrict t, const real *restrict e, int64_t n)
{
    double total = 0;
    for (int64_t first = 0; first < n; first += PRODUCT_TERMS * LANES) {
        double product[LANES], sum[LANES];
        for (int j = 0; j < LANES; j++) {
            product[j] = 1;
            sum[j] = 0;
        }
        int64_t end = n - first < PRODUCT_TERMS * LANES ? n : first + PRODUCT_TERMS * LANES, i;
        for (i = first; i + LANES <= end; i += LANES) {
            for (int j = 0; j < LANES; j++) {
                product[j] *= 1 + (double)e[i + j];
                sum[j] += t[i + j] > 0 ? (double)t[i + j] : 0.0;
            }
        }
        for (int j = 0; i + j < end; j++) {
            product[j] *= 1 + (double)e[i + j];
            sum[j] += t[i + j] > 0 ? (double)t[i + j] : 0.0;
        }
        double all = 1;
        for (int j = 0; j < LANES; j++) {
            all *= product[j];
            total += sum[j];
        }
        total += log(all);
    }
    return total;
}

/* Flip where u < p; the sum of the log-odds of the flips made. */
SALI_CLONES
static double flip(const sali_stretch *s, const int32_t *restrict code, const real *restrict u,
                   const real *restrict t, const real *restrict p, int32_t *restrict code_new,
                   real *restrict x_new)
{
    real lo = (real)s->levels[0], step = (real)(s->levels[1] - s->levels[0]);
    double sum[LANES] = { 0 }, total = 0;
    int64_t i;
    for (i = 0; i + LANES <= s->count; i += LANES) {
#pragma omp simd /* GCC 12 leaves out half of the lanes for AVX2 in double without */
        for (int j = 0; j < LANES; j++) {
            sum[j] += u[i + j] < p[i + j] ? (double)t[i + j] : 0.0;
        }
    }
    for (int j = 0; i + j < s->count; j++) {
        sum[j] += u[i + j] < p[i + j] ? (double)t[i + j] : 0.0;
    }
    for (i = 0; i < s->count; i++) {
        code_new[i] = code[i] ^ (u[i] < p[i]);
        x_new[i] = lo + step * (real)code_new[i];
    }
    for (int j = 0; j < LANES; j++) {
        total += sum[j];
    }
    return total;
}

SALI_CLONES
static double sum_flipped(int64_t n, const int32_t *code, const int32_t *to, const real *t)
{
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (int64_t i = 0; i < n; i++) {
        total += code[i] != to[i] ? (double)t[i] : 0.0;
    }
    return total;
}

/* ---- variables of several levels: one slot a state */

/* One-hot: v^2 = v, so that without weights b adds the same to every label. */
SALI_CLONES
static void label_log_weights(const sali_stretch *s, const int32_t *code, const coefficients *k,
                              real *restrict log_weight)
{
    real alpha = (real)k->alpha, beta = (real)k->beta, b = (real)k->b;
    for (int64_t i = 0; i < s->count; i++, log_weight += s->states) {
        int64_t first = s->offset + i * s->states;
        const real *g = k->gradient + first, *y = k->y + first;
        real g_now = g[code[i]], y_now = y[code[i]];
        for (int32_t v = 0; !k->w && v < s->states; v++) {
            log_weight[v] = alpha * (g[v] - g_now) + beta * (y[v] - y_now);
        }
        for (int32_t v = 0; k->w && v < s->states; v++) {
            log_weight[v] = alpha * (g[v] - g_now) + k->w[first + v] * (beta * y[v] + b) -
                            k->w[first + code[i]] * (beta * y_now + b);
        }
        log_weight[code[i]] = 0;
    }
}

SALI_CLONES
static void level_log_weights(const sali_stretch *s, const int32_t *code, const coefficients *k,
                              real *restrict log_weight)
{
    for (int64_t i = 0; i < s->count; i++, log_weight += s->states) {
        double w = k->w ? (double)k->w[s->offset + i] : 1, b = w * k->b;
        double a = k->alpha * (double)k->gradient[s->offset + i] +
                   w * k->beta * (double)k->y[s->offset + i];
        double now = s->levels[code[i]];
        for (int32_t v = 0; v < s->states; v++) {
            double level = s->levels[v];
            log_weight[v] = (real)((level - now) * (a + b * (level + now)));
        }
        log_weight[code[i]] = 0;
    }
}

/* Each row less its largest entry; the sum of these. */
SALI_CLONES
static double take_largest(int64_t rows, int64_t states, const real *restrict log_weight,
                           real *restrict shifted)
{
    double total = 0;
    for (int64_t i = 0; i < rows; i++, log_weight += states, shifted += states) {
        real largest = 0;
#pragma omp simd reduction(max : largest)
        for (int64_t v = 0; v < states; v++) {
            largest = log_weight[v] > largest ? log_weight[v] : largest;
        }
        for (int64_t v = 0; v < states; v++) {
            shifted[v] = sali_below_largest(log_weight[v], largest);
        }
        total += (double)largest;
    }
    return total;
}

/* norm = the rows' sums, each in [1, states]; the sum of their logarithms. */
SALI_CLONES
static double sum_rows(int64_t rows, int64_t states, const real *restrict weight,
                       real *restrict norm)
{
    double total = 0, product = 1;
    for (int64_t i = 0; i < rows; i++, weight += states) {
        real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t v = 0; v < states; v++) {
            sum += weight[v];
        }
        norm[i] = sum;
        product *= (double)sum;
        if (!(product < 1e200)) { /* states < 2^31 */
            total += log(product);
            product = 1;
        }
    }
    return total + log(product);
}

/* Weights exp(log_weight - largest) and their sums; the sum over variables of the log norm. */
static double level_norms(const sali_stretch *s, const real *log_weight, real *weight, real *norm)
{
    double total = take_largest(s->count, s->states, log_weight, weight);
    RN(sali_vexp)(s->count * s->states, weight, weight);
    return total + sum_rows(s->count, s->states, weight, norm);
}

static int32_t pick_level(const real *weight, int32_t states, real target)
{
    int32_t chosen = 0;
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

static double draw_levels(const sali_stretch *s, const real *u, const sali_move_row *row,
                          int32_t *code_new, real *x_new)
{
    const real *weight = (const real *)row->weight + s->slot;
    const real *log_weight = (const real *)row->log_weight + s->slot;
    const real *norm = (const real *)row->norm + s->first;
    double total = 0;
    for (int64_t i = 0; i < s->count; i++) {
        int32_t v = pick_level(weight + i * s->states, s->states, u[i] * norm[i]);
        code_new[i] = v;
        total += (double)log_weight[i * s->states + v];
        if (s->kind == SAL_CATEGORICAL) {
            for (int32_t k = 0; k < s->states; k++) {
                x_new[i * s->states + k] = k == v;
            }
        } else {
            x_new[i] = (real)s->levels[v];
        }
    }
    return total;
}

/* ---- the kernel */

static void prepare(const sal_space *space, const int32_t *codes, double alpha,
                    const void *gradient, double beta, const void *y, double b, const void *w,
                    sali_move_row *row, void *buffer)
{
    const coefficients k = { alpha, beta, b, gradient, y, w };
    row->log_norm = 0;
    for (int64_t block = 0; block < space->n_blocks; block++) {
        const sali_stretch *s = &space->stretches[block];
        real *log_weight = (real *)row->log_weight + s->slot;
        real *weight = (real *)row->weight + s->slot;
        if (sali_two_level(s)) {
            real *e = buffer;
            flip_odds(s, codes + s->first, &k, log_weight, e);
            RN(sali_vexp)(s->count, e, e);
            flip_probability(log_weight, e, s->count, weight);
            row->log_norm += sum_softplus(log_weight, e, s->count);
        } else {
            if (s->kind == SAL_CATEGORICAL) {
                label_log_weights(s, codes + s->first, &k, log_weight);
            } else {
                level_log_weights(s, codes + s->first, &k, log_weight);
            }
            row->log_norm += level_norms(s, log_weight, weight, (real *)row->norm + s->first);
        }
    }
}

static double draw(const sal_space *space, const int32_t *codes, const void *uniforms,
                   const sali_move_row *row, int32_t *codes_new, void *x_new)
{
    const real *u = uniforms;
    double log_q = -row->log_norm;
    for (int64_t block = 0; block < space->n_blocks; block++) {
        const sali_stretch *s = &space->stretches[block];
        int32_t *code_new = codes_new + s->first;
        real *x = (real *)x_new + s->offset;
        log_q += sali_two_level(s) ? flip(s, codes + s->first, u + s->first,
                                          (const real *)row->log_weight + s->slot,
                                          (const real *)row->weight + s->slot, code_new, x)
                                   : draw_levels(s, u + s->first, row, code_new, x);
    }
    return log_q;
}

static double log_q_of(const sal_space *space, const int32_t *codes, const int32_t *to,
                       const sali_move_row *row)
{
    double log_q = -row->log_norm;
    for (int64_t block = 0; block < space->n_blocks; block++) {
        const sali_stretch *s = &space->stretches[block];
        const real *log_weight = (const real *)row->log_weight + s->slot;
        if (sali_two_level(s)) {
            log_q += sum_flipped(s->count, codes + s->first, to + s->first, log_weight);
        } else {
            for (int64_t i = 0; i < s->count; i++) {
                log_q += (double)log_weight[i * s->states + to[s->first + i]];
            }
        }
    }
    return log_q;
}

static void uniforms(const sali_stream *stream, int64_t n, void *out)
{
    RN(sali_rng_uniform)(stream, n, out);
}

static void normals(const sali_stream *stream, int64_t n, void *out)
{
#if SALI_REAL_BITS == 32
    sali_rng_normal_f32(stream, n, out);
#else
    sali_rng_normal(stream, n, out);
#endif
}

const sali_factorised_kernels RN(sali_factorised_kernels) = {
    .prepare = prepare,
    .draw = draw,
    .log_q = log_q_of,
    .uniforms = uniforms,
    .normals = normals,
};
