/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "stats/mmd.h"
#include <saltus/program.h>
#include <saltus/stats.h>

/* A baseline x86-64 has no instruction that counts bits; nearly every machine does. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(SALI_NO_CLONES)
#define POPCOUNT_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define POPCOUNT_CLONES
#endif

/* Rows of a task, and rows that these are compared with before the next rows are fetched: both stay
 * in the nearest cache. */
#define TILE 64

int sali_packed_planes(int64_t count, const uint8_t *codes)
{
    unsigned seen = 1;
    for (int64_t i = 0; i < count; i++) {
        seen |= codes[i];
    }
    int planes = 0;
    for (; seen; seen >>= 1) {
        planes++;
    }
    return planes;
}

int sali_packed_make(sali_packed *p, int64_t rows, int64_t variables, const uint8_t *codes,
                     int planes)
{
    *p = (sali_packed){
        .rows = rows, .variables = variables, .words = (variables + 63) / 64, .planes = planes
    };
    int64_t width = p->words * planes;
    if (rows > INT64_MAX / width) {
        return -1;
    }
    p->bits = SALI_NEW_ARRAY(uint64_t, rows * width);
    if (!p->bits) {
        return -1;
    }
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t i = 0; i < variables; i++) {
            uint64_t code = codes[row * variables + i];
            uint64_t *word = p->bits + row * width + i / 64 * planes;
            for (int plane = 0; plane < planes; plane++) {
                word[plane] |= (code >> plane & 1) << (i % 64);
            }
        }
    }
    return 0;
}

void sali_packed_free(sali_packed *p)
{
    sali_free(p->bits);
    *p = (sali_packed){ 0 };
}

sali_packed sali_packed_rows(const sali_packed *p, int64_t first, int64_t rows)
{
    sali_packed part = *p;
    part.rows = rows;
    part.bits += first * p->words * p->planes;
    return part;
}

/* The number of variables in which two packed rows differ: two codes differ if any of their bits
 * do. */
static inline int64_t hamming_distance(const uint64_t *a, const uint64_t *b, int64_t words,
                                       int planes)
{
    int64_t distance = 0;
    for (int64_t w = 0; w < words; w++) {
        uint64_t differ = 0;
        for (int plane = 0; plane < planes; plane++) {
            differ |= a[w * planes + plane] ^ b[w * planes + plane];
        }
        distance += __builtin_popcountll(differ);
    }
    return distance;
}

/* Count the pairs of one tile of rows of a with rows of b, by distance; `same`: a and b are one
 * sample and each unordered pair counts once. */
static inline void count_planes(const sali_packed *a, const sali_packed *b, int64_t first,
                                bool same, int planes, int64_t *counts)
{
    int64_t last = first + TILE < a->rows ? first + TILE : a->rows, words = a->words;
    for (int64_t tile = same ? first : 0; tile < b->rows; tile += TILE) {
        int64_t end = tile + TILE < b->rows ? tile + TILE : b->rows;
        for (int64_t i = first; i < last; i++) {
            const uint64_t *row = a->bits + i * words * planes;
            for (int64_t j = same && i + 1 > tile ? i + 1 : tile; j < end; j++) {
                counts[hamming_distance(row, b->bits + j * words * planes, words, planes)]++;
            }
        }
    }
}

POPCOUNT_CLONES static void count_tile(const sali_packed *a, const sali_packed *b, int64_t first,
                                       bool same, int64_t *counts)
{
    switch (a->planes) { /* constants let the compiler unroll the common ones */
    case 1:
        count_planes(a, b, first, same, 1, counts);
        break;
    case 2:
        count_planes(a, b, first, same, 2, counts);
        break;
    default:
        count_planes(a, b, first, same, a->planes, counts);
        break;
    }
}

/* The least Hamming distance of `row` from the rows of b, except rows from .. to - 1; *times is how
 * many rows of b are that near. INT64_MAX and 0 if no row is left. `planes` is b->planes. */
static inline int64_t nearest_planes(const uint64_t *row, const sali_packed *b, int64_t from,
                                     int64_t to, int planes, int64_t *times)
{
    const int64_t width = b->words * planes;
    int64_t least = INT64_MAX;
    *times = 0;
    for (int64_t j = 0; j < b->rows; j++) {
        if (j >= from && j < to) {
            continue;
        }
        const int64_t distance = hamming_distance(row, b->bits + j * width, b->words, planes);
        *times = distance < least ? 1 : *times + (distance == least);
        least = distance < least ? distance : least;
    }
    return least;
}

POPCOUNT_CLONES static int64_t nearest_distance(const sali_packed *a, int64_t row,
                                                const sali_packed *b, int64_t from, int64_t to,
                                                int64_t *times)
{
    const uint64_t *bits = a->bits + row * a->words * a->planes;
    return a->planes == 1   ? nearest_planes(bits, b, from, to, 1, times)
           : a->planes == 2 ? nearest_planes(bits, b, from, to, 2, times)
                            : nearest_planes(bits, b, from, to, a->planes, times);
}

