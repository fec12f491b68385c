/* SPDX-License-Identifier: MIT */
/* The single-site kernel. Compiled for float and double. */
#include <math.h>

#include "core/real.h"
#include "core/vector/vmath.h"
#include "samplers/kernels_real.h"

/* log_t of the stretch becomes -inf for staying and outside the window. Counts move by 1 (Grathwohl
 * et al. 2021, table 1) unless they are given a window. */
static void exclude_moves(const sali_stretch *s, const int32_t *codes, int64_t radius, real *log_t)
{
    radius = s->kind == SAL_COUNT && radius == SALI_ALL_LEVELS ? 1 : radius;
    bool window = s->kind != SAL_CATEGORICAL && radius < s->states;
    for (int64_t i = 0; i < s->count; i++) {
        real *row = log_t + i * s->states;
        for (int32_t k = 0; window && k < s->states; k++) {
            if (k < codes[i] - radius || k > codes[i] + radius) {
                row[k] = -INFINITY;
            }
        }
        row[codes[i]] = -INFINITY;
    }
}

/* log_t real [S] becomes -inf for staying and outside the window of `radius`, block by block. */
static void site_exclude(const sal_space *space, const int32_t *codes, int64_t radius, void *log_t)
{
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        if (!sali_two_level(s) && s->states > 0) { /* no cap: both slots are moves by 1 */
            exclude_moves(s, codes + s->first, radius, (real *)log_t + s->slot);
        }
    }
}

/* out[k] = the sum of log_t over the slots [width] of row k, for moves of several variables. */
static void site_combine(int64_t n, int64_t width, const int32_t *slots, const void *log_t,
                         void *out)
{
    const real *from = log_t;
    for (int64_t k = 0; k < n; k++) {
        real sum = 0;
        for (int64_t j = 0; j < width; j++) {
            sum += from[slots[k * width + j]];
        }
        ((real *)out)[k] = sum;
    }
}

/* The largest of n values; -inf if all are NaN or n is 0. */
SALI_CLONES
static real largest_of(const real *values, int64_t n)
{
    real largest = -INFINITY;
#pragma omp simd reduction(max : largest)
    for (int64_t k = 0; k < n; k++) {
        largest = values[k] > largest ? values[k] : largest;
    }
    return largest;
}

SALI_CLONES
static void take_largest(const real *values, real largest, int64_t n, real *out)
{
    for (int64_t k = 0; k < n; k++) {
        out[k] = sali_below_largest(values[k], largest);
    }
}

/* The sum of n weights, in double. */
static inline __attribute__((always_inline)) double sum_of(const real *values, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < n; k++) {
        sum += (double)values[k];
    }
    return sum;
}

/* Recompute row->partial of blocks first .. end - 1. All but the last block have SALI_MOVE_BLOCK
 * moves, a size that the compiler knows. */
SALI_CLONES
static void sum_blocks(int64_t moves, sali_move_row *row, int64_t first, int64_t end)
{
    for (int64_t b = first; b < end; b++) {
        const real *weight = (const real *)row->weight + b * SALI_MOVE_BLOCK;
        int64_t rest = moves - b * SALI_MOVE_BLOCK;
        row->partial[b] =
            rest < SALI_MOVE_BLOCK ? sum_of(weight, rest) : sum_of(weight, SALI_MOVE_BLOCK);
    }
}

/* From row->log_weight of all moves: weights, partial sums and log_norm. */
static void site_prepare(int64_t moves, sali_move_row *row)
{
    real *weight = row->weight;
    const real *log_weight = row->log_weight;
    real largest = largest_of(log_weight, moves);
    take_largest(log_weight, isfinite(largest) ? largest : 0, moves, weight);
    RN(sali_vexp)(moves, weight, weight);
    sum_blocks(moves, row, 0, (moves + SALI_MOVE_BLOCK - 1) / SALI_MOVE_BLOCK);
    row->log_norm = log(sali_move_total(moves, row)) + (isfinite(largest) ? (double)largest : 0);
}

/* The move that the uniform u selects: first its block by partial sums, then the move in the block.
 * -1 if all weights are 0. */
static int64_t site_pick(int64_t moves, const sali_move_row *row, double u)
{
    const real *weight = row->weight;
    int64_t blocks = (moves + SALI_MOVE_BLOCK - 1) / SALI_MOVE_BLOCK, chosen = -1;
    double rest = u * sali_move_total(moves, row);
    int64_t block = -1;
    /* Rounding may carry the sum past the end: then take the last block that has weight, .. */
    for (int64_t k = 0; k < blocks; k++) {
        if (row->partial[k] > 0) {
            rest -= block < 0 ? 0 : row->partial[block];
            block = k;
            if (rest < row->partial[k]) {
                break;
            }
        }
    }
    /* .. and within the block the last possible move. */
    int64_t end = (block + 1) * SALI_MOVE_BLOCK;
    for (int64_t k = block * SALI_MOVE_BLOCK; block >= 0 && k < end && k < moves; k++) {
        if (weight[k] > 0) {
            chosen = k;
            rest -= (double)weight[k];
            if (rest < 0) {
                break;
            }
        }
    }
    return chosen;
}

/* Set the weights of moves first .. first + count - 1 to 0; returns the sum of all weights then. */
static double site_remove(int64_t moves, sali_move_row *row, int64_t first, int64_t count)
{
    real *weight = row->weight;
    for (int64_t k = first; k < first + count; k++) {
        weight[k] = 0;
    }
    sum_blocks(moves, row, first / SALI_MOVE_BLOCK, (first + count - 1) / SALI_MOVE_BLOCK + 1);
    return sali_move_total(moves, row);
}

const sali_site_kernels RN(sali_site_kernels) = {
    .exclude = site_exclude,
    .combine = site_combine,
    .prepare = site_prepare,
    .pick = site_pick,
    .remove = site_remove,
};
