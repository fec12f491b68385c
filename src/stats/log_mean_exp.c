/* SPDX-License-Identifier: MIT */
#include "stats/log_mean_exp.h"

#include <math.h>

/* log of the sum of exp(a) over all n weights except number `left_out`. */
static double log_sum_without(int64_t n, const double *a, int64_t left_out)
{
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        most = i == left_out ? most : fmax(most, a[i]);
    }
    for (int64_t i = 0; i < n && most > -INFINITY; i++) {
        sum += i == left_out ? 0 : exp(a[i] - most);
    }
    return most + log(sum);
}

/* sqrt((n-1)/n sum (theta_i - mean theta)^2), theta_i the log mean without weight i (Efron 1982).
 * `sum` is the sum of the weights relative to the largest one, exp(most). Where one weight is more
 * than half of it, the sum without that weight is recomputed, as a difference would cancel. */
static double jackknife_error(int64_t n, const double *a, double most, double sum)
{
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double rest = sum - exp(a[i] - most), theta;
        if (rest < 0.5 * sum) {
            theta = log_sum_without(n, a, i) - most - log((double)(n - 1));
        } else {
            theta = log(rest / (double)(n - 1));
        }
        double off = theta - mean;
        mean += off / (double)(i + 1);
        squares += off * (theta - mean);
    }
    return sqrt(squares * (double)(n - 1) / (double)n);
}

sali_log_mean sali_log_mean_exp(int64_t n, const double *a)
{
    double most = a[0], sum = 0, squares = 0, deviations = 0;
    for (int64_t i = 1; i < n; i++) {
        most = fmax(most, a[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        double w = exp(a[i] - most);
        sum += w;
        squares += w * w;
    }
    double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double off = exp(a[i] - most) - mean;
        deviations += off * off;
    }
    return (sali_log_mean){
        .value = most + log(mean),
        .standard_error = n > 1 ? sqrt(deviations / (double)(n - 1) / (double)n) / mean : NAN,
        .jackknife = n > 1 ? jackknife_error(n, a, most, sum) : NAN,
        .ess = sum * sum / squares,
    };
}
