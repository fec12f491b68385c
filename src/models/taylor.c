/* SPDX-License-Identifier: MIT */
/* Moves of single variables by the first-order Taylor expansion, GWG eq. 3-4. Compiled for float
 * and double. */
#include <math.h>

#include "core/real.h"
#include "models/model.h"

/* One slot a variable: its flip. */
SALI_CLONES
static void two_level(const sali_stretch *s, const int32_t *code, const real *restrict g,
                      real *restrict slot)
{
    real step = (real)(s->levels[1] - s->levels[0]);
    for (int64_t i = 0; i < s->count; i++) {
        slot[i] = code[i] ? -step * g[i] : step * g[i];
    }
}

/* A slot for each level: g (level - present level). */
SALI_CLONES
static void ordinal_differences(const sali_stretch *s, const int32_t *code, const real *restrict g,
                                real *restrict slot)
{
    for (int64_t i = 0; i < s->count; i++) {
        double now = s->levels[code[i]];
        for (int32_t k = 0; k < s->states; k++) {
            slot[i * s->states + k] = k == code[i] ? 0 : g[i] * (real)(s->levels[k] - now);
        }
    }
}

/* Counts without a cap: down and up; there is nothing below 0 and above the last code. */
static void count_differences(const sali_stretch *s, const int32_t *code, const real *g, real *slot)
{
    for (int64_t i = 0; i < s->count; i++) {
        slot[2 * i] = code[i] > 0 ? -g[i] : -INFINITY;
        slot[2 * i + 1] = code[i] < SAL_COUNT_MOST ? g[i] : -INFINITY;
    }
}

/* A slot for each state k: g_k - g_now, and exactly 0 for the present state. */
SALI_CLONES
static void categorical_differences(const sali_stretch *s, const int32_t *code,
                                    const real *restrict g, real *restrict slot)
{
    for (int64_t i = 0; i < s->count; i++) {
        const real *gi = g + i * s->states;
        real *to = slot + i * s->states, now = gi[code[i]];
        for (int32_t k = 0; k < s->states; k++) {
            to[k] = gi[k] - now;
        }
        to[code[i]] = 0;
    }
}

void RN(sali_taylor_slots)(const sal_space *space, int64_t chains, const int32_t *codes,
                           const real *gradient, real *slots)
{
    for (int64_t c = 0; c < chains; c++) {
        for (int64_t b = 0; b < space->n_blocks; b++) {
            const sali_stretch *s = &space->stretches[b];
            const int32_t *code = codes + c * space->n_variables + s->first;
            const real *g = gradient + c * space->width + s->offset;
            real *slot = slots + c * space->slots + s->slot;
            if (sali_two_level(s)) {
                two_level(s, code, g, slot);
            } else if (s->kind == SAL_CATEGORICAL) {
                categorical_differences(s, code, g, slot);
            } else if (s->states == 0) {
                count_differences(s, code, g, slot);
            } else {
                ordinal_differences(s, code, g, slot);
            }
        }
    }
}

/* ---- linear terms of chains */

/* field'x over n reals, summed in double precision. */
SALI_CLONES
static double field_at(int64_t n, const real *restrict field, const real *restrict x)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) {
        sum += (double)field[i] * (double)x[i];
    }
    return sum;
}

SALI_CLONES
static void add_field(int64_t n, const real *restrict field, real *restrict gradient)
{
    for (int64_t i = 0; i < n; i++) {
        gradient[i] += field[i];
    }
}

void RN(sali_add_fields)(int64_t chains, int64_t width, const real *field, const real *x, double *f,
                         real *gradient)
{
    for (int64_t c = 0; c < chains; c++) {
        if (f) {
            f[c] += field_at(width, field + c * width, x + c * width);
        }
        if (gradient) {
            add_field(width, field + c * width, gradient + c * width);
        }
    }
}
