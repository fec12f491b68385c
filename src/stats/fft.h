/* SPDX-License-Identifier: MIT */
/* Fast Fourier transform of power-of-two size, for convolutions: the forward transform leaves its
 * result in bit-reversed order, which is where the backward one starts, so nothing is permuted. */
#ifndef SALI_FFT_H
#define SALI_FFT_H

#include <stdint.h>

#include "core/memory.h"

typedef struct sali_fft {
    int64_t size;    /* a power of two, >= 2 */
    double *cosines; /* [size]: entry h + j is cos(pi j / h), for h = 1, 2, 4, .. size / 2 */
    double *sines;   /* same, sin */
} sali_fft;

/* The smallest power of two >= n, at least 2; 0 when it would not fit. */
int64_t sali_fft_size(int64_t n);

/* Fill in the tables, whose memory belongs to `memory`. SAL_ERR_MEMORY. */
sal_status sali_fft_init(sali_fft *fft, sali_memory *memory, int64_t size, sal_error *err);

/* In place on re + i im. Forward: z_k = sum_t z_t exp(-2 pi i k t / size), k in bit-reversed order.
 * Backward: the adjoint of forward, so backward(forward(z)) = size * z. */
void sali_fft_forward(const sali_fft *fft, double *restrict re, double *restrict im);
void sali_fft_backward(const sali_fft *fft, double *restrict re, double *restrict im);

#endif
