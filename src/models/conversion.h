/* SPDX-License-Identifier: MIT */
/* The same distribution, or the same states, as content of another kind. */
#ifndef SALI_CONVERSION_H
#define SALI_CONVERSION_H

#include "models/content.h"

/* Are there conversions between these kinds? */
bool sali_content_converts(sali_content_kind from, sali_content_kind to);

/* Convert: a network whose variables have two states, factors of two variables at most, and no
 * impossible state, is an energy of binary variables, x = 0 for the first state; an energy is a
 * Markov network, of states -1, 1 or 0, 1 in this order. log p stays the same up to a constant:
 * energies have none. Names are kept. An array of codes is an alignment (models/sequences.h).
 * Returns: ARGUMENT for what is not of that form; MEMORY. On failure *out is untouched. */
sal_status sali_content_convert(const sali_content *from, sali_content_kind to, sali_content *out,
                                sal_error *err);

#endif
