/* SPDX-License-Identifier: MIT */
/* Autocovariances of series of one length, summed over series, by Wiener and Khinchin. */
#ifndef SALI_AUTOCOVARIANCE_H
#define SALI_AUTOCOVARIANCE_H

#include <stdint.h>

#include "stats/fft.h"

typedef struct sali_autocovariance {
    int64_t n;     /* length of the series */
    sali_fft fft;  /* of a size >= 2 n, so that nothing wraps around */
    double *re;    /* [size]; the result is here */
    double *im;    /* [size] */
    double *power; /* [size]: the sum of |FFT|^2 so far, in the FFT's order */
} sali_autocovariance;

/* Room of `memory` for series of n >= 1 draws, and a sum of zero. SAL_ERR_MEMORY. */
sal_status sali_autocovariance_init(sali_autocovariance *a, sali_memory *memory, int64_t n,
                                    sal_error *err);

/* Add `x` less its mean, and if `y` is not NULL also `y` less its mean: two for the price of one.
 */
void sali_autocovariance_add(sali_autocovariance *a, const double *x, double mean_x,
                             const double *y, double mean_y);

/* [n] sums over t and over the series added of x_t x_t+k, for k = 0 .. n - 1; valid until the next
 * call. The sum starts again from zero. */
const double *sali_autocovariance_take(sali_autocovariance *a);

#endif
