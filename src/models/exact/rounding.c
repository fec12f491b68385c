/* SPDX-License-Identifier: MIT */
#include "models/exact/rounding.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* A type is reported as too coarse if rounding may change the logarithm of a ratio of probabilities
 * by more than this. */
#define COARSE 0.05

double sali_rounding(sal_dtype dtype, double f)
{
    return fabs(f) * (dtype == SAL_F64 ? DBL_EPSILON : FLT_EPSILON) / 2;
}

bool sali_rounding_is_coarse(double rounding)
{
    return rounding > COARSE;
}

void sali_rounding_text(sal_dtype dtype, double rounding, const char *wrong, char *text,
                        size_t room)
{
    const bool wide = dtype == SAL_F64;
    snprintf(text, room,
             "f is as large as %.2g, and %s precision rounds it by up to %.2g: %s wrong by as "
             "much. %s",
             rounding / sali_rounding(dtype, 1), wide ? "double" : "single", rounding, wrong,
             wide ? "Use smaller weights: there are no more digits."
                  : "Use double precision (--dtype f64).");
}
