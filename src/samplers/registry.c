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
};

#define N_SAMPLERS ((int64_t)(sizeof samplers / sizeof *samplers))

const sali_sampler *sali_sampler_at(int64_t index)
{
    return index >= 0 && index < N_SAMPLERS ? samplers[index] : NULL;
}

static bool is_called(const char *name, const char *specification)
{
    size_t length = sali_specification_name(specification);
    return name && strlen(name) == length && strncmp(name, specification, length) == 0;
}

const sali_sampler *sali_sampler_find(const char *specification)
{
    for (int64_t k = 0; k < N_SAMPLERS; k++) {
        if (is_called(samplers[k]->name, specification) ||
            is_called(samplers[k]->alias, specification)) {
            return samplers[k];
        }
    }
    return NULL;
}

const char *sali_sampler_called(const sali_sampler *sampler, const char *specification)
{
    return is_called(sampler->alias, specification) ? sampler->alias : sampler->name;
}

bool sali_sampler_adapts(const sali_sampler *sampler)
{
    return (sampler->flags & SALI_SAMPLER_STEP_SIZE) && (sampler->flags & SALI_SAMPLER_EXACT);
}

static const char *const kind_names[] = {
    "",       "binary variables",    "spin variables", "ordinal variables", "categorical variables",
    "counts", "counts without a cap"
};

/* The kind by which samplers tell what they move. */
static int moved_kind(const sali_stretch *s)
{
    return s->states == 0 ? SALI_UNBOUNDED_COUNT : (int)s->kind;
}

/* Whether the setting "radius" asks for a window of levels wider than a step to a neighbour. */
static bool wants_window(const sali_sampler *sampler, const sali_sampler_settings *settings)
{
    for (int k = 0; (sampler->flags & SALI_SAMPLER_WINDOW) && sampler->parameters[k].name; k++) {
        if (strcmp(sampler->parameters[k].name, "radius") == 0) {
            return settings->values[k] > 1;
        }
    }
    return false;
}

/* Why a sampler cannot serve a model, into text; false if it can. */
static bool obstacle(const sali_sampler *sampler, const sali_sampler_settings *settings,
                     const sal_model *model, char *text, size_t room)
{
    if ((sampler->flags & SALI_SAMPLER_GRADIENT) && !model->has_gradient) {
        snprintf(text, room, "it needs a gradient, and this model gives values only");
        return true;
    }
    for (int64_t b = 0; b < model->space->n_blocks; b++) {
        int kind = moved_kind(&model->space->stretches[b]);
        if (!(sampler->kinds & 1u << kind)) {
            snprintf(text, room, "it does not move %s", kind_names[kind]);
            return true;
        }
        if (kind == SALI_UNBOUNDED_COUNT && wants_window(sampler, settings)) {
            snprintf(text, room,
                     "a radius above 1 is a window of levels, and counts without a cap move by 1; "
                     "give them a cap, which has one, or take mh-uniform with a radius");
            return true;
        }
    }
    const char *why = sampler->obstacle ? sampler->obstacle(model, settings) : NULL;
    snprintf(text, room, "%s", why ? why : "");
    return why != NULL;
}

bool sali_sampler_serves(const sali_sampler *sampler, const sal_model *model)
{
    char why[200];
    sali_sampler_settings usual = { 0 };
    return sali_specification_values(sampler->name, sampler->parameters, usual.values, NULL) ==
               SAL_OK &&
           !obstacle(sampler, &usual, model, why, sizeof why);
}

sal_status sali_sampler_check(const sali_sampler *sampler, const sali_sampler_settings *settings,
                              const sal_model *model, sal_error *err)
{
    char why[200], able[SAL_ERROR_SIZE] = ""; /* a message holds no more */
    if (!obstacle(sampler, settings, model, why, sizeof why)) {
        return SAL_OK;
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

double sali_sampler_value(const sali_sampler *sampler, const sali_sampler_settings *settings,
                          const char *name)
{
    for (int k = 0; sampler->parameters && sampler->parameters[k].name; k++) {
        if (strcmp(sampler->parameters[k].name, name) == 0) {
            return settings->values[k];
        }
    }
    return 0;
}

unsigned sali_sampler_wants(const sali_sampler *sampler)
{
    return (sampler->flags & SALI_SAMPLER_GRADIENT ? SALI_WANT_GRADIENT : 0) |
           (sampler->flags & SALI_SAMPLER_DIFFERENCES ? SALI_WANT_DIFFERENCES : 0);
}

/* "binary spin .."; counts are "capped-count" if they need a cap. */
static void list_kinds(unsigned kinds, char *text, size_t room)
{
    static const char *const words[] = { "",        "binary",      "spin",
                                         "ordinal", "categorical", "capped-count" };
    for (int kind = SAL_BINARY; kind <= SAL_COUNT; kind++) {
        size_t used = strlen(text);
        bool any = kind == SAL_COUNT && (kinds & 1u << SALI_UNBOUNDED_COUNT);
        if (kinds & 1u << kind) {
            snprintf(text + used, room - used, "%s%s", used ? " " : "",
                     any ? "count" : words[kind]);
        }
    }
}

static void describe(const sali_sampler *sampler, sal_sampler_info *info)
{
    *info = (sal_sampler_info){
        .name = sampler->name,
        .alias = sampler->alias,
        .doc = sampler->doc,
        .source = sampler->source,
        .exact = (sampler->flags & SALI_SAMPLER_EXACT) != 0,
        .needs_gradient = (sampler->flags & SALI_SAMPLER_GRADIENT) != 0,
        .has_step_size = (sampler->flags & SALI_SAMPLER_STEP_SIZE) != 0,
    };
    sali_specification_keys(sampler->parameters, info->parameters, sizeof info->parameters);
    list_kinds(sampler->kinds, info->kinds, sizeof info->kinds);
}

bool sal_sampler_list(int64_t index, sal_sampler_info *info)
{
    const sali_sampler *sampler = sali_sampler_at(index);
    if (sampler) {
        describe(sampler, info);
    }
    return sampler != NULL;
}

sal_status sal_sampler_find(const char *specification, const sal_model *model, double step_size,
                            sal_sampler_info *info, sal_error *err)
{
    const sali_sampler *sampler = sali_sampler_find(specification);
    sali_sampler_settings settings;
    if (sampler && info) {
        describe(sampler, info);
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
