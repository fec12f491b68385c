/* SPDX-License-Identifier: MIT */
/* What the digits of a model's type cost where its f is large, as a warning. */
#ifndef SALI_ROUNDING_H
#define SALI_ROUNDING_H

#include <saltus/model.h>

/* By how much a number of the size of f may be rounded. */
double sali_rounding(sal_dtype dtype, double f);

/* Whether by so much that the logarithms of ratios of probabilities are wrong by .05 or more. */
bool sali_rounding_is_coarse(double rounding);

/* The warning: what is rounded, that `wrong` are wrong by as much, and what helps. */
void sali_rounding_text(sal_dtype dtype, double rounding, const char *wrong, char *text,
                        size_t room);

#endif
