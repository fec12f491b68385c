/* SPDX-License-Identifier: MIT */
/* A second implementation of the ops that random tapes have, to test the first against: node by
 * node, element by element, in double, from the formulas of saltus/ad.h. Nothing is shared with
 * src/ad but what a tape is. */
#ifndef SLOW_TAPE_H
#define SLOW_TAPE_H

#include <saltus/model.h>

#include "ad/tape.h"

/* f at one state, x [width] of codes [V], with the parameters of a model made from the tape. */
double slow_value(const sal_tape *tape, sal_expr f, const sal_model *model, const int32_t *codes,
                  const double *x);

/* The largest magnitude of a number that f was computed from: how large rounding may be. */
double slow_largest(void);

#endif
