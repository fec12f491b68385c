/* SPDX-License-Identifier: MIT */
/* What the warm-up of a run found, as named lists of numbers. It connects runs and files, neither
 * of which knows the other. */
#ifndef SALI_TUNING_H
#define SALI_TUNING_H

#include "core/saved/run_state.h"

struct sal_tuning {
    char *sampler; /* its specification, all settings spelt out */
    int64_t variables;
    struct sal_run_state lists; /* of doubles */
};

/* A tuning without lists, or NULL when out of memory. */
struct sal_tuning *sali_tuning_make(const char *sampler, int64_t variables);

/* Add a copy of a list; false: out of memory. */
bool sali_tuning_add(struct sal_tuning *tuning, const char *name, int64_t n, const double *values);

/* Names of the lists: a step size for each temperature; the temperatures; the prefix of the names
 * of the sampler's own values. */
#define SALI_TUNED_STEP_SIZE "step_size"
#define SALI_TUNED_TEMPERATURES "temperatures"
#define SALI_TUNED_OWN "sampler."

/* Copy the list with the item's name and count into item->data and check its values. Returns:
 * SAL_ERR_DATA. */
sal_status sali_tuning_take(const struct sal_tuning *tuning, const sali_state_item *item,
                            sal_error *err);

#endif
