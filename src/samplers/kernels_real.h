/* SPDX-License-Identifier: MIT */
/* What the kernels of one type share. */
#ifndef SALI_KERNELS_REAL_H
#define SALI_KERNELS_REAL_H

#include "core/real.h"
#include <math.h>

#include "samplers/kernels.h"

/* A log-weight minus the largest one, or -inf if it is negligible: its weight would be a denormal
 * number, which adds nothing to the sum of weights, and with which processors are ten times slower.
 */
static inline real sali_below_largest(real log_weight, real largest)
{
    const real negligible = SALI_REAL_BITS == 32 ? -87 : -708;
    real below = log_weight - largest;
    return below < negligible ? -(real)INFINITY : below;
}

#endif
