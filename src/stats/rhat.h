/* SPDX-License-Identifier: MIT */
/* The potential scale reduction factor. */
#ifndef SALI_RHAT_H
#define SALI_RHAT_H

#include <saltus/stats.h>

/* R-hat of x [chains x n] as it is, without splitting or ranking. NaN when sali_degenerate, with
 * one chain, or with fewer than 2 draws; +inf when no chain moves but they differ. */
double sali_rhat(int64_t chains, int64_t n, const double *x);

/* R-hat from the means and variances (divisor n - 1) of the chains. NaN with one chain, with fewer
 * than 2 draws, or when all chains stay at one value; +inf when they stay at different ones. */
double sali_rhat_moments(int64_t chains, int64_t n, const double *mean, const double *variance);

/* Compute the basic split R-hat of a 0/1 quantity from counts alone. This finds disagreeing chains
 * for every state of every variable without storing draws.
 * Math:    p_j = ones_j / n, W = n/(n-1) mean_j p_j (1 - p_j), B / n = variance of the p_j (divisor
 *          m - 1), R-hat = sqrt((B / W + n - 1) / n); equals rhat_basic of the series.
 * Params:  halves m >= 2; draws n >= 2 in each half-chain; ones [halves], 0 <= ones_j <= n; rhat
 *          not NULL.
 * Returns: SAL_OK; SAL_ERR_ARGUMENT (*rhat is then untouched). NaN when all draws are equal; +inf
 *          when no half-chain moves but the half-chains differ.
 * Source:  as sal_stats_diagnose. */
sal_status sali_rhat_counts(int64_t halves, int64_t draws, const int64_t *ones, double *rhat,
                            sal_error *err);

#endif
