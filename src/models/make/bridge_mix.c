/* SPDX-License-Identifier: MIT */
#include "models/make/bridge_mix.h"

#include "core/alloc.h"
#include "core/error.h"

typedef struct mix_content {
    sal_model *target, *base;
    double beta;
    uint64_t changes; /* how often beta was set */
} mix_content;

typedef struct mix_workspace {
    const mix_content *content;
    int64_t width;
    sal_dtype dtype;
    void *target_ws, *base_ws;
    double *f;      /* [chains] of the base */
    void *gradient; /* real [chains x N] of the base */
} mix_workspace;

static void mix_close(void *workspace)
{
    mix_workspace *ws = workspace;
    if (ws->target_ws) {
        ws->content->target->ops->close(ws->target_ws);
    }
    if (ws->base_ws) {
        ws->content->base->ops->close(ws->base_ws);
    }
    sali_free(ws->f);
    sali_free(ws->gradient);
    sali_free(ws);
}

static sal_status mix_open(const sal_model *model, int64_t chains, unsigned wants, void **out,
                           sal_error *err)
{
    const mix_content *content = model->content;
    mix_workspace *ws = SALI_NEW(mix_workspace);
    if (!ws) {
        return sali_fail_memory(err);
    }
    size_t element = model->dtype == SAL_F32 ? sizeof(float) : sizeof(double);
    ws->content = content;
    ws->width = model->space->width;
    ws->dtype = model->dtype;
    ws->f = SALI_NEW_ARRAY(double, chains);
    ws->gradient = sali_alloc(chains * ws->width, element);
    sal_status status = ws->f && ws->gradient ? SAL_OK : sali_fail_memory(err);
    status = status
                 ? status
                 : content->target->ops->open(content->target, chains, wants, &ws->target_ws, err);
    status =
        status ? status : content->base->ops->open(content->base, chains, wants, &ws->base_ws, err);
    if (status != SAL_OK) {
        mix_close(ws);
        return status;
    }
    *out = ws;
    return SAL_OK;
}

/* Turn f [chains], the target's values on entry, into f_beta. At beta = 0 the target is ignored, so
 * that f_beta is finite where the target forbids a state. */
static void mix_f(const mix_workspace *ws, int64_t chains, double *f)
{
    double beta = ws->content->beta;
    for (int64_t c = 0; c < chains; c++) {
        f[c] = beta == 0 ? ws->f[c] : beta * f[c] + (1 - beta) * ws->f[c];
    }
}

static void mix_value(void *workspace, int64_t chains, const int32_t *codes, const void *x,
                      double *f)
{
    mix_workspace *ws = workspace;
    ws->content->target->ops->value(ws->target_ws, chains, codes, x, f);
    ws->content->base->ops->value(ws->base_ws, chains, codes, x, ws->f);
    mix_f(ws, chains, f);
}

/* At beta = 0 the gradient of the target, which may be infinite, is ignored. */
static void mix_gradient(void *workspace, int64_t chains, const int32_t *codes, const void *x,
                         double *f, void *gradient)
{
    mix_workspace *ws = workspace;
    double beta = ws->content->beta;
    ws->content->target->ops->gradient(ws->target_ws, chains, codes, x, f, gradient);
    ws->content->base->ops->gradient(ws->base_ws, chains, codes, x, ws->f, ws->gradient);
    mix_f(ws, chains, f);
    for (int64_t k = 0; k < chains * ws->width; k++) {
        double base = sali_load(ws->dtype, ws->gradient, k);
        double target = beta == 0 ? 0 : beta * sali_load(ws->dtype, gradient, k);
        sali_store(ws->dtype, gradient, k, target + (1 - beta) * base);
    }
}

static uint64_t mix_version(const sal_model *model)
{
    const mix_content *content = model->content;
    return content->changes + sali_model_version(content->target);
}

static void mix_destroy(void *object)
{
    mix_content *content = object;
    sal_model_destroy(content->target);
    sal_model_destroy(content->base);
    sali_free(content);
}

static const sali_model_ops mix_ops = {
    .open = mix_open,
    .close = mix_close,
    .value = mix_value,
    .gradient = mix_gradient,
    .version = mix_version,
    .destroy = mix_destroy,
};

void sali_bridge_mix_set(sal_model *mix, double beta)
{
    mix_content *content = mix->content;
    content->beta = beta;
    content->changes++;
}

sal_status sali_bridge_mix(sal_model *target, sal_model *base, sal_model **out, sal_error *err)
{
    mix_content *content = SALI_NEW(mix_content);
    if (!content) {
        sal_model_destroy(base);
        return sali_fail_memory(err);
    }
    *content = (mix_content){ .target = sali_model_hold(target), .base = base, .beta = 1 };
    sal_model *made = NULL;
    sal_status status = sali_model_create(&mix_ops, content, sali_space_clone(target->space),
                                          target->dtype, target->name, &made, err);
    if (status == SAL_OK) {
        made->has_gradient = target->has_gradient;
        made->multilinear = target->multilinear && base->multilinear;
        made->limited = target->limited;
        *out = made;
    }
    return status;
}
