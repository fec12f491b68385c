/* SPDX-License-Identifier: MIT */
/* From a specification "name:key=value,..." to a sampler and its settings, whether the name is in
 * the registry or the caller's own. */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/suggest.h"
#include "core/text.h"
#include "samplers/own/own.h"

static sal_status unknown_sampler(const sal_sampler_descriptor *const *own,
                                  const char *specification, sal_error *err)
{
    char names[SAL_ERROR_SIZE] = "", asked[64];
    snprintf(asked, sizeof asked, "%.*s", (int)sali_specification_name(specification),
             specification);
    sali_nearest nearest = sali_nearest_begin(asked);
    for (int64_t k = 0; own && own[k]; k++) {
        sali_nearest_offer(&nearest, own[k]->name);
        sali_list_name(names, sizeof names, own[k]->name);
    }
    const sali_sampler *s;
    for (int64_t k = 0; (s = sali_sampler_at(k)); k++) {
        sali_nearest_offer(&nearest, s->name);
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s%s%s", used ? ", " : "", s->name,
                 s->alias ? " or " : "", s->alias ? s->alias : "");
    }
    return nearest.name
               ? sali_fail(err, SAL_ERR_ARGUMENT, "there is no sampler '%s'; did you mean '%s'?",
                           asked, nearest.name)
               : sali_fail(err, SAL_ERR_ARGUMENT, "there is no sampler '%s'; there are: %s", asked,
                           names);
}

/* A record of the name: one of the registry, or a new one of the caller's own. */
static sal_status find_from(const sal_sampler_descriptor *const *own, const char *specification,
                            const sali_sampler **sampler, const sal_sampler_descriptor **descriptor,
                            sal_error *err)
{
    sal_status status = sali_own_check(own, err);
    if (status != SAL_OK) {
        return status;
    }
    *sampler = sali_sampler_find(specification);
    *descriptor = *sampler ? NULL : sali_own_find(own, specification);
    if (!*sampler && !*descriptor) {
        return unknown_sampler(own, specification, err);
    }
    if (*descriptor && !(*sampler = sali_own_record(*descriptor))) {
        return sali_fail_memory(err);
    }
    return SAL_OK;
}

void sali_sampler_release(const sali_sampler *sampler)
{
    for (int64_t k = 0; sali_sampler_at(k); k++) {
        if (sampler == sali_sampler_at(k)) {
            return;
        }
    }
    sali_free((void *)(uintptr_t)sampler);
}

static sal_status resolve_settings(const char *specification, const sal_model *model,
                                   double step_size, const sali_sampler *sampler,
                                   sali_sampler_settings *settings, sal_error *err)
{
    bool has_step_size = sampler->flags & SALI_SAMPLER_STEP_SIZE;
    if (step_size != 0 && !has_step_size) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sampler '%s' has no step size", sampler->name);
    }
    sal_status status = sali_step_size_check(step_size, model->dtype, err);
    status = status ? status
                    : sali_specification_values(specification, sampler->parameters,
                                                settings->values, err);
    settings->step_size = step_size > 0 ? step_size : sali_default_step_size(model->space, 0.2);
    return status ? status : sali_sampler_check(sampler, settings, model, err);
}

sal_status sali_sampler_choose_from(const sal_sampler_descriptor *const *own,
                                    const char *specification, const sal_model *model,
                                    double step_size, const sali_sampler **out,
                                    sali_sampler_settings *settings, sal_error *err)
{
    const sali_sampler *sampler;
    sali_sampler_settings s = { 0 };
    sal_status status = find_from(own, specification, &sampler, &s.own, err);
    if (status != SAL_OK) {
        return status;
    }
    status = resolve_settings(specification, model, step_size, sampler, &s, err);
    if (status != SAL_OK) {
        sali_sampler_release(sampler);
        return status;
    }
    *out = sampler;
    *settings = s;
    return SAL_OK;
}

sal_status sali_sampler_choose(const char *specification, const sal_model *model, double step_size,
                               const sali_sampler **sampler, sali_sampler_settings *settings,
                               sal_error *err)
{
    return sali_sampler_choose_from(NULL, specification, model, step_size, sampler, settings, err);
}
