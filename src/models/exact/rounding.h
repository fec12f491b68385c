/* SPDX-License-Identifier: MIT */
/* Rounding errors of f in the model's type, and a warning if they are large. */
#ifndef SALI_ROUNDING_H
#define SALI_ROUNDING_H

#include <saltus/model.h>

/* Largest rounding error of a number of the size of f. */
double sali_rounding(sal_dtype dtype, double f);

/* Whether a rounding error of f makes logarithms of ratios of probabilities wrong by more than
 * 0.05. */
bool sali_rounding_is_coarse(double rounding);

/* Write the warning into text [room]: how far f is rounded, that `wrong` (such as "log Z is") wrong
 * by as much, and what helps. */
void sali_rounding_text(sal_dtype dtype, double rounding, const char *wrong, char *text,
                        size_t room);

#endif
