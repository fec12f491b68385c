/* SPDX-License-Identifier: MIT */
/* The part of BLAS that the library calls, for row-major matrices, without OpenBLAS (blas.c). */
#ifndef SHIM_CBLAS_H
#define SHIM_CBLAS_H

enum { CblasRowMajor = 101 };
typedef enum { CblasNoTrans = 111, CblasTrans = 112 } CBLAS_TRANSPOSE;
enum { CblasUpper = 121, CblasLower = 122, CblasNonUnit = 131, CblasLeft = 141 };

#define DECLARE(prefix, real)                                                                      \
    void cblas_##prefix##gemm(int order, CBLAS_TRANSPOSE op_a, CBLAS_TRANSPOSE op_b, int m, int n, \
                              int k, real alpha, const real *A, int lda, const real *B, int ldb,   \
                              real beta, real *C, int ldc);                                        \
    void cblas_##prefix##gemv(int order, CBLAS_TRANSPOSE op, int m, int n, real alpha,             \
                              const real *A, int lda, const real *x, int step_x, real beta,        \
                              real *y, int step_y);                                                \
    void cblas_##prefix##ger(int order, int m, int n, real alpha, const real *x, int step_x,       \
                             const real *y, int step_y, real *A, int lda);                         \
    void cblas_##prefix##trsv(int order, int triangle, CBLAS_TRANSPOSE op, int diagonal, int n,    \
                              const real *A, int lda, real *x, int step_x);                        \
    void cblas_##prefix##trsm(int order, int side, int triangle, CBLAS_TRANSPOSE op, int diagonal, \
                              int m, int n, real alpha, const real *A, int lda, real *B, int ldb); \
    void cblas_##prefix##syrk(int order, int triangle, CBLAS_TRANSPOSE op, int n, int k,           \
                              real alpha, const real *A, int lda, real beta, real *C, int ldc);
DECLARE(s, float)
DECLARE(d, double)
#undef DECLARE

static inline int openblas_get_num_threads(void)
{
    return 1;
}
static inline void openblas_set_num_threads(int n)
{
    (void)n;
}

#endif
