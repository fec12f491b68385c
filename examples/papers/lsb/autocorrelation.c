/* SPDX-License-Identifier: MIT */
#include "autocorrelation.h"

#include "../panel.h"

/* sum_i (x_i - mean) (x_(i + lag) - mean) */
static double products(int64_t n, const double *x, double mean, int64_t lag)
{
    double sum = 0;
    for (int64_t i = 0; i + lag < n; i++) {
        sum += (x[i] - mean) * (x[i + lag] - mean);
    }
    return sum;
}

void autocorrelations(int64_t chains, int64_t n, const double *x, int points, int64_t lag,
                      double *rho)
{
    double sd;
    for (int k = 0; k < points; k++) {
        rho[k] = 0;
    }
    for (int64_t c = 0; c < chains; c++) {
        double mean = mean_of(n, x + c * n, &sd);
        for (int k = 0; k < points && k * lag < n; k++) {
            rho[k] += products(n, x + c * n, mean, k * lag);
        }
    }
    for (int k = points - 1; k >= 0; k--) {
        rho[k] = rho[0] > 0 ? rho[k] / rho[0] : 1;
    }
}

double ess_of_program(int64_t n, const double *x, int64_t lags)
{
    double sd, mean = mean_of(n, x, &sd), all = products(n, x, mean, 0), sum = 0;
    const double d = (double)lags + 1;
    for (int64_t j = 1; j <= lags; j++) {
        double rho = all > 0 ? products(n, x, mean, j) / all : 1;
        sum += rho > 0.05 ? rho * (1 - (double)j / d) : 0;
    }
    return d / (1 + 2 * sum);
}
