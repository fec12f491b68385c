/* SPDX-License-Identifier: MIT */
/* Connected frequencies of pairs, for those who compare many samples with the same data. */
#ifndef SALI_PAIR_CORRELATION_H
#define SALI_PAIR_CORRELATION_H

#include <saltus/stats.h>

/* The connected frequencies C [N x N], N = variables * states, of which the blocks of variables
 * i > j (in rows and columns of C: row i q + a, column j q + b) are set; the rest is not specified.
 * All codes must be below `states`; weight NULL: all are 1.
 * Returns: ARGUMENT, MEMORY. C is then unspecified. */
sal_status sali_pair_covariance(int64_t variables, int64_t states, int64_t rows,
                                const uint8_t *codes, const double *weight, float *C,
                                sal_error *err);

/* Pearson's correlation of the entries of two such matrices; NaN where one of them is constant. */
double sali_pair_pearson(int64_t variables, int64_t states, const float *A, const float *B);

#endif
