/* SPDX-License-Identifier: MIT */
/* Units h that are double rectified linear (dReLU): real numbers of a density proportional to
 * exp(h a - U(h)), with a positive and a negative side,
 *
 *     U(h) = h^2 / (2 (1 + eta)) + Delta h,  h > 0;    h^2 / (2 (1 - eta)) - Delta h,  h < 0.
 *
 * With s = sqrt(1 + eta) and x = s (Delta - a) for h > 0, s = sqrt(1 - eta) and x = s (Delta + a)
 * for h < 0, |h| / s has on its side the density exp(-x z - z^2 / 2) / R(x), z > 0, and the side
 * has the weight s R(x), where R(x) = sqrt(pi / 2) exp(x^2 / 2) erfc(x / sqrt 2) is Mills' ratio.
 * The mean of z is e(x) = 1 / R(x) - x, and that of z^2 is 1 - x e(x).
 *
 * All is in double. Element k depends on the elements k of the inputs only. No allocation.
 *
 * Source: Tubiana, Cocco & Monasson 2019, eLife 8:e39397 (these units, there with a scale of h and
 * a shift of a besides, which W and the bias of a hold here). */
#ifndef SALI_DRELU_H
#define SALI_DRELU_H

#include <stdint.h>

/* Of each unit: Delta, and the s of its two sides. */
typedef struct sali_drelu {
    const double *delta, *plus, *minus;
} sali_drelu;

/* plus = sqrt(1 + eta) and minus = sqrt(1 - eta) of n units, eta = tanh t; 1 - |eta| keeps its
 * digits where eta is near 1 or -1. */
void sali_drelu_sides(int64_t n, const double *t, double *plus, double *minus);

/* f = log of the integral of exp(h a - U(h)) / sqrt(2 pi), a^2 / 2 where eta and Delta are 0, and
 * its slope by a, the mean of h, for n units. Errors of f below 4 ulp of 1 + |f| + a^2; of the mean
 * below 1e-15 (1 + Delta^2 + a^2) times the mean of |h|. */
void sali_drelu_values(int64_t n, const sali_drelu *units, const double *a, double *f,
                       double *mean);

/* The slopes of f by Delta and by t, with eta = tanh t. */
void sali_drelu_slopes(int64_t n, const sali_drelu *units, const double *a, double *by_delta,
                       double *by_t);

/* Draw n units by uniforms [2 n] in (0, 1): number k decides the side of unit k, and number n + k
 * is the probability of |h| above the one drawn, given the side. */
void sali_drelu_draw(int64_t n, const sali_drelu *units, const double *a, const double *uniforms,
                     double *h);

#endif
