/* SPDX-License-Identifier: MIT */
/* The covariance matrix of weighted rows, for preconditioners. */
#ifndef SALI_COVARIANCE_H
#define SALI_COVARIANCE_H

#include <stdint.h>

/* sums[i] += w x_i [N], products[i, j] += w x_i x_j for j <= i [N x N]. Cost: N times the number of
 * x_i that are not 0. */
void sali_covariance_add(int64_t N, double weight, const double *x, double *sums, double *products);

/* Turn the sums of rows whose weights add up to `total` > 0 into the covariance, in `products`;
 * 0.01 is added to variances below 0.01. Source: Rhodes & Gutmann 2022, app. F.1. */
void sali_covariance_finish(int64_t N, double total, const double *sums, double *products);

#endif
