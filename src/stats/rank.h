/* SPDX-License-Identifier: MIT */
/* Sorting and rank normalisation. */
#ifndef SALI_RANK_H
#define SALI_RANK_H

#include <stdint.h>

/* A draw and its index in the series. */
typedef struct sali_ranked {
    double value;
    int64_t index;
} sali_ranked;

/* Sort by value, stably; `scratch` holds n elements too. No NaN; -0 becomes 0.
 * Linear: a pass for each byte in which the values differ, so few for codes and counts. */
void sali_rank_sort(int64_t n, sali_ranked *ranked, sali_ranked *scratch);

/* Reorder draws sorted by value to the order of |value - center|, which replaces the values. */
void sali_rank_fold(int64_t n, const sali_ranked *sorted, double center, sali_ranked *folded);

/* z[index] = Phi^-1((rank - 3/8) / (n + 1/4)), rank from 1, the mean rank for ties (Blom 1958). */
void sali_rank_normalize(int64_t n, const sali_ranked *sorted, double *z);

/* The quantile `prob` of sorted values, interpolated linearly between order statistics: type 7 of
 * Hyndman & Fan (1996). */
double sali_rank_quantile(int64_t n, const sali_ranked *sorted, double prob);

/* The median; the mean of the middle two for even n. */
double sali_rank_median(int64_t n, const sali_ranked *sorted);

/* Phi^-1(p) for 0 < p < 1, to about 1e-16 relative. */
double sali_normal_quantile(double p);

#endif
