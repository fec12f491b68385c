/* SPDX-License-Identifier: MIT */
/* Gradients that follow moves by rows of the couplings. Compiled for float and double. */
#include "core/real.h"
#include "samplers/local/followed_gradient.h"

SALI_CLONES
static void add_one(int64_t n, const real *restrict a, real u, const real *from, real *to)
{
    for (int64_t k = 0; k < n; k++) {
        to[k] = from[k] + u * a[k];
    }
}

/* A one-hot variable leaves one state for another. */
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
