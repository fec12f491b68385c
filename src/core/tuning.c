/* SPDX-License-Identifier: MIT */
#include "core/tuning.h"

#include <string.h>

struct sal_tuning *sali_tuning_make(const char *sampler, int64_t variables)
{
    struct sal_tuning *tuning = SALI_NEW(struct sal_tuning);
    if (tuning) {
        tuning->variables = variables;
        tuning->sampler = sali_memory_text(&tuning->memory, sampler);
    }
    if (tuning && tuning->memory.refused) {
        sali_tuning_free(tuning);
        return NULL;
    }
    return tuning;
}

bool sali_tuning_add(struct sal_tuning *tuning, const char *name, int64_t n, const double *values)
{
    sali_memory *memory = &tuning->memory;
    sali_tuning_list *lists = SALI_TAKE(memory, sali_tuning_list, tuning->n_lists + 1);
    sali_tuning_list list = { .name = sali_memory_text(memory, name),
                              .n = n,
                              .values = sali_memory_copy(memory, values, n, sizeof *values) };
    if (memory->refused) {
        return false;
    }
    for (int64_t k = 0; k < tuning->n_lists; k++) {
        lists[k] = tuning->lists[k];
    }
    lists[tuning->n_lists++] = list;
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
    if (tuning) {
        sali_memory_free(&tuning->memory);
        sali_free(tuning);
    }
}
