/* SPDX-License-Identifier: MIT */
/* Mean, variance, and whether there is anything to estimate. */
#ifndef SALI_MOMENTS_H
#define SALI_MOMENTS_H

#include <stdbool.h>
#include <stdint.h>

/* Mean and variance (divisor n - 1; NaN for n = 1) of n >= 1 values. A constant series has exactly
 * its value and 0. NaN when a value is not finite. */
void sali_moments(int64_t n, const double *x, double *mean, double *variance);

/* True when a value is not finite or the range is under DBL_EPSILON: the absolute bound of R's
 * package `posterior`, which reports NA then. */
bool sali_degenerate(int64_t n, const double *x);

#endif
