/* The single-site kernel. Compiled for float and double. */
#include <math.h>

#include "core/real.h"
#include "core/vmath.h"
#include "samplers/kernels_real.h"

/* Halve the differences; staying and what lies outside the window get weight 0. */
SALI_CLONES
static void halve(real *log_weight, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        log_weight[k] *= (real)0.5;
    }
}

/* Counts move by 1 (Grathwohl et al. 2021, table 1). */
static void exclude(const sali_stretch *s, const int32_t *codes, int64_t radius, real *log_weight)
{
    radius = s->kind == SAL_COUNT ? 1 : radius;
    bool window = s->kind != SAL_CATEGORICAL && radius < s->states;
    for (int64_t i = 0; i < s->count; i++) {
        real *row = log_weight + i * s->states;
        for (int32_t k = 0; window && k < s->states; k++) {
            if (k < codes[i] - radius || k > codes[i] + radius) {
                row[k] = -INFINITY;
            }
        }
        row[codes[i]] = -INFINITY;
    }
}

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
static void subtract(const real *values, real shift, int64_t n, real *out)
{
    for (int64_t k = 0; k < n; k++) {
        out[k] = values[k] - shift;
    }
}

SALI_CLONES
static double sum_of(const real *values, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < n; k++) {
        sum += (double)values[k];
    }
    return sum;
}

void RN(sali_single_site_prepare)(const sal_space *space, const int32_t *codes, int64_t radius,
                                  sali_move_row *row)
{
    real *log_weight = row->log_weight, *weight = row->weight;
    halve(log_weight, space->slots);
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        if (!sali_two_level(s) && s->states > 0) { /* no cap: both slots are moves by 1 */
            exclude(s, codes + s->first, radius, log_weight + s->slot);
        }
    }
    real largest = largest_of(log_weight, space->slots);
    subtract(log_weight, isfinite(largest) ? largest : 0, space->slots, weight);
    RN(sali_vexp)(space->slots, weight, weight);
    double total = 0;
    for (int64_t first = 0, k = 0; first < space->slots; first += SALI_MOVE_BLOCK, k++) {
        int64_t n = space->slots - first;
        row->partial[k] = sum_of(weight + first, n < SALI_MOVE_BLOCK ? n : SALI_MOVE_BLOCK);
        total += row->partial[k];
    }
    row->log_norm = log(total) + (isfinite(largest) ? (double)largest : 0);
}

int64_t RN(sali_single_site_pick)(const sal_space *space, const sali_move_row *row, double u)
{
    const real *weight = row->weight;
    int64_t blocks = (space->slots + SALI_MOVE_BLOCK - 1) / SALI_MOVE_BLOCK, chosen = -1;
    double total = 0;
    for (int64_t k = 0; k < blocks; k++) {
        total += row->partial[k];
    }
    double rest = u * total;
    int64_t block = 0;
    while (block < blocks - 1 && rest >= row->partial[block]) {
        rest -= row->partial[block++];
    }
    /* Rounding may carry the sum past the end of the block: the last possible move is then it. */
    int64_t end = (block + 1) * SALI_MOVE_BLOCK;
    for (int64_t k = block * SALI_MOVE_BLOCK; k < end && k < space->slots; k++) {
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
