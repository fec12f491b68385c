/* SPDX-License-Identifier: MIT */
/* The factorised kernel: q(v) proportional to exp(a v + b v^2) for each variable, independently.
 * Log-weights are kept relative to staying, a (v - v0) + b (v^2 - v0^2), so that a forbidden move
 * is -inf and staying is 0. Compiled for float and double. */
#include <math.h>
#include <stddef.h>

#include "core/real.h"
#include "core/vector/vmath.h"
#include "samplers/flips.h"
#include "samplers/kernels_real.h"

typedef struct coefficients {
    double alpha, beta, b;
    const real *gradient, *y;
    const real *w; /* [N], or NULL: 1 */
} coefficients;

static const sali_flip_kernel *flip_kernel(void)
{
    return &RN(sali_flip_kernels)[sali_isa_best()];
}

/* ---- two-level variables: one slot, the flip */

/* The part of a row that a stretch has. */
static sali_flips flips_of(const sali_stretch *s, const int32_t *codes, const sali_move_row *row)
{
    return (sali_flips){
        .n = s->count,
        .code = codes + s->first,
        .lo = s->levels[0],
        .hi = s->levels[1],
        .t = (real *)row->log_weight + s->slot,
        .p = (real *)row->weight + s->slot,
    };
}

static double prepare_flips(const sali_stretch *s, const int32_t *codes, const coefficients *k,
                            const sali_move_row *row)
{
    sali_flips flips = flips_of(s, codes, row);
    flips.alpha = k->alpha;
    flips.beta = k->beta;
    flips.b = k->b;
    flips.g = k->gradient + s->offset;
    flips.y = k->y + s->offset;
    flips.w = k->w ? k->w + s->offset : NULL;
    return flip_kernel()->prepare(&flips);
}

static double draw_flips(const sali_stretch *s, const int32_t *codes, const real *u,
                         const sali_move_row *row, int32_t *codes_new, real *x_new)
{
    sali_flips flips = flips_of(s, codes, row);
    flips.u = u + s->first;
    flips.code_new = codes_new + s->first;
    flips.x_new = x_new + s->offset;
    return flip_kernel()->draw(&flips);
}

static double weigh_flips(const sali_stretch *s, const int32_t *codes, const int32_t *to,
                          const sali_move_row *row)
{
    sali_flips flips = flips_of(s, codes, row);
    flips.to = to + s->first;
    return flip_kernel()->weigh(&flips);
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

/* Log-weights, weights exp(log_weight - largest) and their sums; the sum over variables of the log
 * norm. */
static double prepare_levels(const sali_stretch *s, const int32_t *codes, const coefficients *k,
                             const sali_move_row *row)
{
    real *log_weight = (real *)row->log_weight + s->slot;
    real *weight = (real *)row->weight + s->slot;
    if (s->kind == SAL_CATEGORICAL) {
        label_log_weights(s, codes + s->first, k, log_weight);
    } else {
        level_log_weights(s, codes + s->first, k, log_weight);
    }
    double total = take_largest(s->count, s->states, log_weight, weight);
    RN(sali_vexp)(s->count * s->states, weight, weight);
    return total + sum_rows(s->count, s->states, weight, (real *)row->norm + s->first);
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
                    sali_move_row *row)
{
    const coefficients k = { alpha, beta, b, gradient, y, w };
    row->log_norm = 0;
    for (int64_t block = 0; block < space->n_blocks; block++) {
        const sali_stretch *s = &space->stretches[block];
        if (sali_two_level(s)) {
            row->log_norm += prepare_flips(s, codes, &k, row);
        } else {
            row->log_norm += prepare_levels(s, codes, &k, row);
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
        log_q += sali_two_level(s) ? draw_flips(s, codes, u, row, codes_new, x_new)
                                   : draw_levels(s, u + s->first, row, codes_new + s->first,
                                                 (real *)x_new + s->offset);
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
            log_q += weigh_flips(s, codes, to, row);
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
