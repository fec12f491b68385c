/* SPDX-License-Identifier: MIT */
/* Learned balancing functions, on arrays of log t. Compiled for float and double. */
#include <math.h>

#include "core/real.h"
#include "core/vector/vmath.h"
#include "samplers/balance.h"

/* out = log sqrt(min(t, 1/t)) */
SALI_CLONES
static void half_below(int64_t n, const real *restrict log_t, real *restrict out)
{
    for (int64_t k = 0; k < n; k++) {
        out[k] = (real)-0.5 * (log_t[k] < 0 ? -log_t[k] : log_t[k]);
    }
}

/* In: root[k] = sqrt(t) for t <= 1. Out: g(t) of the mixture. */
SALI_CLONES
static void mix_functions(const sali_mixture *mixture, int64_t n, real *root)
{
    real sqrt_weight = (real)mixture->weight[SALI_BALANCE_SQRT];
    real barker_weight = (real)mixture->weight[SALI_BALANCE_BARKER];
    real min_weight = (real)mixture->weight[SALI_BALANCE_MIN];
    real max_weight = (real)mixture->weight[SALI_BALANCE_MAX];
    for (int64_t k = 0; k < n; k++) {
        real t = root[k] * root[k];
        root[k] = sqrt_weight * root[k] + t * (barker_weight / (1 + t) + min_weight) + max_weight;
    }
}

/* log g(t) = log t + log g(1/t) above 1; the forbidden stays forbidden, whatever the weight of
 * max(1, t). */
SALI_CLONES
static void unfold_log_g(int64_t n, const real *restrict log_t, real *restrict log_g)
{
    for (int64_t k = 0; k < n; k++) {
        real above = log_t[k] > 0 || log_t[k] == -INFINITY ? log_t[k] : 0;
        log_g[k] += above;
    }
}

void RN(sali_log_mixture)(const void *mixture, int64_t n, const void *log_t, void *log_g)
{
    half_below(n, log_t, log_g);
    RN(sali_vexp)(n, log_g, log_g);
    mix_functions(mixture, n, log_g);
    RN(sali_vlog)(n, log_g, log_g);
    unfold_log_g(n, log_t, log_g);
}

void RN(sali_log_table)(const void *table, int64_t n, const void *log_t, void *log_g)
{
    const real *from = log_t;
    real *to = log_g;
    for (int64_t k = 0; k < n; k++) {
        double u = (double)from[k];
        double here = sali_table_log_h(table, u), mirrored = u + sali_table_log_h(table, -u);
        to[k] = (real)(here < mirrored ? here : mirrored); /* a NaN stays one */
    }
}
