/* SPDX-License-Identifier: MIT */
/* Fields of chains, and draws from them. Compiled for float and double. */
#include <math.h>
#include <string.h>

#include "core/real.h"
#include "core/vector/vmath.h"
#include "samplers/blocks/field_scan.h"
#include "samplers/kernels_real.h"

/* ---- rows of J */

SALI_CLONES
static void add_row(int64_t n, real w, const real *restrict a, real *restrict h)
{
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
        h[k] += w * a[k];
    }
}

SALI_CLONES
static void add_difference(int64_t n, real w, const real *restrict a, const real *restrict b,
                           real *restrict h)
{
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
        h[k] += w * (a[k] - b[k]);
    }
}

/* The row of J that a variable's code selects; *weight receives its factor. */
static inline const real *row_of(const sali_field_tile *t, const sali_variable *v, int32_t code,
                                 real *weight)
{
    bool one_hot = v->kind == SAL_CATEGORICAL;
    *weight = (real)(one_hot ? t->scale : t->scale * sali_level(v, code));
    return (const real *)t->J + (v->offset + (one_hot ? code : 0)) * t->space->width;
}

/* ---- what a variable contributes */

/* f of a variable at `code`, as a function of this variable alone, from its chain's fields h. */
static inline real f_at_code(const sali_field_tile *t, const sali_variable *v, const real *h,
                             int32_t code)
{
    const real *square = t->square;
    if (v->kind == SAL_CATEGORICAL) {
        return h[v->offset + code] + square[v->offset + code];
    }
    real level = (real)sali_level(v, code);
    return level * (h[v->offset] + level * square[v->offset]);
}

void RN(sali_field_square)(sali_field_tile *t)
{
    int64_t N = t->space->width;
    for (int64_t k = 0; k < N; k++) {
        ((real *)t->square)[k] = (real)(t->scale * (double)((const real *)t->J)[k * N + k] / 2);
    }
}

/* f of a state from its fields h. Each pair of variables counts once: half in the fields of each.
 */
static double f_of_state(const sali_field_tile *t, const int32_t *codes, const real *h)
{
    double sum = t->constant;
    const real *square = t->square;
    for (int64_t i = 0; i < t->space->n_variables; i++) {
        const sali_variable *v = &t->space->variables[i];
        bool one_hot = v->kind == SAL_CATEGORICAL;
        int64_t k = v->offset + (one_hot ? codes[i] : 0);
        double level = one_hot ? 1 : sali_level(v, codes[i]);
        sum += level * ((t->linear[k] + (double)h[k]) / 2 + level * (double)square[k]);
    }
    return sum;
}

/* The loop over variables is the outer one, so that a variable's few rows of J serve all chains. */
void RN(sali_field_start)(sali_field_tile *t, int64_t first, int64_t count, const int32_t *codes,
                          double *f)
{
    int64_t N = t->space->width, V = t->space->n_variables;
    for (int64_t c = first; c < first + count; c++) {
        real *h = (real *)t->h + c * t->stride;
        for (int64_t k = 0; k < N; k++) {
            h[k] = (real)t->linear[k];
        }
    }
    for (int64_t i = 0; i < V; i++) {
        const sali_variable *v = &t->space->variables[i];
        for (int64_t c = first; c < first + count; c++) {
            real *h = (real *)t->h + c * t->stride, weight;
            const real *row = row_of(t, v, codes[c * V + i], &weight);
            memcpy(t->own, h + v->offset, (size_t)v->width * sizeof *h);
            add_row(N, weight, row, h);
            memcpy(h + v->offset, t->own, (size_t)v->width * sizeof *h);
        }
    }
    for (int64_t c = first; c < first + count; c++) {
        f[c] = f_of_state(t, codes + c * V, (const real *)t->h + c * t->stride);
    }
}

/* ---- draws */

/* Fill the weights with f of each chain's variable by code, -inf past its last state. Returns the
 * number of rows, the most states of these variables. */
static int32_t gather_weights(sali_field_tile *t)
{
    int32_t rows = 0;
    for (int64_t c = 0; c < t->n; c++) {
        int32_t states = t->space->variables[t->site[c]].states;
        rows = states > rows ? states : rows;
    }
    for (int64_t c = 0; c < t->n; c++) {
        const sali_variable *v = &t->space->variables[t->site[c]];
        const real *h = (const real *)t->h + c * t->stride;
        real *to = (real *)t->weights + c;
        int32_t k = 0;
        if (v->kind == SAL_CATEGORICAL) {
            const real *square = (const real *)t->square + v->offset;
            for (h += v->offset; k < v->states; k++, to += t->lanes) {
                *to = h[k] + square[k];
            }
        } else {
            for (; k < v->states; k++, to += t->lanes) {
                *to = f_at_code(t, v, h, k);
            }
        }
        for (; k < rows; k++, to += t->lanes) {
            *to = -(real)INFINITY;
        }
    }
    return rows;
}

