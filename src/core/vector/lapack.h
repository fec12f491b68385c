/* SPDX-License-Identifier: MIT */
/* The LAPACK routines in use, by their Fortran names: OpenBLAS has them, whether or not its C
 * interface to LAPACK is installed. Matrices are column-major, so "U" is the lower triangle of a
 * row-major one. The last arguments are the lengths of the strings, which Fortran passes out of
 * sight. */
#ifndef SALI_LAPACK_H
#define SALI_LAPACK_H

#include <stddef.h>

/* A = U'U in place; *info > 0: not positive definite. */
void spotrf_(const char *uplo, const int *n, float *A, const int *lda, int *info, size_t length);
void dpotrf_(const char *uplo, const int *n, double *A, const int *lda, int *info, size_t length);

/* Replace a factor of potrf by the inverse of the matrix, in the same triangle. */
void spotri_(const char *uplo, const int *n, float *A, const int *lda, int *info, size_t length);
void dpotri_(const char *uplo, const int *n, double *A, const int *lda, int *info, size_t length);

/* Eigenvalues w, ascending, of the symmetric A, and with jobz "V" its eigenvectors, the columns of
 * A on return. Work sizes of -1 ask for the best ones in work[0] and iwork[0]. */
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *A, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info,
             size_t jobz_length, size_t uplo_length);

#endif
