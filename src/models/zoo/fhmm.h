/* SPDX-License-Identifier: MIT */
/* The numbers of a factorial hidden Markov model, which are the data of its statistic. */
#ifndef SALI_FHMM_H
#define SALI_FHMM_H

#include <stdint.h>

/* x_1k is 1 with probability v; x_tk equals x_(t-1)k with probability p;
 * y_t ~ N(sum_k W_k x_tk + W_0, sigma^2). State x [length x factors], a factor varies fastest. */
typedef struct sali_fhmm {
    int64_t length, factors;
    double sigma, p, v, W_0;
    double *W; /* [factors] */
    double *y; /* [length] */
} sali_fhmm;

#endif
