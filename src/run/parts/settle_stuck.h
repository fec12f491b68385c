/* SPDX-License-Identifier: MIT */
/* The walk of chains that stand still down to the typical set, early in a warm-up that adapts step
 * sizes. Where f is steep, or slopes are far from what single changes do, a random start is
 * rejected at any step size that moves it; step sizes then shrink for a place that draws never come
 * from. */
#ifndef SALI_WALK_H
#define SALI_WALK_H

#include "run/run.h"

/* After a window of warm-up of so many steps, before its sums are cleared: when more than an eighth
 * of warm-up is over, and at its start a quarter was not, each chain that has not moved in it makes
 * a Gibbs sweep at its temperature. *walked: some did, and the sampler is to be refreshed.
 *
 * Cost: where a step of the Gibbs sampler needs evaluations, at most 8 steps for each of the
 * window's, and all walks about as many as warm-up has; later walks go on with other variables.
 * Returns: SAL_ERR_MODEL (NaN or +inf), SAL_ERR_MEMORY. */
sal_status sali_walk(sal_run *run, int64_t window, bool *walked, sal_error *err);

#endif
