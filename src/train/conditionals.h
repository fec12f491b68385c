/* Conditionals p(s_i = v | s_-i) of rows of states. */
#ifndef SALI_CONDITIONALS_H
#define SALI_CONDITIONALS_H

#include "core/space.h"

/* Turn the differences f(s_i = v) - f(s) of one state, all entries of all variables
 * (sali_spread_slots; differences -inf or finite), into p(s_i = v | s_-i) in place. Returns
 * sum_i log p(s_i | s_-i). */
double sali_conditionals(const sal_space *space, double *entries);

/* By how much the conditional means differ from the state: delta [N], in the embedding. */
void sali_conditional_shift(const sal_space *space, const int32_t *codes, const double *p,
                            double *delta);

#endif
