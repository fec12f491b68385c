/* SPDX-License-Identifier: MIT */
#ifndef SALI_MOVEMENT_H
#define SALI_MOVEMENT_H

#include "run/part.h"

/* [chains] How far the steps after warm-up moved each chain of a run, over all its replicas: sums
 * of jumps. */
const double *sali_run_moved(const sal_run *run);

/* The acceptance rate, and the mean jump of a step, of the chains at temperature 1 since warm-up;
 * NaN before the first such step. */
void sali_run_rates(const sal_run *run, double *acceptance, double *jump);

#endif
