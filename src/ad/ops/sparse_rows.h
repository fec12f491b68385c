/* SPDX-License-Identifier: MIT */
/* Products of a sparse matrix and the states of many chains.
 *
 * A row's entries lie anywhere in s, so loops over them cannot be vector loops. LANES chains are
 * transposed into a tile instead, [n x LANES], and each entry is one vector operation; FEW chains
 * do not pay for that. Either way a chain's sums are taken in the same order. */
#ifndef SALI_SPARSE_ROWS_H
#define SALI_SPARSE_ROWS_H

#include <string.h>

#include "ad/ops/ops.h"

enum { LANES = 16, BLOCK = 16, FEW = 4 };
typedef real lanes __attribute__((vector_size(LANES * sizeof(real)), aligned(sizeof(real))));

/* Row i has the weights w[entry[k]] in columns column[k], k in begin[i] .. begin[i + 1] - 1. */
typedef struct sparse_rows {
    int64_t *begin;
    int32_t *column, *entry;
} sparse_rows;

/* Fill `rows` from pairs of ends, i0, j0, i1, j1, ..: ends number first, first + step, .. are rows
 * [m], and the other end of each pair is a column of that row. The lists must have room, and
 * `begin` [m + 1] be all zeros. */
static inline void sparse_rows_fill(sparse_rows *rows, int64_t m, int64_t n_ends,
                                    const int64_t *ends, int first, int step)
{
    for (int64_t k = first; k < n_ends; k += step) {
        rows->begin[ends[k] + 1]++;
    }
    for (int64_t i = 0; i < m; i++) {
        rows->begin[i + 1] += rows->begin[i];
    }
    for (int64_t k = first; k < n_ends; k += step) {
        int64_t at = rows->begin[ends[k]]++; /* now the end of what is filled */
        rows->column[at] = (int32_t)ends[k ^ 1];
        rows->entry[at] = (int32_t)(k / 2);
    }
    memmove(rows->begin + 1, rows->begin, (size_t)m * sizeof *rows->begin);
    rows->begin[0] = 0;
}

/* Number of chains in the tile that begins at chain `first`. */
static inline int64_t lanes_from(const sali_call *call, int64_t first)
{
    int64_t left = call->chains - first;
    return left < LANES ? left : LANES;
}

/* tile[i] = the i-th elements of `count` chains; the other lanes are zero. Transposed a block at a
 * time, so that each cache line is read once. */
SALI_CLONES
static inline void load_tile(int64_t n, int64_t count, const real *s, lanes *tile)
{
    real *to = (real *)tile;
    if (count < LANES) {
        memset(tile, 0, (size_t)n * sizeof *tile);
    }
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t end = first + BLOCK < n ? first + BLOCK : n;
        for (int64_t c = 0; c < count; c++) {
            for (int64_t i = first; i < end; i++) {
                to[i * LANES + c] = s[c * n + i];
            }
        }
    }
}

/* Y [count x m] = W s for the chains of one tile, or += with `add`. */
SALI_CLONES
static inline void multiply_tile(const sparse_rows *rows, int64_t m, int64_t count, const real *w,
                                 const lanes *tile, bool add, real *Y)
{
    lanes sums[BLOCK];
    for (int64_t first = 0; first < m; first += BLOCK) {
        int64_t end = first + BLOCK < m ? first + BLOCK : m;
        for (int64_t i = first; i < end; i++) {
            lanes sum = { 0 };
            for (int64_t k = rows->begin[i]; k < rows->begin[i + 1]; k++) {
                sum += w[rows->entry[k]] * tile[rows->column[k]];
            }
            sums[i - first] = sum;
        }
        for (int64_t c = 0; c < count; c++) {
            for (int64_t i = first; i < end; i++) {
                real sum = sums[i - first][c];
                Y[c * m + i] = add ? Y[c * m + i] + sum : sum;
            }
        }
    }
}

/* Y [m] = W s [n] for one chain, or += with `add`, with sums in the order of multiply_tile. */
static inline void multiply_one(const sparse_rows *rows, int64_t m, const real *w, const real *s,
                                bool add, real *Y)
{
    for (int64_t i = 0; i < m; i++) {
        real sum = 0;
        for (int64_t k = rows->begin[i]; k < rows->begin[i + 1]; k++) {
            sum += w[rows->entry[k]] * s[rows->column[k]];
        }
        Y[i] = add ? Y[i] + sum : sum;
    }
}

/* Y [chains x m] = W s, or += with `add`, for s [chains x n]; call->scratch has room for a tile of
 * n. */
static inline void sparse_multiply(const sali_call *call, const sparse_rows *rows, int64_t m,
                                   int64_t n, const real *w, const real *s, bool add, real *Y)
{
    for (int64_t first = 0; first < call->chains; first += LANES) {
        int64_t count = lanes_from(call, first);
        for (int64_t c = first; count < FEW && c < first + count; c++) {
            multiply_one(rows, m, w, s + c * n, add, Y + c * m);
        }
        if (count >= FEW) {
            load_tile(n, count, s + first * n, call->scratch);
            multiply_tile(rows, m, count, w, call->scratch, add, Y + first * m);
        }
    }
}

#endif
