/* SPDX-License-Identifier: MIT */
/* What warm-up found, taken out of a run. */
#include <stdio.h>

#include <saltus/sample.h>
#include "core/error.h"
#include "core/text.h"
#include "core/saved/tuning.h"
#include "run/parts/step_size.h"
#include "run/parts/tempering.h"
#include "run/results/results.h"

/* List the values of the sampler itself that warm-up tunes. Returns how many. */
static int64_t own_values(const sal_run *run, sali_state_item items[SALI_MOST_STATE])
{
    return sali_sampler_items(run->sampler, run->shared, NULL, SALI_STATE_TUNED, items);
}

void sali_run_print_sampler(const sal_run *run, FILE *stream)
{
    char text[SALI_SAMPLER_TEXT];
    sali_state_item items[SALI_MOST_STATE];
    sali_run_write_sampler(run, false, text);
    fputs(text, stream);
    if (run->sampler->has_step_size) {
        fprintf(stream, ", step size %.3g", sali_run_step_sizes(run)->value[0]);
    }
    for (int64_t k = 0, n = run->sampling ? own_values(run, items) : 0; k < n; k++) {
        if (items[k].count == 1) {
            fprintf(stream, ", %s %.3g", items[k].name, *(const double *)items[k].data);
        }
    }
}

/* The name of such a value in a tuning. */
static void own_name(const sali_state_item *item, char name[128])
{
    snprintf(name, 128, SALI_TUNED_OWN "%s", item->name);
}

sal_status sal_run_tuning(const sal_run *run, sal_tuning **out, sal_error *err)
{
    char text[SALI_SAMPLER_TEXT];
    double temperatures[SALI_MOST_REPLICAS];
    sali_state_item items[SALI_MOST_STATE];
    if (!run->sampling) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the run was stopped in its warm-up, which found nothing to be kept");
    }
    sali_run_sampler_text(run, text);
    sal_tuning *tuning = sali_tuning_make(text, run->model->space->n_variables);
    bool ok = tuning != NULL;
    if (ok && run->sampler->has_step_size) {
        ok = sali_tuning_add(tuning, SALI_TUNED_STEP_SIZE, run->replicas,
                             sali_run_step_sizes(run)->value);
    }
    for (int64_t r = 0; r < run->replicas; r++) {
        temperatures[r] = 1 / sali_run_ladder(run)->beta[r];
    }
    if (ok && run->replicas > 1) {
        ok = sali_tuning_add(tuning, SALI_TUNED_TEMPERATURES, run->replicas, temperatures);
    }
    for (int64_t k = 0, n = own_values(run, items); ok && k < n; k++) {
        char name[128];
        own_name(&items[k], name);
        ok = sali_tuning_add(tuning, name, items[k].count, items[k].data);
    }
    if (!ok) {
        sal_tuning_destroy(tuning);
        return sali_fail_memory(err);
    }
    *out = tuning;
    return SAL_OK;
}
