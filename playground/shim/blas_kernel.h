/* SPDX-License-Identifier: MIT */
/* The functions of cblas.h for one type, `real`; NAME(gemm) is their name. Included by blas.c. The
 * inner loops run along rows, so that compilers make vectors of them. */

void NAME(gemm)(int order, CBLAS_TRANSPOSE op_a, CBLAS_TRANSPOSE op_b, int m, int n, int k,
                real alpha, const real *A, int lda, const real *B, int ldb, real beta, real *C,
                int ldc)
{
    (void)order;
    for (int i = 0; i < m; i++) {
        real *row = C + (long)i * ldc;
        for (int j = 0; j < n; j++) {
            row[j] = beta == 0 ? 0 : beta * row[j];
        }
        for (int l = 0; l < k; l++) {
            const real a =
                alpha * (op_a == CblasNoTrans ? A[(long)i * lda + l] : A[(long)l * lda + i]);
            if (op_b == CblasNoTrans) {
                const real *from = B + (long)l * ldb;
                for (int j = 0; j < n; j++) {
                    row[j] += a * from[j];
                }
            } else {
                for (int j = 0; j < n; j++) {
                    row[j] += a * B[(long)j * ldb + l];
                }
            }
        }
    }
}

void NAME(gemv)(int order, CBLAS_TRANSPOSE op, int m, int n, real alpha, const real *A, int lda,
                const real *x, int step_x, real beta, real *y, int step_y)
{
    const int length = op == CblasNoTrans ? m : n;
    (void)order;
    for (int i = 0; i < length; i++) {
        y[(long)i * step_y] = beta == 0 ? 0 : beta * y[(long)i * step_y];
    }
    for (int i = 0; i < m; i++) {
        const real *row = A + (long)i * lda;
        if (op == CblasNoTrans) {
            real sum = 0;
            for (int j = 0; j < n; j++) {
                sum += row[j] * x[(long)j * step_x];
            }
            y[(long)i * step_y] += alpha * sum;
        } else {
            const real a = alpha * x[(long)i * step_x];
            for (int j = 0; j < n; j++) {
                y[(long)j * step_y] += a * row[j];
            }
        }
    }
}

void NAME(ger)(int order, int m, int n, real alpha, const real *x, int step_x, const real *y,
               int step_y, real *A, int lda)
{
    (void)order;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            A[(long)i * lda + j] += alpha * x[(long)i * step_x] * y[(long)j * step_y];
        }
    }
}

/* Rows of B [m x n] from L X = alpha B, or L'X = alpha B; L is the lower triangle of A. */
void NAME(trsm)(int order, int side, int triangle, CBLAS_TRANSPOSE op, int diagonal, int m, int n,
                real alpha, const real *A, int lda, real *B, int ldb)
{
    (void)order, (void)side, (void)triangle, (void)diagonal;
    for (int at = 0; at < m; at++) {
        const int i = op == CblasNoTrans ? at : m - 1 - at;
        real *row = B + (long)i * ldb;
        for (int j = 0; j < n; j++) {
            row[j] *= alpha;
        }
        for (int done = 0; done < at; done++) {
            const int l = op == CblasNoTrans ? done : m - 1 - done;
            const real a = op == CblasNoTrans ? A[(long)i * lda + l] : A[(long)l * lda + i];
            for (int j = 0; j < n; j++) {
                row[j] -= a * B[(long)l * ldb + j];
            }
        }
        for (int j = 0; j < n; j++) {
            row[j] /= A[(long)i * lda + i];
        }
    }
}

void NAME(trsv)(int order, int triangle, CBLAS_TRANSPOSE op, int diagonal, int n, const real *A,
                int lda, real *x, int step_x)
{
    NAME(trsm)(order, CblasLeft, triangle, op, diagonal, n, 1, 1, A, lda, x, step_x);
}

/* One triangle of C, with the diagonal. */
void NAME(syrk)(int order, int triangle, CBLAS_TRANSPOSE op, int n, int k, real alpha,
                const real *A, int lda, real beta, real *C, int ldc)
{
    (void)order;
    for (int i = 0; i < n; i++) {
        const int first = triangle == CblasUpper ? i : 0, end = triangle == CblasUpper ? n : i + 1;
        for (int j = first; j < end; j++) {
            real sum = 0;
            for (int l = 0; l < k; l++) {
                sum += op == CblasNoTrans ? A[(long)i * lda + l] * A[(long)j * lda + l]
                                          : A[(long)l * lda + i] * A[(long)l * lda + j];
            }
            real *c = C + (long)i * ldc + j;
            *c = alpha * sum + (beta == 0 ? 0 : beta * *c);
        }
    }
}

#undef NAME
