/* SPDX-License-Identifier: MIT */
/* Counting through all states of a space, the last variable fastest. States of other sums or labels
 * than the space fixes are none, and are not counted. */
#ifndef SALI_STATES_H
#define SALI_STATES_H

#include "models/model.h"

/* Number of states; INFINITY past double's range and for counts without a cap. The functions below
 * cannot enumerate counts without a cap. */
double sali_states_count(const sal_space *space);

/* A number given by its log10, for messages: "1.26765e+30", and "10^3010" past double's range. */
const char *sali_print_power(double log10, char text[32]);

/* log10 of the number of states; counts without a cap are left out. */
double sali_states_log10(const sal_space *space);

/* Advance `state` [V] to the next state. Returns false after the last state, and the first one
 * follows. */
bool sali_states_next(const sal_space *space, int32_t *state);

/* The state [V] of number `index` in 0 .. count - 1; and the number of a state. */
void sali_states_at(const sal_space *space, int64_t index, int32_t *state);
int64_t sali_states_index(const sal_space *space, const int32_t *state);

/* SAL_ERR_MODEL, showing the state, when f is NaN or +inf at one of n states. */
sal_status sali_states_check(const sal_model *model, int64_t n, const int32_t *codes,
                             const double *f, sal_error *err);

#endif
