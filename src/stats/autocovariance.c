/* SPDX-License-Identifier: MIT */
#include "stats/autocovariance.h"

#include <string.h>

#include "core/error.h"

sal_status sali_autocovariance_init(sali_autocovariance *a, sali_memory *memory, int64_t n,
                                    sal_error *err)
{
    int64_t size = n > INT64_MAX / 4 ? 0 : sali_fft_size(2 * n);
    if (size == 0) {
        return sali_fail_memory(err);
    }
    *a = (sali_autocovariance){ .n = n,
                                .re = SALI_TAKE(memory, double, size),
                                .im = SALI_TAKE(memory, double, size),
                                .power = SALI_TAKE(memory, double, size) };
    return sali_fft_init(&a->fft, memory, size, err);
}

/* For z = x + i y the autocovariance of z is that of x plus that of y in its real part; the
 * imaginary part holds their cross-covariances, and take() drops it. */
void sali_autocovariance_add(sali_autocovariance *a, const double *x, double mean_x,
                             const double *y, double mean_y)
{
    size_t padding = (size_t)(a->fft.size - a->n) * sizeof(double);
    memset(a->re + a->n, 0, padding);
    memset(a->im + a->n, 0, padding);
    for (int64_t t = 0; t < a->n; t++) {
        a->re[t] = x[t] - mean_x;
        a->im[t] = y ? y[t] - mean_y : 0.0;
    }
    sali_fft_forward(&a->fft, a->re, a->im);
    for (int64_t k = 0; k < a->fft.size; k++) {
        a->power[k] += a->re[k] * a->re[k] + a->im[k] * a->im[k];
    }
}

const double *sali_autocovariance_take(sali_autocovariance *a)
{
    size_t bytes = (size_t)a->fft.size * sizeof(double);
    memcpy(a->re, a->power, bytes);
    memset(a->im, 0, bytes);
    memset(a->power, 0, bytes);
    sali_fft_backward(&a->fft, a->re, a->im);
    double scale = 1.0 / (double)a->fft.size;
    for (int64_t k = 0; k < a->n; k++) {
        a->re[k] *= scale;
    }
    return a->re;
}
