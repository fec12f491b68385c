/* SPDX-License-Identifier: MIT */
/* Exact conditionals of few states: p_k proportional to exp(beta f_k). */
#ifndef SALI_CONDITIONAL_H
#define SALI_CONDITIONAL_H

#include <math.h>
#include <stdint.h>

/* *largest receives the largest f. Returns the sum of exp(beta (f_k - largest)). */
static inline double sali_conditional_norm(int64_t states, const double *f, double beta,
                                           double *largest)
{
    double sum = 0;
    *largest = -INFINITY;
    for (int64_t k = 0; k < states; k++) {
        *largest = f[k] > *largest ? f[k] : *largest;
    }
    for (int64_t k = 0; k < states; k++) {
        sum += exp(beta * (f[k] - *largest));
    }
    return sum;
}

/* The state that the uniform u selects; if rounding carries u past the end, the last possible
 * state. -1 if an f is NaN or +inf, or all are -inf. */
static inline int64_t sali_conditional_draw(int64_t states, const double *f, double beta, double u)
{
    double largest, rest = u * sali_conditional_norm(states, f, beta, &largest);
    int64_t chosen = isnan(rest) ? -1 : 0;
    for (int64_t k = 0; k < states && rest >= 0; k++) {
        double weight = exp(beta * (f[k] - largest));
        chosen = weight > 0 ? k : chosen;
        rest -= weight;
    }
    return chosen;
}

#endif
