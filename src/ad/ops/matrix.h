/* SPDX-License-Identifier: MIT */
/* Products of row-major matrices through BLAS, which counts with int: sizes must fit in one. */
#ifndef SALI_MATRIX_H
#define SALI_MATRIX_H

#include <limits.h>

#include "ad/ops/ops.h"
#include "core/vector/blas.h"

#if SALI_REAL_BITS == 32
#define BLAS(name) cblas_s##name
#else
#define BLAS(name) cblas_d##name
#endif

enum { PLAIN = CblasNoTrans, TURNED = CblasTrans };

/* y = op(A) x + beta y, where A has m rows and n columns before op. */
static inline void gemv(int op, int64_t m, int64_t n, const real *A, const real *x, real beta,
                        real *y)
{
    BLAS(gemv)(CblasRowMajor, (CBLAS_TRANSPOSE)op, (int)m, (int)n, 1, A, (int)n, x, 1, beta, y, 1);
}

/* C [m, n] = op(A) op(B) + beta C, with k the inner size; all three without gaps. */
static inline void gemm(int op_a, int op_b, int64_t m, int64_t n, int64_t k, const real *A,
                        const real *B, real beta, real *C)
{
    if (m == 1 && op_b == PLAIN) {
        gemv(TURNED, k, n, B, A, beta, C);
    } else if (m == 1) {
        gemv(PLAIN, n, k, B, A, beta, C);
    } else if (n == 1 && op_a == PLAIN) {
        gemv(PLAIN, m, k, A, B, beta, C);
    } else if (n == 1) {
        gemv(TURNED, k, m, A, B, beta, C);
    } else {
        BLAS(gemm)
        (CblasRowMajor, (CBLAS_TRANSPOSE)op_a, (CBLAS_TRANSPOSE)op_b, (int)m, (int)n, (int)k, 1, A,
         (int)(op_a == PLAIN ? k : m), B, (int)(op_b == PLAIN ? n : k), beta, C, (int)n);
    }
}

/* Whether a shape's sizes can be given to BLAS. */
static inline bool fits_blas(const sal_shape *shape)
{
    for (int32_t i = 0; i < shape->rank; i++) {
        if (shape->dim[i] > INT_MAX) {
            return false;
        }
    }
    return true;
}

/* Whether shapes are s [n] and A [n, n], with an n that BLAS can count. */
static inline bool fits_form(const sal_shape *s, const sal_shape *A)
{
    return s->rank == 1 && A->rank == 2 && A->dim[0] == s->dim[0] && A->dim[1] == s->dim[0] &&
           fits_blas(s);
}

/* Shape rule of ops with inputs s [n] and A [n, n], whose output is a scalar. */
static inline sal_status form_shape(sali_node *node, const sali_shape_context *context)
{
    if (!fits_form(&context->in[0]->shape, &context->in[1]->shape)) {
        return sali_shape_fail(node, context, "a vector [n] and a square matrix [n, n]");
    }
    node->shape = SAL_SCALAR;
    return sali_expect_attributes(node, 0, 0, context->err);
}

#endif
