/* SPDX-License-Identifier: MIT */
#include "stats/variation.h"

#include <math.h>

double sali_total_variation(int64_t n, const double *p, const double *q)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += fabs(p[i] - q[i]);
    }
    return sum / 2;
}

static double log_factorial(double n)
{
    int sign; /* lgamma would write to a global */
    return lgamma_r(n + 1, &sign);
}

/* E|X - np| of a binomial X: 2 v C(n, v) p^v (1 - p)^(n - v + 1), v = floor(np) + 1 (De Moivre;
 * Diaconis & Zabell 1991). */
static double mean_deviation(double n, double log_factorial_n, double p)
{
    if (p <= 0 || p >= 1) {
        return 0;
    }
    double v = fmin(floor(n * p) + 1, n); /* n p may round to n */
    return 2 * exp(log(v) + log_factorial_n - log_factorial(v) - log_factorial(n - v) + v * log(p) +
                   (n - v + 1) * log1p(-p));
}

double sali_total_variation_noise(int64_t n, const double *p, int64_t draws)
{
    double sum = 0, count = (double)draws, log_factorial_n = log_factorial(count);
    for (int64_t i = 0; i < n; i++) {
        sum += mean_deviation(count, log_factorial_n, p[i]);
    }
    return sum / 2 / count;
}
