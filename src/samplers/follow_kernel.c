/* SPDX-License-Identifier: MIT */
/* Gradients that follow moves by rows of the couplings. Compiled for float and double. */
#include "core/real.h"
#include "samplers/followed_gradient.h"

SALI_CLONES
static void add_one(int64_t n, const real *restrict a, real u, const real *from, real *to)
{
    for (int64_t k = 0; k < n; k++) {
        to[k] = from[k] + u * a[k];
    }
}

/* to = from + u a + v b: the two rows of a one-hot variable that changes. */
SALI_CLONES
static void add_two(int64_t n, const real *restrict a, real u, const real *restrict b, real v,
                    const real *from, real *to)
{
    for (int64_t k = 0; k < n; k++) {
        to[k] = from[k] + (u * a[k] + v * b[k]);
    }
}

void RN(sali_follow_rows)(int64_t n, const real *J, int64_t k, const int64_t *row,
                          const double *weight, const real *gradient, real *gradient_new)
{
    const real *from = gradient;
    int64_t j = 0;
    if (k == 0) {
        add_one(n, gradient, 0, gradient, gradient_new);
    }
    for (; j + 1 < k; j += 2, from = gradient_new) {
        add_two(n, J + row[j] * n, (real)weight[j], J + row[j + 1] * n, (real)weight[j + 1], from,
                gradient_new);
    }
    if (j < k) {
        add_one(n, J + row[j] * n, (real)weight[j], from, gradient_new);
    }
}

/* ---- squares: second-order terms of moves of one variable */

/* Moves of a one-hot variable, d = e_k - e_now: add weight d'J d to slot[k] for each k. `row` and
 * `diagonal` are the variable's part of row `now` and of the diagonal of J. */
SALI_CLONES
static void one_hot(int32_t states, int32_t now, const real *restrict row, const real *diagonal,
                    real weight, real *restrict slot)
{
    const real here = diagonal[now];
    for (int32_t k = 0; k < states; k++) {
        slot[k] += weight * (here + diagonal[k] - 2 * row[k]);
    }
}

/* The squared change of the level from code `now` to k. */
static inline real squared_change(const sali_stretch *s, int32_t now, int32_t k)
{
    real d = s->levels ? (real)(s->levels[k] - s->levels[now]) : (real)(k - now);
    return d * d;
}

/* Add weight d'J d to the slots of all moves of a stretch's variables from the state `codes`. */
static void add_squares(const sal_space *space, const sali_stretch *s, const real *J,
                        const real *diagonal, real weight, const int32_t *codes, real *slots)
{
    const int64_t N = space->width;
    const bool flips = sali_two_level(s), one = flips || s->kind != SAL_CATEGORICAL;
    const int32_t entries = flips ? 1 : sali_entries(s->states);
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t at = s->offset + i * (one ? 1 : s->states);
        const int32_t now = codes[s->first + i];
        real *slot = slots + s->slot + i * entries;
        if (!one) {
            one_hot(s->states, now, J + (at + now) * N + at, diagonal + at, weight, slot);
            continue;
        }
        for (int32_t k = 0; k < entries; k++) {
            int32_t code = flips ? 1 - now : sali_entry_code(s->states, now, k);
            slot[k] += weight * diagonal[at] * squared_change(s, now, code);
        }
    }
}

void RN(sali_follow_squares)(const sal_space *space, const real *J, const real *diagonal,
                             real weight, const int32_t *codes, real *slots)
{
    for (int64_t b = 0; b < space->n_blocks; b++) {
        add_squares(space, &space->stretches[b], J, diagonal, weight, codes, slots);
    }
}
