/* SPDX-License-Identifier: MIT */
#include "core/saved/tuning.h"

#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"

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

/* A tuning stores doubles without ranges: the ranges are those in `item`. */
sal_status sali_tuning_take(const sal_tuning *tuning, const sali_state_item *item, sal_error *err)
{
    sali_run_state_reader reader = { .state = &tuning->lists, .prefix = "" };
    const sali_state_item *list = sali_run_state_find(&tuning->lists, item->name);
    if (!list || list->count != item->count) {
        return sali_fail(err, SAL_ERR_DATA, "the tuning needs a list '%s' of %lld numbers",
                         item->name, (long long)item->count);
    }
    return sali_run_state_fill(&reader, 1, item, err)
               ? sali_fail_prefix(err, SAL_ERR_DATA, "the tuning")
               : SAL_OK;
}

sal_status sal_tuning_values(const sal_tuning *tuning, const char *name, const double **values,
                             int64_t *n, sal_error *err)
{
    const sali_state_item *list = sali_run_state_find(&tuning->lists, name);
    if (!list) {
        char names[SAL_ERROR_SIZE] = "";
        for (int64_t k = 0; k < tuning->lists.n; k++) {
            sali_list_name(names, sizeof names, tuning->lists.items[k].name);
        }
        return sali_fail(err, SAL_ERR_NOT_FOUND, "the tuning of %s has no '%.100s'; it has: %s",
                         tuning->sampler, name, names[0] ? names : "nothing");
    }
    if (values) {
        *values = list->data;
    }
    if (n) {
        *n = list->count;
    }
    return SAL_OK;
}
