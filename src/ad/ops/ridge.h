/* SPDX-License-Identifier: MIT */
/* What the ops on I + D G D share: G [n, n] symmetric with no negative eigenvalue, D = diag(s), s
 * [n]. With G = X'X / lambda this is the matrix of a ridge regression on the columns s_i X_i. Rows
 * with s_i = 0 are rows of the identity, so only the k with s_i != 0 are factored. */
#ifndef SALI_RIDGE_H
#define SALI_RIDGE_H

#include <math.h>

#include "ad/ops/cholesky.h"

/* The matrix of one chain, and work space. */
typedef struct ridge {
    int64_t n, k;
    int32_t *index; /* [k] where s_i != 0 */
    real *M;        /* [k, k] I + D G D or its Cholesky factor, lower triangle */
} ridge;

static inline int64_t ridge_size(int64_t n)
{
    return n * n + n;
}

static inline ridge ridge_begin(int64_t n, real *scratch)
{
    return (ridge){ .n = n, .index = (int32_t *)(void *)(scratch + n * n), .M = scratch };
}

/* Set k and index for the rows with s_i != 0. */
static inline void ridge_select(ridge *r, const real *s)
{
    r->k = 0;
    for (int64_t i = 0; i < r->n; i++) {
        if (s[i] != 0) {
            r->index[r->k++] = (int32_t)i;
        }
    }
}

/* Select the rows with s_i != 0 and factor M = I + D G D over them; false if M is not positive
 * definite. */
static inline bool ridge_factor(ridge *r, const real *G, const real *s)
{
    bool good = true;
    ridge_select(r, s);
    for (int64_t a = 0; a < r->k; a++) {
        int64_t i = r->index[a];
        real *to = r->M + a * r->k;
        for (int64_t b = 0; b <= a; b++) {
            int64_t j = r->index[b];
            to[b] = s[i] * G[i * r->n + j] * s[j] + (a == b);
            good &= isfinite(to[b]);
        }
    }
    return good && cholesky_factor(r->k, r->M);
}

#endif
