/* SPDX-License-Identifier: MIT */
/* Effective sample sizes. */
#ifndef SALI_ESS_H
#define SALI_ESS_H

#include <stdint.h>

#include "stats/autocovariance.h"

/* The multi-chain ESS of x [chains x draws] as it is, without splitting; draws = a->n. NaN when
 * sali_degenerate or with fewer than 3 draws. */
double sali_ess(sali_autocovariance *a, int64_t chains, const double *x);

/* TensorFlow Probability's ESS of one chain x [a->n]; see sal_stats_ess_tfp. */
double sali_ess_tfp(sali_autocovariance *a, const double *x);

#endif
