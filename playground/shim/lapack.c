/* SPDX-License-Identifier: MIT */
/* The routines of core/vector/lapack.h without OpenBLAS, for the small matrices of a web page. */
#include "core/vector/lapack.h"

#include <math.h>

#define real float
#define NAME(name) s##name##_
#include "lapack_kernel.h"
#undef real

#define real double
#define NAME(name) d##name##_
#include "lapack_kernel.h"
#undef real

/* One rotation of Jacobi's that makes A[p][q] zero; V [n x n] has the eigenvectors as columns of a
 * column-major matrix, which are rows here. */
static void rotate(int n, double *A, int w, double *V, int p, int q)
{
    const double off = A[p * w + q], theta = (A[q * w + q] - A[p * w + p]) / (2 * off);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
    const double c = 1 / hypot(t, 1), s = t * c;
    for (int k = 0; k < n; k++) {
        const double a = A[k * w + p], b = A[k * w + q];
        A[k * w + p] = c * a - s * b;
        A[k * w + q] = s * a + c * b;
    }
    for (int k = 0; k < n; k++) {
        const double a = A[p * w + k], b = A[q * w + k];
        A[p * w + k] = c * a - s * b;
        A[q * w + k] = s * a + c * b;
    }
    for (int k = 0; k < n; k++) {
        const double a = V[p * n + k], b = V[q * n + k];
        V[p * n + k] = c * a - s * b;
        V[q * n + k] = s * a + c * b;
    }
}

static double square_off_diagonal(int n, const double *A, int w)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            sum += A[i * w + j] * A[i * w + j];
        }
    }
    return sum;
}

void dsyevd_(const char *jobz, const char *uplo, const int *size, double *A, const int *lda,
             double *lambda, double *work, const int *lwork, int *iwork, const int *liwork,
             int *info, size_t jobz_length, size_t uplo_length)
{
    const int n = *size, w = *lda;
    double *V = work;
    (void)jobz, (void)uplo, (void)liwork, (void)jobz_length, (void)uplo_length;
    *info = 0;
    if (*lwork < 0) {
        work[0] = (double)n * n + 1;
        iwork[0] = 1;
        return;
    }
    for (int i = 0; i < n; i++) { /* "L" of a column-major matrix is what lies above here */
        for (int j = 0; j < n; j++) {
            A[i * w + j] = i > j ? A[j * w + i] : A[i * w + j];
            V[i * n + j] = i == j;
        }
    }
    double all = 0;
    for (int i = 0; i < n; i++) {
        all += A[i * w + i] * A[i * w + i];
    }
    all += 2 * square_off_diagonal(n, A, w);
    for (int sweep = 0; sweep < 60 && square_off_diagonal(n, A, w) > 1e-30 * all; sweep++) {
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                if (A[p * w + q] != 0) {
                    rotate(n, A, w, V, p, q);
                }
            }
        }
    }
    for (int k = 0; k < n; k++) {
        lambda[k] = A[k * w + k];
    }
    for (int k = 0; k < n; k++) { /* ascending */
        int least = k;
        for (int j = k + 1; j < n; j++) {
            least = lambda[j] < lambda[least] ? j : least;
        }
        const double value = lambda[least];
        lambda[least] = lambda[k];
        lambda[k] = value;
        for (int i = 0; i < n; i++) {
            const double v = V[least * n + i];
            V[least * n + i] = V[k * n + i];
            A[k * w + i] = v;
            V[k * n + i] = v;
        }
    }
}
