/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "samplers/sampler.h"

#define SALI_SAMPLER(name) extern const sali_sampler sali_sampler_##name;
#include "samplers/samplers.def"
#undef SALI_SAMPLER

static const sali_sampler *const samplers[] = {
#define SALI_SAMPLER(name) &sali_sampler_##name,
#include "samplers/samplers.def"
#undef SALI_SAMPLER
    NULL
};

#define N_SAMPLERS ((int64_t)(sizeof samplers / sizeof *samplers) - 1)

const sali_sampler *sali_sampler_at(int64_t index)
{
    return index >= 0 && index < N_SAMPLERS ? samplers[index] : NULL;
}

static bool is_called(const char *name, const char *specification)
{
    size_t length = sali_specification_name(specification);
    return name && strlen(name) == length && strncmp(name, specification, length) == 0;
}

/* The sampler of `list` (ends with NULL; may be NULL) whose name or alias the specification begins
 * with; NULL if there is none. */
static const sali_sampler *find_in(const sali_sampler *const *list, const char *specification)
{
    for (; list && *list; list++) {
        if (is_called((*list)->name, specification) ||
            is_called(sali_engine(*list)->alias, specification)) {
            return *list;
        }
    }
    return NULL;
}

const sali_sampler *sali_sampler_find(const char *specification)
{
    return find_in(samplers, specification);
}

const char *sali_sampler_called(const sali_sampler *sampler, const char *specification)
{
    const char *alias = sali_engine(sampler)->alias;
    return is_called(alias, specification) ? alias : sampler->name;
}

bool sali_sampler_adapts(const sali_sampler *sampler)
{
    return sampler->has_step_size && !sampler->unadjusted;
}

sal_status sali_sampler_check_adapts(const sali_sampler *sampler,
                                     const sali_sampler_settings *settings, sal_error *err)
{
    return sali_sampler_value(sampler, settings, "adapt-step-size") == 0
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "sampler '%s' has an adapt-step-size, so the step size that follows it "
                           "cannot be adapted: give one",
                           sampler->name);
}

static const char *const kind_names[] = {
    "",       "binary variables",    "spin variables", "ordinal variables", "categorical variables",
    "counts", "counts without a cap"
};

/* The bit number of a stretch's kind in the `kinds` of samplers; counts without a cap have their
 * own. */
static int moved_kind(const sali_stretch *s)
{
    return s->states == 0 ? SAL_COUNT + 1 : (int)s->kind;
}

static unsigned kinds_of(const sali_sampler *sampler)
{
    return sampler->kinds ? sampler->kinds : SAL_MOVES_FINITE;
}

/* Whether the setting "radius" asks for a window of levels wider than a step to a neighbour. */
static bool wants_window(const sali_sampler *sampler, const sali_sampler_settings *settings)
{
    return sali_engine(sampler)->window && sali_sampler_value(sampler, settings, "radius") > 1;
}

/* Whether something keeps a sampler from serving a model with these settings; the reason goes to
 * text [room]. */
static bool find_obstacle(const sali_sampler *sampler, const sali_sampler_settings *settings,
                          const sal_model *model, char *text, size_t room)
{
    if (sampler->needs_gradient && !model->has_gradient) {
        snprintf(text, room, "it needs a gradient, and this model gives values only");
        return true;
    }
    for (int64_t b = 0; b < model->space->n_blocks; b++) {
        const sali_stretch *stretch = &model->space->stretches[b];
        int kind = moved_kind(stretch);
        if (!(kinds_of(sampler) & 1u << kind)) {
            snprintf(text, room, "it does not move %s", kind_names[kind]);
            return true;
        }
        if (sali_is_fixed(stretch) && !(kinds_of(sampler) & SAL_MOVES_FIXED)) {
            snprintf(text, room, "it cannot keep the fixed %s of block '%.60s'",
                     model->space->blocks[b].fixed_sum ? "sum" : "labels",
                     model->space->blocks[b].name);
            return true;
        }
        if (stretch->states == 0 && wants_window(sampler, settings)) {
            snprintf(text, room,
                     "a radius above 1 is a window of levels, and counts without a cap move by 1; "
                     "give them a cap, which has one, or take mh-uniform with a radius");
            return true;
        }
    }
    const char *why =
        sampler->obstacle ? sampler->obstacle(model, settings->values, sampler->data) : NULL;
    snprintf(text, room, "%s", why ? why : "");
    return why != NULL;
}

