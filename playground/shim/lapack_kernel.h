/* SPDX-License-Identifier: MIT */
/* Cholesky's factor and the inverse from it, for one type, `real`. Included by lapack.c. "U" of a
 * column-major matrix is the lower triangle of a row-major one, L. */

void NAME(potrf)(const char *uplo, const int *size, real *A, const int *lda, int *info,
                 size_t length)
{
    const int n = *size, w = *lda;
    (void)uplo, (void)length;
    *info = 0;
    for (int i = 0; i < n && *info == 0; i++) {
        for (int j = 0; j <= i; j++) {
            real sum = A[i * w + j];
            for (int l = 0; l < j; l++) {
                sum -= A[i * w + l] * A[j * w + l];
            }
            if (i == j && !(sum > 0)) {
                *info = i + 1;
                break;
            }
            A[i * w + j] = i == j ? (real)sqrt((double)sum) : sum / A[j * w + j];
        }
    }
}

void NAME(potri)(const char *uplo, const int *size, real *A, const int *lda, int *info,
                 size_t length)
{
    const int n = *size, w = *lda;
    (void)uplo, (void)length;
    *info = 0;
    for (int j = 0; j < n; j++) { /* the inverse of L, in its place */
        A[j * w + j] = 1 / A[j * w + j];
        for (int i = j + 1; i < n; i++) {
            real sum = 0;
            for (int l = j; l < i; l++) {
                sum -= A[i * w + l] * A[l * w + j];
            }
            A[i * w + j] = sum / A[i * w + i];
        }
    }
    for (int i = 0; i < n; i++) { /* its square; row i is needed by rows above it no more */
        for (int j = 0; j <= i; j++) {
            real sum = 0;
            for (int l = i; l < n; l++) {
                sum += A[l * w + i] * A[l * w + j];
            }
            A[i * w + j] = sum;
        }
    }
}

#undef NAME
