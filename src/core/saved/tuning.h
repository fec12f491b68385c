/* SPDX-License-Identifier: MIT */
/* What a run's warm-up found, as named lists of numbers: between runs and files, which know nothing
 * of each other. */
#ifndef SALI_TUNING_H
#define SALI_TUNING_H

#include "core/saved/run_state.h"

struct sal_tuning {
    char *sampler; /* its specification, all settings spelt out */
    int64_t variables;
    struct sal_run_state lists; /* of doubles */
};

/* One without lists, or NULL when out of memory. */
struct sal_tuning *sali_tuning_make(const char *sampler, int64_t variables);

/* Add a copy of a list; false: out of memory. */
bool sali_tuning_add(struct sal_tuning *tuning, const char *name, int64_t n, const double *values);

/* The names of its lists: of a step size for each temperature, of the temperatures, and what comes
 * before the names of the sampler's own values. */
#define SALI_TUNED_STEP_SIZE "step_size"
#define SALI_TUNED_TEMPERATURES "temperatures"
#define SALI_TUNED_OWN "sampler."

/* The list of an item's name and count, into its data, checked. Returns: SAL_ERR_DATA. */
sal_status sali_tuning_take(const struct sal_tuning *tuning, const sali_state_item *item,
                            sal_error *err);

#endif
