/* SPDX-License-Identifier: MIT */
/* The same distribution, or the same states, as content of another kind. */
#ifndef SALI_CONVERSION_H
#define SALI_CONVERSION_H

#include "models/content.h"

/* Whether content of kind `from` can be converted to kind `to`. */
bool sali_content_converts(sali_content_kind from, sali_content_kind to);

/* Convert `from` to content of kind `to`. A network becomes an energy -log p of binary
 * variables, with x = 0 for the first state; its variables must have two states, its factors at
 * most two variables, and no state may be impossible. An energy becomes a Markov network with
 * the states -1, 1 or 0, 1, in this order. log p is preserved up to a constant, which energies
 * lack. Names are kept. An array of codes becomes an alignment (models/sequences.h).
 * Returns: ARGUMENT for content that is not of that form; MEMORY. On failure *out is untouched. */
sal_status sali_content_convert(const sali_content *from, sali_content_kind to, sali_content *out,
                                sal_error *err);

#endif
