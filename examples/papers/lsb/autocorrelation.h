/* SPDX-License-Identifier: MIT */
/* Autocorrelations of series, and the effective sample size of the author's program. */
#ifndef AUTOCORRELATION_H
#define AUTOCORRELATION_H

#include <stdint.h>

/* The autocorrelation at lags 0, lag, .. of `chains` series x [chains x n] about their own means,
 * into rho [points]; lags of n and more are 0. */
void autocorrelations(int64_t chains, int64_t n, const double *x, int points, int64_t lag,
                      double *rho);

/* The author's ESS of a series x [n], in d = lags + 1 iterations: d / (1 + 2 sum_j rho_j (1 - j /
 * d)), over the lags j from 1 to `lags` where rho_j > 0.05. From 1 (rho_j = 1) to d. A series that
 * never changes has 1. */
double ess_of_program(int64_t n, const double *x, int64_t lags);

#endif
