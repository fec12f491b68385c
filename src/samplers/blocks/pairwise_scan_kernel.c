/* SPDX-License-Identifier: MIT */
/* Compiled for float and double. */
#include "core/real.h"
#include "core/vector/vmath.h"
#include "samplers/blocks/pairwise_scan.h"

enum { LANES = SALI_SCAN_LANES };
typedef real lanes __attribute__((vector_size(LANES * sizeof(real)), aligned(sizeof(real))));
typedef double doubles __attribute__((vector_size(LANES * sizeof(double)), aligned(8)));
#if SALI_REAL_BITS == 32
typedef int32_t whole;
#else
typedef int64_t whole;
#endif
typedef whole mask __attribute__((vector_size(LANES * sizeof(whole)), aligned(sizeof(whole))));

/* ---- thresholds */

#if SALI_REAL_BITS == 32
/* A word is a sign and the distance v of u from 0 or from 1, in the middles of 2^31 intervals of
 * (0, 1/2): a float keeps its leading bits where small probabilities need them. */
SALI_CLONES
static void fill_ratios(int64_t n, const uint32_t *words, real *ratio)
{
    for (int64_t k = 0; k < n; k++) {
        float v = ((float)(int32_t)(words[k] & 0x7fffffffu) + 0.5f) * 0x1p-32f;
        ratio[k] = v / (1 - v);
    }
}

SALI_CLONES
static void set_signs(int64_t n, const uint32_t *words, real *threshold)
{
    for (int64_t k = 0; k < n; k++) {
        threshold[k] = words[k] >> 31 ? -threshold[k] : threshold[k];
    }
}

void sali_scan_thresholds_f32(int64_t n, const uint32_t *words, float *thresholds)
{
    fill_ratios(n, words, thresholds);
    sali_vlog_f32(n, thresholds, thresholds);
    set_signs(n, words, thresholds);
}
#else
/* ratio = u / (1 - u), with u in (0, 1) from two words as in core/rng.h. */
SALI_CLONES
static void fill_ratios(int64_t n, const uint32_t *low, const uint32_t *high, real *ratio)
{
    for (int64_t k = 0; k < n; k++) {
        uint64_t bits = (uint64_t)high[k] << 32 | low[k];
        double u = (double)(int64_t)(bits >> 12) * 0x1p-52 + 0x1p-53;
        ratio[k] = u / (1 - u);
    }
}

void sali_scan_thresholds_f64(int64_t n, int64_t width, const uint32_t *words, double *thresholds)
{
    for (int64_t k = 0; k < n; k += width) {
        fill_ratios(width, words + 2 * k, words + 2 * k + width, thresholds + k);
    }
    sali_vlog_f64(n, thresholds, thresholds);
}
#endif

/* ---- sites */

/* Set variable i in `count` (1 or 2) vectors of chains, from vector `at` on. */
static inline __attribute__((always_inline)) void
set_site(const sali_scan_tile *t, int64_t i, const lanes *threshold, int64_t at, const int count)
{
    const real *J = t->J, *h = t->h;
    const int64_t width = t->lanes / LANES; /* vectors in a row */
    const lanes zero = { 0 }, one = zero + 1;
    const lanes *beta = (const lanes *)t->beta + at, *limit = threshold + at;
    lanes *bits = (lanes *)t->bits + at, *flips = (lanes *)t->flips + at;
    doubles *f = (doubles *)t->f + at;
    lanes field[2] = { zero + h[i], zero + h[i] };
    for (int64_t k = t->begin[i]; k < t->begin[i + 1]; k++) {
        const lanes *b = bits + t->neighbour[k] * width;
        for (int v = 0; v < count; v++) {
            field[v] += J[k] * b[v];
        }
    }
    for (int v = 0; v < count; v++) {
        mask up = beta[v] * field[v] > limit[v];
        lanes now = (lanes)((mask)one & up), rise = now - bits[i * width + v];
        bits[i * width + v] = now;
        flips[v] += rise * rise;
        f[v] += __builtin_convertvector(rise * field[v], doubles);
    }
}

/* sali_scan_sites, as a static function so that its clones are not exported. */
SALI_CLONES
static void scan_sites(const sali_scan_tile *tile, int64_t first, int64_t count, int64_t row)
{
    const sali_scan_tile t = *tile;
    const int64_t width = t.lanes / LANES;
    for (int64_t i = first; i < first + count; i++, row++) {
        const lanes *threshold = (const lanes *)t.thresholds + row * width;
        for (int64_t at = 0; at + 2 <= width; at += 2) {
            set_site(&t, i, threshold, at, 2);
        }
        if (width % 2) {
            set_site(&t, i, threshold, width - 1, 1);
        }
    }
}

void RN(sali_scan_sites)(const sali_scan_tile *tile, int64_t first, int64_t count, int64_t row)
{
    scan_sites(tile, first, count, row);
}

/* ---- states */

/* sali_scan_store, in blocks of variables that are transposed, so that whole cache lines are read
 * and written. */
SALI_CLONES
static void store_states(const sali_scan_tile *tile, int64_t chains, int64_t first, int64_t count,
                         const double *level, int32_t *codes, int64_t codes_row, void *x,
                         int64_t x_row)
{
    enum { BLOCK = 16 };
    const real low = (real)level[0], high = (real)level[1], *bits = tile->bits;
    for (int64_t i = 0; i < count; i += BLOCK) {
        int64_t n = count - i < BLOCK ? count - i : BLOCK;
        const real *from = bits + (first + i) * tile->lanes;
        for (int64_t c = 0; c < chains; c++) {
            int32_t *code = codes + c * codes_row + i;
            real *to = (real *)x + c * x_row + i;
#pragma omp simd
            for (int64_t k = 0; k < n; k++) {
                real bit = from[k * tile->lanes + c];
                code[k] = (int32_t)bit;
                to[k] = bit != 0 ? high : low;
            }
        }
    }
}

void RN(sali_scan_store)(const sali_scan_tile *tile, int64_t chains, int64_t first, int64_t count,
                         const double *level, int32_t *codes, int64_t codes_row, void *x,
                         int64_t x_row)
{
    store_states(tile, chains, first, count, level, codes, codes_row, x, x_row);
}
