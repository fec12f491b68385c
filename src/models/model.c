/* SPDX-License-Identifier: MIT */
#include "models/model.h"

#include "core/alloc.h"
#include "core/error.h"
#include "models/content.h"
#include "models/names.h"
#include "models/statistic.h"
#include "models/structure.h"

sal_status sali_model_create(const sali_model_ops *ops, void *content, sal_space *space,
                             sal_dtype dtype, const char *name, sal_model **out, sal_error *err)
{
    sal_model *model = SALI_NEW(sal_model);
    char *copy = sali_strdup(name);
    if (!model || !copy || !space || !content) {
        sali_free(model);
        sali_free(copy);
        sal_space_destroy(space);
        if (content) {
            ops->destroy(content);
        }
        return sali_fail_memory(err);
    }
    *model = (sal_model){
        .ops = ops,
        .content = content,
        .space = space,
        .dtype = dtype,
        .name = copy,
        .holders = 1,
    };
    *out = model;
    return SAL_OK;
}

bool sal_model_is_conditional(const sal_model *model)
{
    return model->conditional;
}

sal_status sali_model_check_joint(const sal_model *model, sal_error *err)
{
    return !model->conditional
               ? SAL_OK
               : sali_fail(err, SAL_ERR_UNSUPPORTED,
                           "%s is a denoising chain: its f(x, t) is the energy of level t, and no "
                           "log-probability of x. Draw samples down all its levels (saltus sample, "
                           "without --ladder no), and bound its log-likelihood (saltus evaluate)",
                           model->name);
}

sal_model *sali_model_hold(sal_model *model)
{
    model->holders++;
    return model;
}

static void free_names(sali_names *names)
{
    if (!names) {
        return;
    }
    for (int64_t v = 0; names->state_names && v < names->variables; v++) {
        sali_names_free(names->state_names[v], names->states[v]);
    }
    sali_free(names->state_names);
    sali_free(names->states);
    sali_names_free(names->names, names->variables);
    sali_free(names);
}

void sal_model_destroy(sal_model *model)
{
    if (!model || --model->holders > 0) {
        return;
    }
    model->ops->destroy(model->content);
    if (model->structure && model->structure->destroy) {
        model->structure->destroy(model->structure_data);
    }
    if (model->statistic && model->statistic->destroy) {
        model->statistic->destroy(model->statistic_data);
    }
    sali_memory_free(&model->kept);
    sal_space_destroy(model->space);
    sali_free(model->name);
    sali_remark_free(&model->remark);
    free_names(model->names);
    sali_free(model);
}

const sal_space *sal_model_space(const sal_model *model)
{
    return model->space;
}

sal_dtype sal_model_dtype(const sal_model *model)
{
    return model->dtype;
}

const char *sal_model_name(const sal_model *model)
{
    return model->name;
}

sal_status sal_model_set_name(sal_model *model, const char *name, sal_error *err)
{
    char *copy = sali_strdup(name ? name : "");
    if (!copy) {
        return sali_fail_memory(err);
    }
    sali_free(model->name);
    model->name = copy;
    return SAL_OK;
}

bool sal_model_is_multilinear(const sal_model *model)
{
    return model->multilinear;
}

uint64_t sali_model_version(const sal_model *model)
{
    return model->ops->version ? model->ops->version(model) : 0;
}

void sali_model_embed(const sal_model *model, int64_t chains, const int32_t *codes, void *x)
{
    if (model->dtype == SAL_F32) {
        sali_embed_f32(model->space, chains, codes, x);
    } else {
        sali_embed_f64(model->space, chains, codes, x);
    }
}

double sali_first_order(sal_dtype dtype, const void *gradient, const sali_variable *v, int32_t from,
                        int32_t to)
{
    if (v->kind == SAL_CATEGORICAL) {
        return sali_load(dtype, gradient, v->offset + to) -
               sali_load(dtype, gradient, v->offset + from);
    }
    return sali_load(dtype, gradient, v->offset) * (sali_level(v, to) - sali_level(v, from));
}

void sali_model_embed_one(const sal_model *model, int64_t v, int32_t code, void *x)
{
    if (model->dtype == SAL_F32) {
        sali_embed_one_f32(model->space, v, code, x);
    } else {
        sali_embed_one_f64(model->space, v, code, x);
    }
}