bool sali_sampler_serves(const sali_sampler *sampler, const sal_model *model)
{
    char why[200];
    sali_sampler_settings usual = { 0 };
    return sali_specification_values(sampler->name, sampler->settings, usual.values, NULL) ==
               SAL_OK &&
           !find_obstacle(sampler, &usual, model, why, sizeof why);
}

sal_status sali_sampler_check(const sali_sampler *sampler, const sali_sampler_settings *settings,
                              const sal_model *model, sal_error *err)
{
    char why[200], able[SAL_ERROR_SIZE] = ""; /* a message holds no more */
    if (!find_obstacle(sampler, settings, model, why, sizeof why)) {
        return SAL_OK;
    }
    if (sali_sampler_serves(sampler, model)) { /* it is the settings */
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "sampler '%s' cannot sample %s with these settings: %s", sampler->name,
                         model->name, why);
    }
    for (int64_t k = 0; k < N_SAMPLERS; k++) {
        if (samplers[k] != sampler && sali_sampler_serves(samplers[k], model)) {
            sali_list_name(able, sizeof able, samplers[k]->name);
        }
    }
    return sali_fail(err, SAL_ERR_UNSUPPORTED,
                     "sampler '%s' cannot sample %s: %s; samplers that can: %s", sampler->name,
                     model->name, why, able[0] ? able : "none");
}

sal_status sali_step_size_check(double step_size, sal_dtype dtype, sal_error *err)
{
    double low = dtype == SAL_F32 ? 1e-20 : 1e-150, high = 1 / low;
    return step_size == 0 || (step_size >= low && step_size <= high)
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "step_size is %g; expected a positive number, %g to %g", step_size, low,
                           high);
}

/* ---- from a specification to a sampler and its settings */

/* SAL_ERR_ARGUMENT for a specification that names no sampler: suggests the nearest name, or else
 * lists the names of `own` and of the registry. */
static sal_status unknown_sampler(const sali_sampler *const *own, const char *specification,
                                  sal_error *err)
{
    char names[SAL_ERROR_SIZE] = "", asked[64];
    snprintf(asked, sizeof asked, "%.*s", (int)sali_specification_name(specification),
             specification);
    sal_nearest nearest = sal_nearest_begin(asked);
    for (int64_t k = 0; own && own[k]; k++) {
        sal_nearest_offer(&nearest, own[k]->name);
        sali_list_name(names, sizeof names, own[k]->name);
    }
    const sali_sampler *s;
    for (int64_t k = 0; (s = sali_sampler_at(k)); k++) {
        const char *alias = sali_engine(s)->alias;
        sal_nearest_offer(&nearest, s->name);
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s%s%s", used ? ", " : "", s->name,
                 alias ? " or " : "", alias ? alias : "");
    }
    return sali_fail(err, SAL_ERR_ARGUMENT, "there is no sampler '%s'; %s%s", asked,
                     sal_nearest_hint(&nearest, "there are: "), nearest.name ? "" : names);
}

/* Fill `settings` from the specification and check that the sampler serves the model with them. A
 * step size of 0 becomes the default; any other is refused if the sampler has none. */
