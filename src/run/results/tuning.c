/* SPDX-License-Identifier: MIT */
/* What warm-up found, out of a run and into another one. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <saltus/sample.h>
#include "core/error.h"
#include "core/number.h"
#include "core/specification.h"
#include "core/text.h"
#include "core/saved/tuning.h"
#include "run/run.h"

#define STEP_SIZE "step_size"
#define TEMPERATURES "temperatures"
/* Before the names of the sampler's own values. */
#define OWN "sampler."

/* The sampler with its settings; those at their standard values only if `all`. */
static void write_sampler(const sal_run *run, bool all, char text[SALI_SAMPLER_TEXT])
{
    const sali_sampler *sampler = run->inner ? run->inner : run->sampler;
    const sali_sampler_settings *settings = run->inner ? &run->inner_settings : &run->settings;
    const sal_setting *p = sampler->settings;
    char separator = ':';
    snprintf(text, SALI_SAMPLER_TEXT, "%s", all ? sampler->name : run->options.sampler);
    for (int k = 0; p && p[k].name; k++) {
        size_t used = strlen(text), room = SALI_SAMPLER_TEXT - used;
        double value = settings->values[k];
        if (!all && value == p[k].standard) {
            continue;
        }
        const char *word = sal_setting_word(&p[k], value);
        char number[SALI_NUMBER_SIZE] = "";
        sali_format_double(value, number);
        snprintf(text + used, room, "%c%s=%s", separator, p[k].name, word ? word : number);
        separator = ',';
    }
}

void sali_run_sampler_text(const sal_run *run, char text[SALI_SAMPLER_TEXT])
{
    write_sampler(run, true, text);
}

static int64_t own_values(const sal_run *run, sali_state_item items[SALI_MOST_STATE])
{
    return sali_sampler_items(run->sampler, run->shared, NULL, SALI_STATE_TUNED, items);
}

void sali_run_print_sampler(const sal_run *run, FILE *stream)
{
    char text[SALI_SAMPLER_TEXT];
    sali_state_item items[SALI_MOST_STATE];
    write_sampler(run, false, text);
    fputs(text, stream);
    if (run->sampler->has_step_size) {
        fprintf(stream, ", step size %.3g", run->step_sizes.value[0]);
    }
    for (int64_t k = 0, n = run->sampling ? own_values(run, items) : 0; k < n; k++) {
        if (items[k].count == 1) {
            fprintf(stream, ", %s %.3g", items[k].name, *(const double *)items[k].data);
        }
    }
}

static void own_name(const sali_state_item *item, char name[128])
{
    snprintf(name, 128, OWN "%s", item->name);
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
        ok = sali_tuning_add(tuning, STEP_SIZE, run->ladder.n, run->step_sizes.value);
    }
    for (int64_t r = 0; r < run->ladder.n; r++) {
        temperatures[r] = 1 / run->ladder.beta[r];
    }
    if (ok && run->ladder.n > 1) {
        ok = sali_tuning_add(tuning, TEMPERATURES, run->ladder.n, temperatures);
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

/* ---- into a run */

/* Whether a specification means the sampler of the run. Settings that it does not name, as those
 * that were not there yet when it was written, have their defaults. */
static bool means_sampler(const sal_run *run, const char *specification)
{
    const sali_sampler *sampler = run->inner ? run->inner : run->sampler;
    const sali_sampler_settings *settings = run->inner ? &run->inner_settings : &run->settings;
    const size_t length = sali_specification_name(specification);
    double values[SAL_SETTINGS] = { 0 };
    bool same = strlen(sampler->name) == length &&
                strncmp(sampler->name, specification, length) == 0 &&
                sali_specification_values(specification, sampler->settings, values, NULL) == SAL_OK;
    for (int k = 0; same && sampler->settings && sampler->settings[k].name; k++) {
        same = values[k] == settings->values[k];
    }
    return same;
}

static sal_status check_owner(const sal_run *run, const sal_tuning *tuning, sal_error *err)
{
    if (!means_sampler(run, tuning->sampler)) {
        char text[SALI_SAMPLER_TEXT];
        sali_run_sampler_text(run, text);
        return sali_fail(err, SAL_ERR_DATA, "the tuning is of sampler '%.200s', not '%s'",
                         tuning->sampler, text);
    }
    if (tuning->variables != run->model->space->n_variables) {
        return sali_fail(err, SAL_ERR_DATA,
                         "the tuning is of a model with %lld free variables, not %lld",
                         (long long)tuning->variables, (long long)run->model->space->n_variables);
    }
    return SAL_OK;
}

/* Options that the tuning already decides. */
static sal_status check_conflicts(const sal_run_options *o, int64_t replicas, sal_error *err)
{
    const char *what = o->step_size != 0           ? "step_size"
                       : o->step_size_rule         ? "step_size_rule"
                       : o->tempering.temperatures ? "temperatures"
                                                   : NULL;
    if (what) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "both %s and tuning are given", what);
    }
    if (o->tempering.replicas > 0 && o->tempering.replicas != replicas) {
        return sali_fail(err, SAL_ERR_DATA, "the tuning has %lld temperatures, not %lld",
                         (long long)replicas, (long long)o->tempering.replicas);
    }
    if (o->annealing.on && replicas > 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "a run either anneals or has replicas, and the tuning has them");
    }
    return SAL_OK;
}

