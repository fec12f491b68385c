/* SPDX-License-Identifier: MIT */
#include "core/saved/tuning.h"

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
        sal_tuning_destroy(tuning);
        return NULL;
    }
    return tuning;
}

bool sali_tuning_add(struct sal_tuning *tuning, const char *name, int64_t n, const double *values)
{
    const sali_state_item list = sali_state_f64(name, n, (double *)values);
    return sali_run_state_put(&tuning->lists, &list);
}

void sal_tuning_destroy(sal_tuning *tuning)
{
    if (tuning) {
        sali_run_state_clear(&tuning->lists);
        sali_free(tuning->sampler);
        sali_free(tuning);
    }
}