static sal_status resolve_settings(const char *specification, const sal_model *model,
                                   double step_size, const sali_sampler *sampler,
                                   sali_sampler_settings *settings, sal_error *err)
{
    bool has_step_size = sampler->has_step_size;
    if (step_size != 0 && !has_step_size) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sampler '%s' has no step size", sampler->name);
    }
    sal_status status = sali_step_size_check(step_size, model->dtype, err);
    status =
        status ? status
               : sali_specification_values(specification, sampler->settings, settings->values, err);
    settings->step_size = step_size > 0 ? step_size : sali_default_step_size(model->space, 0.2);
    return status ? status : sali_sampler_check(sampler, settings, model, err);
}

sal_status sali_sampler_choose_from(const sali_sampler *const *own, const char *specification,
                                    const sal_model *model, double step_size,
                                    const sali_sampler **out, sali_sampler_settings *settings,
                                    sal_error *err)
{
    sal_status status = sali_own_check(own, err);
    if (status != SAL_OK) {
        return status;
    }
    const sali_sampler *sampler = sali_sampler_find(specification);
    sampler = sampler ? sampler : find_in(own, specification);
    if (!sampler) {
        return unknown_sampler(own, specification, err);
    }
    sali_sampler_settings s = { .sampler = sampler };
    status = resolve_settings(specification, model, step_size, sampler, &s, err);
    if (status == SAL_OK) {
        *out = sampler;
        *settings = s;
    }
    return status;
}

sal_status sali_sampler_choose(const char *specification, const sal_model *model, double step_size,
                               const sali_sampler **sampler, sali_sampler_settings *settings,
                               sal_error *err)
{
    return sali_sampler_choose_from(NULL, specification, model, step_size, sampler, settings, err);
}

double sali_sampler_value(const sali_sampler *sampler, const sali_sampler_settings *settings,
                          const char *name)
{
    for (int k = 0; sampler->settings && sampler->settings[k].name; k++) {
        if (strcmp(sampler->settings[k].name, name) == 0) {
            return settings->values[k];
        }
    }
    return 0;
}

unsigned sali_sampler_wants(const sali_sampler *sampler)
{
    return (sampler->needs_gradient ? SALI_WANT_GRADIENT : 0) |
           (sampler->needs_differences ? SALI_WANT_DIFFERENCES : 0);
}

/* Fill the public description *info of a sampler; it points into the sampler's record. */
static void describe_sampler(const sali_sampler *sampler, sal_sampler_info *info)
{
    *info = (sal_sampler_info){
        .name = sampler->name,
        .alias = sali_engine(sampler)->alias,
        .doc = sampler->doc,
        .source = sampler->source,
        .exact = !sampler->unadjusted,
        .needs_gradient = sampler->needs_gradient,
        .has_step_size = sampler->has_step_size,
        .kinds = kinds_of(sampler),
        .settings = sampler->settings,
    };
}

bool sal_sampler_list(int64_t index, sal_sampler_info *info)
{
    const sali_sampler *sampler = sali_sampler_at(index);
    if (sampler) {
        describe_sampler(sampler, info);
    }
    return sampler != NULL;
}

sal_status sal_sampler_find(const char *specification, const sal_model *model, double step_size,
                            sal_sampler_info *info, sal_error *err)
{
    if (!specification) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sampler: the specification is NULL");
    }
    const sali_sampler *sampler = sali_sampler_find(specification);
    sali_sampler_settings settings;
    if (sampler && info) {
        describe_sampler(sampler, info);
    }
    if (sampler && !model) {
        return SAL_OK;
    }
    return sali_sampler_choose(specification, model, step_size, &sampler, &settings, err);
}

double sali_default_step_size(const sal_space *space, double base)
{
    double smallest = 0;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        double spacing = sali_stretch_spacing(s);
        /* |s' - s|^2 of the least move; of one-hot variables, of any */
        double square = s->kind == SAL_CATEGORICAL ? 2 : spacing * spacing;
        smallest = smallest == 0 || square < smallest ? square : smallest;
    }
    return base * smallest;
}