/* The list of an item's name and count, into its data. */
static sal_status take_list(const sal_tuning *tuning, const sali_state_item *item, sal_error *err)
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

static sal_status take_temperatures(sal_run *run, const sal_tuning *tuning, sal_error *err)
{
    const sali_state_item *list = sali_run_state_find(&tuning->lists, TEMPERATURES);
    int64_t replicas = list ? list->count : 1;
    sal_status status = check_conflicts(&run->options, replicas, err);
    if (status == SAL_OK && list && (list->count < 2 || list->count > SALI_MOST_REPLICAS)) {
        return sali_fail(err, SAL_ERR_DATA, "the tuning has %lld temperatures; expected 2 to %d",
                         (long long)list->count, SALI_MOST_REPLICAS);
    }
    if (status == SAL_OK && list &&
        sali_ladder_check(list->count, list->data, TEMPERATURES, err) != SAL_OK) {
        return sali_fail_prefix(err, SAL_ERR_DATA, "the tuning");
    }
    if (status == SAL_OK && replicas > (INT64_C(1) << 31) / run->options.chains) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "chains times temperatures is more than 2^31");
    }
    return status ? status
                  : sali_ladder_create(&run->ladder, &run->memory, replicas,
                                       list ? list->data : NULL, err);
}

static sal_status take_step_sizes(sal_run *run, const sal_tuning *tuning, sal_error *err)
{
    const int64_t n = run->sampler->has_step_size ? run->ladder.n : 0;
    double given[SALI_MOST_REPLICAS];
    const sali_state_item item = sali_state_f64(STEP_SIZE, n, given);
    sal_status status = n > 0 ? take_list(tuning, &item, err) : SAL_OK;
    for (int64_t r = 0; status == SAL_OK && r < n; r++) {
        status = given[r] == 0 ? sali_fail(err, SAL_ERR_DATA, "step_size is 0")
                               : sali_step_size_check(given[r], run->model->dtype, err);
        status = status ? sali_fail_prefix(err, SAL_ERR_DATA, "the tuning") : SAL_OK;
    }
    return status ? status
                  : sali_step_sizes_create(&run->step_sizes, &run->memory, run->model->space,
                                           run->ladder.n, SAL_STEP_SIZE_USUAL,
                                           run->settings.step_size, n > 0 ? given : NULL, err);
}

static sal_status take_own(sal_run *run, const sal_tuning *tuning, sal_error *err)
{
    sali_state_item items[SALI_MOST_STATE];
    int64_t n = own_values(run, items);
    sal_status status = SAL_OK;
    for (int64_t k = 0; status == SAL_OK && k < n; k++) {
        char name[128];
        own_name(&items[k], name);
        items[k].name = name;
        status = take_list(tuning, &items[k], err);
    }
    if (status == SAL_OK && n > 0 && sali_engine(run->sampler)->changed) {
        status = sali_engine(run->sampler)->changed(run->shared, NULL, err);
        status = status == SAL_ERR_DATA ? sali_fail_prefix(err, status, "the tuning") : status;
    }
    return status;
}

sal_status sali_run_tune(sal_run *run, sal_error *err)
{
    const sal_tuning *tuning = run->options.tuning;
    sal_status status = check_owner(run, tuning, err);
    status = status ? status : take_temperatures(run, tuning, err);
    status = status ? status : take_step_sizes(run, tuning, err);
    return status ? status : take_own(run, tuning, err);
}
