/* SPDX-License-Identifier: MIT */
/* The total variation distance between distributions over the same n states. */
#ifndef SALI_VARIATION_H
#define SALI_VARIATION_H

#include <stdint.h>

/* Half of sum_i |p_i - q_i|. */
double sali_total_variation(int64_t n, const double *p, const double *q);

/* The expected total variation distance between p and the shares of `draws` >= 1 independent draws
 * from p. */
double sali_total_variation_noise(int64_t n, const double *p, int64_t draws);

#endif
