/* SPDX-License-Identifier: MIT */
#include "stats/covariance.h"

/* Added to variances below this value. */
#define SMALL 0.01

void sali_covariance_add(int64_t N, double weight, const double *x, double *sums, double *products)
{
    for (int64_t i = 0; i < N; i++) {
        double wx = weight * x[i];
        sums[i] += wx;
        for (int64_t j = 0; x[i] != 0 && j <= i; j++) {
            products[i * N + j] += wx * x[j];
        }
    }
}

void sali_covariance_finish(int64_t N, double total, const double *sums, double *products)
{
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double mean = products[i * N + j] / total;
            double covariance = mean - sums[i] / total * (sums[j] / total);
            products[i * N + j] = products[j * N + i] = covariance;
        }
        products[i * N + i] += products[i * N + i] < SMALL ? SMALL : 0;
    }
}
