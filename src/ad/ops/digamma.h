/* SPDX-License-Identifier: MIT */
/* psi(x) = d log |Gamma(x)| / dx, over an array of doubles.
 *
 * Recurrence: psi(x) = psi(x + SHIFT) - sum_{k < SHIFT} 1 / (x + k); then the asymptotic series
 * log t - 1/(2t) - sum_j B_2j / (2j t^2j) at t = x + SHIFT >= 10, of which eight terms leave less
 * than 1e-17. Below 0 by reflection, psi(x) = psi(1 - x) - pi / tan(pi x).
 * Error below 2e-15 (1 + |psi|) for x > 0. NaN at 0 and the negative integers, and -inf. */
#ifndef SALI_DIGAMMA_H
#define SALI_DIGAMMA_H

#include <math.h>
#include <stdint.h>

#include "core/vector/clones.h"
#include "core/vector/vmath.h"

enum { DIGAMMA_BLOCK = 256, DIGAMMA_SHIFT = 10 };

/* B_2j / (2j) t^-2j, summed from its last term. */
static inline double digamma_series(double t)
{
    const double u = 1 / (t * t);
    double sum = -3617.0 / 8160;
    sum = sum * u + 1.0 / 12;
    sum = sum * u - 691.0 / 32760;
    sum = sum * u + 1.0 / 132;
    sum = sum * u - 1.0 / 240;
    sum = sum * u + 1.0 / 252;
    sum = sum * u - 1.0 / 120;
    sum = sum * u + 1.0 / 12;
    return sum * u;
}

/* pi / tan(pi x) with x reduced to -1/2 .. 1/2; NaN at integers, where there is a pole. */
static inline double digamma_cotangent(double x)
{
    const double pi = 3.14159265358979323846;
    double part = x - nearbyint(x);
    return part == 0 ? NAN : pi / tan(pi * part);
}

/* psi[i] = psi(x[i]) for n <= DIGAMMA_BLOCK numbers. */
SALI_CLONES static void digamma_block(int64_t n, const double *x, double *psi)
{
    double t[DIGAMMA_BLOCK] = { 0 };
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        t[i] = (x[i] > 0 ? x[i] : 1 - x[i]) + DIGAMMA_SHIFT;
    }
    sali_vlog_f64(n, t, psi);
    for (int64_t i = 0; i < n; i++) {
        double from = x[i] > 0 ? x[i] : 1 - x[i], sum = 0;
        for (int k = DIGAMMA_SHIFT - 1; k >= 0; k--) {
            sum += 1 / (from + k);
        }
        psi[i] = psi[i] - 0.5 / t[i] - digamma_series(t[i]) - sum;
    }
    for (int64_t i = 0; i < n; i++) {
        if (x[i] <= 0) {
            psi[i] -= digamma_cotangent(x[i]);
        }
    }
}

#endif
