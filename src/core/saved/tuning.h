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

#endif
