/* SPDX-License-Identifier: MIT */
/* What the ops on the sub-matrix of a selection share: a symmetric positive definite A [n, n], and
 * s [n], which selects row and column i if s_i = 1 and not if s_i = 0.
 *
 * Between 0 and 1 ops are functions of M(s) = E A E + (I - D) diag(A) with D = diag(s), E = D^1/2,
 * positive definite throughout. At s in {0,1}^n, M is A_S and, for the rest, A's diagonal. In units
 * of that diagonal, M = T^1/2 (I + E C E) T^1/2 with T = diag(A) and C_ij = A_ij / sqrt(A_ii A_jj)
 * off the diagonal and 0 on it: rows with s_i = 0 drop out, so only the k with s_i != 0 are
 * factored, and scaling a row and column of A does not change how well derivatives at 0 and 1
 * foretell differences. */
#ifndef SALI_MASKED_H
#define SALI_MASKED_H

#include <math.h>

#include "ad/ops/cholesky.h"

/* The selection of one chain, and work space. */
typedef struct masked {
    int64_t n, k;
    const real *A;
    real *r;        /* [n] A_ii^-1/2, NaN if A_ii <= 0 */
    int32_t *index; /* [k] */
    real *e, *er;   /* [k] s_i^1/2 (NaN if s_i < 0), and times r_i */
    real *M;        /* [k, k] I + E C E or its Cholesky factor, lower triangle */
    real *rest;     /* the scratch after all this */
} masked;

/* Elements of scratch without `rest`. */
static inline int64_t masked_size(int64_t n)
{
    return n * n + 4 * n;
}

/* Divide `scratch` (masked_size(n) elements, then `rest`) into the arrays, and set r from A. */
static inline masked masked_begin(const sali_arg *A, real *scratch)
{
    int64_t n = A->shape->dim[0];
    masked m = { .n = n, .A = A->value, .r = scratch };
    m.index = (int32_t *)(void *)(scratch + n);
    m.e = scratch + 2 * n;
    m.er = scratch + 3 * n;
    m.M = scratch + 4 * n;
    m.rest = m.M + n * n;
    for (int64_t i = 0; i < n; i++) {
        double a = (double)m.A[i * n + i];
        m.r[i] = a > 0 ? (real)(1 / sqrt(a)) : (real)NAN;
    }
    return m;
}

/* Set k, index, e and er for the rows with s_i != 0. */
static inline void masked_select(masked *m, const real *s)
{
    m->k = 0;
    for (int64_t i = 0; i < m->n; i++) {
        if (s[i] != 0) {
            m->index[m->k] = (int32_t)i;
            m->e[m->k] = (real)sqrt((double)s[i]);
            m->er[m->k] = m->e[m->k] * m->r[i];
            m->k++;
        }
    }
}

/* Select the rows with s_i != 0 and factor M over them; false if M is not positive definite. */
static inline bool masked_factor(masked *m, const real *s)
{
    masked_select(m, s);
    bool good = true;
    for (int64_t a = 0; a < m->k; a++) {
        const real *row = m->A + m->index[a] * m->n;
        real *to = m->M + a * m->k;
        for (int64_t b = 0; b < a; b++) {
            to[b] = m->er[a] * row[m->index[b]] * m->er[b];
            good &= isfinite(to[b]);
        }
        to[a] = 1;
        good &= isfinite(m->er[a]);
    }
    return good && cholesky_factor(m->k, m->M);
}

#endif
