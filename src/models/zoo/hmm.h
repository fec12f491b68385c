/* SPDX-License-Identifier: MIT */
/* The numbers of a hidden Markov model with Gaussian emissions, which are the data of its
 * statistic. */
#ifndef SALI_HMM_H
#define SALI_HMM_H

#include <stdint.h>

/* z_1 is uniform; z_t equals z_(t-1) with probability p and is any other state with probability
 * (1 - p) / (states - 1); y_t ~ N(mean of z_t, sigma^2). */
typedef struct sali_hmm {
    int64_t length, states;
    double sigma, p;
    double *means; /* [states] */
    double *y;     /* [length] */
} sali_hmm;

#endif
