/* SPDX-License-Identifier: MIT */
/* An index drawn with given probabilities by a uniform number u in [0, 1): the first index at which
 * the cumulative probability exceeds u. An index of probability 0 is never drawn, not even if
 * rounding carries u past the end. */
#ifndef SALI_CHOOSE_H
#define SALI_CHOOSE_H

#include <math.h>
#include <stdint.h>

/* An index of p [n], n >= 1; 0 if no number is positive. */
static inline int64_t sali_choose(int64_t n, const double *p, double u)
{
    int64_t chosen = 0;
    for (int64_t k = 0; k < n && u >= 0; k++) {
        if (p[k] > 0) {
            chosen = k;
            u -= p[k];
        }
    }
    return chosen;
}

/* As sali_choose, with the probabilities exp(log_p[k] - log_z). */
static inline int64_t sali_choose_log(int64_t n, const double *log_p, double log_z, double u)
{
    int64_t chosen = 0;
    for (int64_t k = 0; k < n && u >= 0; k++) {
        const double p = exp(log_p[k] - log_z);
        chosen = p > 0 ? k : chosen;
        u -= p;
    }
    return chosen;
}

/* The first index at which cumulative [n], rising weights, is above x, which is below its last
 * number. */
static inline int64_t sali_choose_cumulative(int64_t n, const double *cumulative, double x)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (cumulative[middle] > x) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

#endif
