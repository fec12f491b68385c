#include <stdio.h>
#include <string.h>

#include "core/error.h"
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

const sali_sampler *sali_sampler_find(const char *name)
{
    for (int64_t k = 0; k < N_SAMPLERS; k++) {
        if (strcmp(samplers[k]->name, name) == 0) {
            return samplers[k];
        }
    }
    return NULL;
}

static const char *const kind_names[] = { "", "binary", "spin", "ordinal", "categorical" };

/* Why a sampler cannot serve a model, into text; false if it can. */
static bool obstacle(const sali_sampler *sampler, const sal_model *model, char *text, size_t room)
{
    if ((sampler->flags & SALI_SAMPLER_GRADIENT) && !model->has_gradient) {
        snprintf(text, room, "it needs a gradient, and this model gives values only");
        return true;
    }
    for (int64_t b = 0; b < model->space->n_blocks; b++) {
        sal_kind kind = model->space->stretches[b].kind;
        if (!(sampler->kinds & 1u << kind)) {
            snprintf(text, room, "it does not move %s variables", kind_names[kind]);
            return true;
        }
    }
    return false;
}

sal_status sali_sampler_check(const sali_sampler *sampler, const sal_model *model, sal_error *err)
{
    char why[128], other[128], able[256] = "";
    if (!obstacle(sampler, model, why, sizeof why)) {
        return SAL_OK;
    }
    for (int64_t k = 0; k < N_SAMPLERS; k++) {
        if (!obstacle(samplers[k], model, other, sizeof other)) {
            size_t used = strlen(able);
            snprintf(able + used, sizeof able - used, "%s%s", used ? ", " : "", samplers[k]->name);
        }
    }
    return sali_fail(err, SAL_ERR_UNSUPPORTED,
                     "sampler '%s' cannot sample %s: %s; samplers that can: %s", sampler->name,
                     model->name, why, able[0] ? able : "none");
}

static sal_status unknown_sampler(const char *name, sal_error *err)
{
    char names[256] = "";
    for (int64_t k = 0; k < N_SAMPLERS; k++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", samplers[k]->name);
    }
    return sali_fail(err, SAL_ERR_ARGUMENT, "there is no sampler '%s'; there are: %s", name, names);
}

/* eps and 1 / eps must be numbers of the model's type, with room for levels and gradients. */
static sal_status check_step_size(double step_size, sal_dtype dtype, sal_error *err)
{
    double low = dtype == SAL_F32 ? 1e-20 : 1e-150, high = 1 / low;
    return step_size == 0 || (step_size >= low && step_size <= high)
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "step_size is %g; expected a positive number, %g to %g", step_size, low,
                           high);
}

sal_status sali_sampler_choose(const char *name, const sal_model *model, double step_size,
                               int64_t radius, const sali_sampler **out,
                               sali_sampler_settings *settings, sal_error *err)
{
    const sali_sampler *sampler = sali_sampler_find(name);
    if (!sampler) {
        return unknown_sampler(name, err);
    }
    bool has_step_size = sampler->flags & SALI_SAMPLER_STEP_SIZE;
    if (step_size != 0 && !has_step_size) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sampler '%s' has no step size", name);
    }
    if (radius != 0 && !(sampler->flags & SALI_SAMPLER_RADIUS)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sampler '%s' has no radius", name);
    }
    sal_status status = check_step_size(step_size, model->dtype, err);
    if (status != SAL_OK) {
        return status;
    }
    *out = sampler;
    *settings = (sali_sampler_settings){
        .step_size = step_size > 0 ? step_size : sali_default_step_size(model->space, 0.2),
        .adapt_step_size = step_size == 0 && has_step_size,
        .radius = radius ? radius : INT64_MAX,
    };
    return sali_sampler_check(sampler, model, err);
}

bool sal_sampler_list(int64_t index, sal_sampler_info *info)
{
    static const char *const kinds_texts[] = { "binary spin ordinal categorical", "binary spin" };
    const sali_sampler *sampler = sali_sampler_at(index);
    if (!sampler) {
        return false;
    }
    *info = (sal_sampler_info){
        .name = sampler->name,
        .doc = sampler->doc,
        .source = sampler->source,
        .exact = (sampler->flags & SALI_SAMPLER_EXACT) != 0,
        .needs_gradient = (sampler->flags & SALI_SAMPLER_GRADIENT) != 0,
        .kinds = sampler->kinds & 1u << SAL_CATEGORICAL ? kinds_texts[0] : kinds_texts[1],
    };
    return true;
}

double sali_default_step_size(const sal_space *space, double base)
{
    double smallest = 0;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        double square = 2; /* one-hot: |s' - s|^2 of any move */
        if (s->kind != SAL_CATEGORICAL) {
            double spacing = (s->levels[s->states - 1] - s->levels[0]) / (s->states - 1);
            square = spacing * spacing;
        }
        smallest = smallest == 0 || square < smallest ? square : smallest;
    }
    return base * smallest;
}
