/* SPDX-License-Identifier: MIT */
/* What the ops on a symmetric positive definite matrix and a vector s [n] that selects or scales
 * its rows share: shapes, the Cholesky factor L of the k rows that count, and solving with it.
 * Row-major [k, k]; LAPACK's upper triangle is the lower one here. */
#ifndef SALI_CHOLESKY_H
#define SALI_CHOLESKY_H

#include "ad/ops/matrix.h"
#include "core/vector/lapack.h"

#if SALI_REAL_BITS == 32
#define LAPACK(name) s##name##_
#else
#define LAPACK(name) d##name##_
#endif

/* Shape rule of ops with inputs s [n], A [n, n] and y [n], whose output is a scalar. */
static inline sal_status cholesky_quad_shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *s = &context->in[0]->shape, *y = &context->in[2]->shape;
    if (!fits_form(s, &context->in[1]->shape) || y->rank != 1 || y->dim[0] != s->dim[0]) {
        return sali_shape_fail(node, context,
                               "a vector [n], a square matrix [n, n] and a vector [n]");
    }
    node->shape = SAL_SCALAR;
    return sali_expect_attributes(node, 0, 0, context->err);
}

/* Overwrite M [rows, rows] by its Cholesky factor L, lower triangle; false if M is not positive
 * definite. */
static inline bool cholesky_factor(int64_t rows, real *M)
{
    int k = (int)rows, info = 0;
    if (k > 0) {
        LAPACK(potrf)("U", &k, M, &k, &info, 1);
    }
    return info == 0;
}

/* x = M^-1 x for M = L L', [k, k], by way of t = L^-1 x; returns t't, which is x'M^-1 x. */
static inline real cholesky_solve(int64_t k, const real *L, real *x)
{
    real square = 0;
    for (int pass = 0; pass < 2 && k > 0; pass++) {
        BLAS(trsv)
        (CblasRowMajor, CblasLower, pass ? CblasTrans : CblasNoTrans, CblasNonUnit, (int)k, L,
         (int)k, x, 1);
        for (int64_t a = 0; pass == 0 && a < k; a++) {
            square += x[a] * x[a];
        }
    }
    return square;
}

#endif
