/* SPDX-License-Identifier: MIT */
/* Pearson's chi-square test, for tests of samplers. */
#ifndef CHI_SQUARE_H
#define CHI_SQUARE_H

#include <math.h>

/* P(X > x) of a chi-square variable with `df` degrees of freedom: the regularised incomplete gamma
 * function Q(df/2, x/2), by its series for small x and its continued fraction for large (Abramowitz
 * & Stegun 6.5.29 and 6.5.31, the fraction by Lentz's method). */
static inline double chi_square_survival(double df, double x)
{
    double a = 0.5 * df, y = 0.5 * x;
    if (!(y > 0.0)) {
        return 1.0;
    }
    double front = exp(a * log(y) - y - lgamma(a));
    if (y < a + 1.0) {
        double term = 1.0 / a, sum = term;
        for (double k = a + 1.0; term > 1e-17 * sum; k += 1.0) {
            term *= y / k;
            sum += term;
        }
        return 1.0 - front * sum;
    }
    double b = y + 1.0 - a, c = 1e300, d = 1.0 / b, fraction = d;
    for (int k = 1; k < 100000; k++) {
        double numerator = -k * (k - a);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        fraction *= c * d;
        if (fabs(c * d - 1.0) < 1e-15) {
            break;
        }
    }
    return front * fraction;
}

/* The p-value of `observed` counts in n cells against `expected` ones with the same total. Cells
 * with an expectation under 5 are pooled into one; if that one is still under 5 it joins the
 * smallest of the others. 0 if something was observed where nothing can be; 1 if only one cell is
 * left, when there is nothing to test. */
static inline double chi_square_p(int n, const double *observed, const double *expected)
{
    double statistic = 0.0, pooled_observed = 0.0, pooled_expected = 0.0;
    int cells = 0, smallest = -1;
    for (int i = 0; i < n; i++) {
        if (expected[i] <= 0.0 && observed[i] > 0.0) {
            return 0.0;
        }
        if (expected[i] < 5.0) {
            pooled_observed += observed[i];
            pooled_expected += expected[i];
        } else if (smallest < 0 || expected[i] < expected[smallest]) {
            smallest = i;
        }
    }
    int joined = pooled_expected < 5.0 ? smallest : -1;
    for (int i = 0; i < n; i++) {
        if (expected[i] >= 5.0 && i != joined) {
            statistic += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
            cells++;
        }
    }
    if (joined >= 0) {
        pooled_observed += observed[joined];
        pooled_expected += expected[joined];
    }
    if (pooled_expected > 0.0) {
        double difference = pooled_observed - pooled_expected;
        statistic += difference * difference / pooled_expected;
        cells++;
    }
    return cells > 1 ? chi_square_survival(cells - 1, statistic) : 1.0;
}

#endif
