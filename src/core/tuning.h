/* SPDX-License-Identifier: MIT */
/* What a run's warm-up found, as named lists of numbers: between runs and files, which know nothing
 * of each other. */
#ifndef SALI_TUNING_H
#define SALI_TUNING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory.h"

typedef struct sali_tuning_list {
    char *name;
    int64_t n;
    double *values;
} sali_tuning_list;

struct sal_tuning {
    sali_memory memory; /* of all below */
    char *sampler;      /* its specification, all settings spelt out */
    int64_t variables;
    int64_t n_lists;
    sali_tuning_list *lists;
};

/* One without lists, or NULL when out of memory. */
struct sal_tuning *sali_tuning_make(const char *sampler, int64_t variables);

/* Add a copy of a list; false: out of memory. */
bool sali_tuning_add(struct sal_tuning *tuning, const char *name, int64_t n, const double *values);

/* The list of a name, or NULL. */
const sali_tuning_list *sali_tuning_find(const struct sal_tuning *tuning, const char *name);

void sali_tuning_free(struct sal_tuning *tuning);

#endif