int64_t sali_packed_nearest(const sali_packed *a, int64_t row, const sali_packed *b, int64_t from,
                            int64_t to, int64_t *times)
{
    return nearest_distance(a, row, b, from, to, times);
}

/* Counts of pairs by distance, shared out: piece k counts tiles k, k + pieces, .. of the rows of a.
 */
typedef struct pair_counts {
    const sali_packed *a, *b;
    bool same; /* a and b are one sample */
    int64_t pieces, stride;
    int64_t *counts; /* [pieces x stride] */
} pair_counts;

static void count_piece(void *context, int64_t k)
{
    const pair_counts *c = context;
    for (int64_t first = k * TILE; first < c->a->rows; first += c->pieces * TILE) {
        count_tile(c->a, c->b, first, c->same, c->counts + k * c->stride);
    }
}

int sali_kernel_sum(const sali_packed *a, const sali_packed *b, int threads, double *sum,
                    double *pairs)
{
    const int64_t variables = a->variables, stride = (variables / 8 + 1) * 8; /* cache lines */
    const int64_t tiles = (a->rows + TILE - 1) / TILE,
                  most = 4 * (int64_t)sal_threads_number(threads);
    const int64_t pieces = tiles < most ? tiles : most;
    int64_t *counts = stride > INT64_MAX / most ? NULL : SALI_NEW_ARRAY(int64_t, pieces * stride);
    if (!counts) {
        return -1;
    }
    sal_threads_run(pieces, threads, count_piece,
                    &(pair_counts){ .a = a,
                                    .b = b ? b : a,
                                    .same = b == NULL,
                                    .pieces = pieces,
                                    .stride = stride,
                                    .counts = counts });
    *sum = *pairs = 0.0;
    for (int64_t h = 0; h <= variables; h++) {
        int64_t count = 0;
        for (int64_t k = 0; k < pieces; k++) {
            count += counts[k * stride + h];
        }
        *sum += (double)count * exp(-(double)h / (double)variables);
        *pairs += (double)count;
    }
    sali_free(counts);
    return 0;
}

/* The mean of the kernel over pairs of n states. `sum` is over the unordered pairs of different
 * states; the V-statistic also counts each state with itself, where the kernel is 1. */
static double mean_within(double sum, int64_t n, sal_mmd_estimator estimator)
{
    const double rows = (double)n;
    return estimator == SAL_MMD_V ? (2 * sum + rows) / (rows * rows)
                                  : sum / (rows * (rows - 1) / 2);
}

sal_status sal_stats_mmd(int64_t variables, int64_t na, const uint8_t *a, int64_t nb,
                         const uint8_t *b, sal_mmd_estimator estimator, double *mmd2,
                         sal_error *err)
{
    if (estimator != SAL_MMD_U && estimator != SAL_MMD_V) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_stats_mmd: estimator is %d; expected SAL_MMD_U or SAL_MMD_V",
                         (int)estimator);
    }
    if (variables < 1 || na < 2 || nb < 2 || na > INT64_MAX / variables ||
        nb > INT64_MAX / variables || !a || !b || !mmd2) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_stats_mmd: expected at least 1 variable, two samples of at least 2 "
                         "states and a place for the result; got %lld and %lld states of %lld "
                         "variables",
                         (long long)na, (long long)nb, (long long)variables);
    }
    int planes_a = sali_packed_planes(na * variables, a);
    int planes_b = sali_packed_planes(nb * variables, b);
    int planes = planes_a > planes_b ? planes_a : planes_b;
    double aa = 0, bb = 0, ab = 0, pairs;
    sali_packed pa = { 0 }, pb = { 0 };
    bool ok = sali_packed_make(&pa, na, variables, a, planes) == 0 &&
              sali_packed_make(&pb, nb, variables, b, planes) == 0 &&
              sali_kernel_sum(&pa, NULL, 0, &aa, &pairs) == 0 &&
              sali_kernel_sum(&pb, NULL, 0, &bb, &pairs) == 0 &&
              sali_kernel_sum(&pa, &pb, 0, &ab, &pairs) == 0;
    if (ok) {
        *mmd2 = mean_within(aa, na, estimator) + mean_within(bb, nb, estimator) - 2 * (ab / pairs);
    }
    sali_packed_free(&pa);
    sali_packed_free(&pb);
    return ok ? SAL_OK : sali_fail_memory(err);
}

double sali_mmd_of(double squared)
{
    return squared > 0 ? sqrt(squared) : isnan(squared) ? NAN : 0;
}

void sali_mmd_text(double mmd, char text[SALI_MMD_TEXT])
{
    if (mmd <= 0) {
        snprintf(text, SALI_MMD_TEXT, "below noise");
    } else {
        snprintf(text, SALI_MMD_TEXT, "%.4f", mmd);
    }
}
