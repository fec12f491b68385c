/* SPDX-License-Identifier: MIT */
#include "stats/fft.h"

#include <math.h>
int64_t sali_fft_size(int64_t n)
{
    int64_t size = 2;
    while (size < n) {
        if (size > INT64_MAX / 2) {
            return 0;
        }
        size *= 2;
    }
    return size;
}

sal_status sali_fft_init(sali_fft *fft, sali_memory *memory, int64_t size, sal_error *err)
{
    *fft = (sali_fft){ .size = size,
                       .cosines = SALI_TAKE(memory, double, size),
                       .sines = SALI_TAKE(memory, double, size) };
    sal_status status = sali_memory_status(memory, err);
    int64_t top = status == SAL_OK ? size / 2 : 0;
    for (int64_t j = 0; j < top; j++) {
        double angle = M_PI * (double)j / (double)top;
        fft->cosines[top + j] = cos(angle);
        fft->sines[top + j] = sin(angle);
    }
    for (int64_t h = top - 1; h >= 1; h--) { /* every second entry of the level above */
        fft->cosines[h] = fft->cosines[2 * h];
        fft->sines[h] = fft->sines[2 * h];
    }
    return status;
}

/* Decimation in frequency (Gentleman & Sande 1966): sums up, twiddled differences down. */
void sali_fft_forward(const sali_fft *fft, double *restrict re, double *restrict im)
{
    for (int64_t half = fft->size / 2; half >= 1; half /= 2) {
        const double *c = fft->cosines + half, *s = fft->sines + half;
        for (int64_t first = 0; first < fft->size; first += 2 * half) {
            double *re0 = re + first, *im0 = im + first;
            double *re1 = re0 + half, *im1 = im0 + half;
#pragma omp simd
            for (int64_t j = 0; j < half; j++) {
                double dr = re0[j] - re1[j], di = im0[j] - im1[j];
                re0[j] += re1[j];
                im0[j] += im1[j];
                re1[j] = dr * c[j] + di * s[j];
                im1[j] = di * c[j] - dr * s[j];
            }
        }
    }
}

/* Decimation in time (Cooley & Tukey 1965), the same levels in the opposite order. */
void sali_fft_backward(const sali_fft *fft, double *restrict re, double *restrict im)
{
    for (int64_t half = 1; half < fft->size; half *= 2) {
        const double *c = fft->cosines + half, *s = fft->sines + half;
        for (int64_t first = 0; first < fft->size; first += 2 * half) {
            double *re0 = re + first, *im0 = im + first;
            double *re1 = re0 + half, *im1 = im0 + half;
#pragma omp simd
            for (int64_t j = 0; j < half; j++) {
                double tr = re1[j] * c[j] - im1[j] * s[j], ti = im1[j] * c[j] + re1[j] * s[j];
                re1[j] = re0[j] - tr;
                im1[j] = im0[j] - ti;
                re0[j] += tr;
                im0[j] += ti;
            }
        }
    }
}
