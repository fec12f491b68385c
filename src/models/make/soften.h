/* SPDX-License-Identifier: MIT */
/* Models in which forbidden states have a price instead. */
#ifndef SALI_SOFTEN_H
#define SALI_SOFTEN_H

#include "models/model.h"

/* A copy of `of`, clamped alike, whose f is finite where a table entry of -inf or a hard limit
 * (sal_at_most) forbids a state: each such entry counts as the least finite entry of its tables
 * less `price`, and each unit above a limit costs `price`. Elsewhere f is the same. *out is NULL if
 * nothing of the kind is known of `of`, with the present values of its parameters. Returns:
 * SAL_ERR_MEMORY. Cost: as making a model. */
sal_status sali_soften(const sal_model *of, double price, sal_model **out, sal_error *err);

#endif
