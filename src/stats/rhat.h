/* SPDX-License-Identifier: MIT */
/* The potential scale reduction factor. */
#ifndef SALI_RHAT_H
#define SALI_RHAT_H

#include <stdint.h>

/* R-hat of x [chains x n] as it is, without splitting or ranking. NaN when sali_degenerate, with
 * one chain, or with fewer than 2 draws; +inf when no chain moves but they differ. */
double sali_rhat(int64_t chains, int64_t n, const double *x);

/* The same from the chains' means and their variances, sums of squared deviations over n - 1. NaN
 * when all chains stay at one value, +inf when they stay at different ones. */
double sali_rhat_moments(int64_t chains, int64_t n, const double *mean, const double *variance);

#endif
