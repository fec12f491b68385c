/* SPDX-License-Identifier: MIT */
#ifndef SALI_DECODE_H
#define SALI_DECODE_H

#include "run/part.h"

/* The number by which runs of a search are compared: the worth of the best decoded state, or of the
 * best state where the model has no rule for decoding; -inf: there is none. The same at all
 * ranks. */
double sali_best_worth(const sal_run *run);

#endif
