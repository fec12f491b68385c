/* SPDX-License-Identifier: MIT */
/* The logarithm of the mean of positive weights that are given by their logarithms. */
#ifndef SALI_LOG_MEAN_EXP_H
#define SALI_LOG_MEAN_EXP_H

#include <stdint.h>

typedef struct sali_log_mean {
    double value;          /* log(1/n sum exp a) */
    double standard_error; /* delta method: sd(w) / (mean(w) sqrt n); NaN for n = 1 */
    double jackknife;      /* standard error by leaving out one at a time */
    double ess;            /* (sum w)^2 / sum w^2, 1 to n */
} sali_log_mean;

/* The log mean of exp(a), a [n], n >= 1, each below +inf and at least one finite. If one weight
 * outweighs all others together by more than double precision, the jackknife is infinite or NaN. */
sali_log_mean sali_log_mean_exp(int64_t n, const double *a);

#endif
