/* SPDX-License-Identifier: MIT */
#include "core/tuning.h"

#include <string.h>

#include "core/alloc.h"

struct sal_tuning *sali_tuning_make(const char *sampler, int64_t variables)
{
    struct sal_tuning *tuning = SALI_NEW(struct sal_tuning);
    if (!tuning) {
        return NULL;
    }
    tuning->variables = variables;
    tuning->sampler = sali_strdup(sampler);
    if (!tuning->sampler) {
        sali_tuning_free(tuning);
        return NULL;
    }
    return tuning;
}

bool sali_tuning_add(struct sal_tuning *tuning, const char *name, int64_t n, const double *values)
{
    sali_tuning_list *lists = SALI_NEW_ARRAY(sali_tuning_list, tuning->n_lists + 1);
    sali_tuning_list list = { .name = sali_strdup(name),
                              .n = n,
                              .values = sali_memdup(values, n, sizeof *values) };
    if (!lists || !list.name || !list.values) {
        sali_free(lists);
        sali_free(list.name);
        sali_free(list.values);
        return false;
    }
    for (int64_t k = 0; k < tuning->n_lists; k++) {
        lists[k] = tuning->lists[k];
    }
    lists[tuning->n_lists++] = list;
    sali_free(tuning->lists);
    tuning->lists = lists;
    return true;
}

const sali_tuning_list *sali_tuning_find(const struct sal_tuning *tuning, const char *name)
{
    for (int64_t k = 0; k < tuning->n_lists; k++) {
        if (strcmp(tuning->lists[k].name, name) == 0) {
            return &tuning->lists[k];
        }
    }
    return NULL;
}

void sali_tuning_free(struct sal_tuning *tuning)
{
    if (!tuning) {
        return;
    }
    for (int64_t k = 0; k < tuning->n_lists; k++) {
        sali_free(tuning->lists[k].name);
        sali_free(tuning->lists[k].values);
    }
    sali_free(tuning->lists);
    sali_free(tuning->sampler);
    sali_free(tuning);
}