/* Multiply the rows by beta, and subtract from each lane its largest entry. */
SALI_CLONES
static void take_largest(int64_t rows, int64_t lanes, const real *beta, real *restrict weights,
                         real *restrict largest)
{
    for (int64_t c = 0; c < lanes; c++) {
        largest[c] = -(real)INFINITY;
    }
    for (int64_t k = 0; k < rows; k++) {
        real *row = weights + k * lanes;
#pragma omp simd
        for (int64_t c = 0; c < lanes; c++) {
            row[c] *= beta[c];
            largest[c] = row[c] > largest[c] ? row[c] : largest[c];
        }
    }
    for (int64_t k = 0; k < rows; k++) {
        real *row = weights + k * lanes;
#pragma omp simd
        for (int64_t c = 0; c < lanes; c++) {
            row[c] = sali_below_largest(row[c], largest[c]);
        }
    }
}

/* total[c] = the sum of lane c's weights over all rows. */
SALI_CLONES
static void add_up(int64_t rows, int64_t lanes, const real *weights, double *restrict total)
{
    for (int64_t c = 0; c < lanes; c++) {
        total[c] = 0;
    }
    for (int64_t k = 0; k < rows; k++) {
#pragma omp simd
        for (int64_t c = 0; c < lanes; c++) {
            total[c] += (double)weights[k * lanes + c];
        }
    }
}

/* The state that u selects: as many states as have cumulative weights at or below u total. If
 * rounding carries this past the end, it is the last state that has weight; -1 if the total is NaN.
 */
SALI_CLONES
static void pick_codes(int64_t rows, int64_t lanes, const real *weights, const double *u,
                       const double *total, int32_t *restrict code)
{
    enum { BLOCK = SALI_FIELD_LANES };
    for (int64_t first = 0; first < lanes; first += BLOCK) {
        double sum[BLOCK] = { 0 }, at[BLOCK];
        int64_t below[BLOCK] = { 0 }, last[BLOCK] = { 0 };
        for (int c = 0; c < BLOCK; c++) {
            at[c] = u[first + c] * total[first + c];
        }
        for (int64_t k = 0; k < rows; k++) {
            const real *row = weights + k * lanes + first;
#pragma omp simd
            for (int c = 0; c < BLOCK; c++) {
                double w = (double)row[c];
                sum[c] += w;
                below[c] += sum[c] <= at[c];
                last[c] = w > 0 ? k : last[c];
            }
        }
        for (int c = 0; c < BLOCK; c++) {
            int64_t chosen = below[c] < last[c] ? below[c] : last[c];
            code[first + c] = isnan(total[first + c]) ? -1 : (int32_t)chosen;
        }
    }
}

/* Words 0 and 1 of each block as element 0 of sali_rng_uniform_f64. */
SALI_CLONES
static void make_uniforms(int64_t lanes, const uint32_t *low, const uint32_t *high,
                          double *restrict u)
{
    for (int64_t c = 0; c < lanes; c++) {
        uint64_t bits = (uint64_t)high[c] << 32 | low[c];
        u[c] = (double)(int64_t)(bits >> 12) * 0x1p-52 + 0x1p-53;
    }
}

void RN(sali_field_draw)(sali_field_tile *t)
{
    real *weights = t->weights;
    int32_t rows = gather_weights(t);
    make_uniforms(t->lanes, t->words, t->words + t->lanes, t->u);
    take_largest(rows, t->lanes, t->beta, weights, t->largest);
    RN(sali_vexp)(rows * t->lanes, weights, weights);
    add_up(rows, t->lanes, weights, t->total);
    pick_codes(rows, t->lanes, weights, t->u, t->total, t->code);
}

/* ---- moves */

double RN(sali_field_move)(sali_field_tile *t, int64_t c, int64_t i, int32_t from, int32_t to,
                           void *x)
{
    const sali_variable *v = &t->space->variables[i];
    int64_t N = t->space->width;
    real *h = (real *)t->h + c * t->stride, *state = (real *)x + v->offset, old, now;
    const real *left = row_of(t, v, from, &old), *entered = row_of(t, v, to, &now);
    double rise = (double)f_at_code(t, v, h, to) - (double)f_at_code(t, v, h, from);
    memcpy(t->own, h + v->offset, (size_t)v->width * sizeof *h);
    if (v->kind == SAL_CATEGORICAL) {
        add_difference(N, now, entered, left, h);
        state[from] = 0;
        state[to] = 1;
    } else {
        add_row(N, now - old, entered, h);
        state[0] = (real)sali_level(v, to);
    }
    memcpy(h + v->offset, t->own, (size_t)v->width * sizeof *h);
    return rise;
}
