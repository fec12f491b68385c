/* SPDX-License-Identifier: MIT */
/* The norm-constrained gradient sampler: all variables move at once and independently, by
 * exp(g'(s' - s)/2 - |s' - s|^2 / (2 eps)). Rhodes & Gutmann 2022, eq. 8, algorithm B.1, appendix A
 * for one-hot variables; the same as DMALA, Zhang et al. 2022, whose unadjusted form is DULA. */
#include "core/error.h"
#include "core/object.h"
#include "samplers/langevin/langevin.h"
#include "samplers/langevin/step_scale.h"

enum { PRECONDITIONER = SALI_LANGEVIN_SETTINGS };

enum { NONE, DIAGONAL, SPREAD, AUTO };

static const char *const preconditioners[] = { "none", "diagonal", "spread", "auto", NULL };

static const sal_setting ncg_settings[] = {
    SALI_LANGEVIN_PARAMETERS,
    { "preconditioner", AUTO, 0, 0, true,
      "step sizes by variable, by slopes or spread; auto: by spread where units differ",
      preconditioners },
    { 0 },
};

static const sal_setting dula_settings[] = {
    SALI_LANGEVIN_PARAMETERS,
    { "preconditioner", NONE, 0, 0, true, "step sizes by variable, by slopes or spread",
      preconditioners },
    { 0 },
};

static const char *const ncg_variants[] = { "", "preconditioner=diagonal", "preconditioner=spread",
                                            "most=2,preconditioner=spread", NULL };
static const char *const dula_variants[] = {
    "", "preconditioner=diagonal,schedule=polynomial,decay=0.05,horizon=1", "most=1", NULL
};

/* What the shards of a run have in common; either may be NULL. */
typedef struct ncg_shared {
    sali_step_scale *scale;
    sali_couplings *couplings;
} ncg_shared;

static void unshare(void *shared)
{
    ncg_shared *s = shared;
    if (s) {
        sali_object_free(s->scale);
        sali_couplings_destroy(s->couplings);
        sali_object_free(s);
    }
}

static sal_status share(const sal_model *model, const sali_sampler_settings *settings,
                        void **shared, sal_error *err)
{
    static const sali_step_rule rules[] = { SALI_STEP_NONE, SALI_STEP_SLOPES, SALI_STEP_SPREAD };
    int choice = (int)settings->values[PRECONDITIONER];
    ncg_shared *s = SALI_OBJECT(ncg_shared);
    if (!s) {
        return sali_fail_memory(err);
    }
    if (choice == AUTO) {
        choice = sali_step_units_differ(model->space) ? SPREAD : NONE;
    }
    sal_status status = sali_step_scale_create(model, rules[choice], &s->scale, err);
    if (status == SAL_OK && !settings->training) {
        status = sali_couplings_create(model, SALI_FORM_COUPLINGS, &s->couplings, err);
    }
    if (status != SAL_OK) {
        unshare(s);
        return status;
    }
    *shared = s;
    return SAL_OK;
}

static sal_status adapt(void *shared, const sali_warmup *warmup, bool *changed, sal_error *err)
{
    return sali_step_scale_adapt(((ncg_shared *)shared)->scale, warmup, changed, err);
}

static int64_t state(void *shared, void *self, sali_state_item *items)
{
    return sali_step_scale_state(shared ? ((ncg_shared *)shared)->scale : NULL, self, items);
}

static sal_status create(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err)
{
    const ncg_shared *s = shared;
    sali_langevin *l = sali_langevin_open(SALI_OBJECT(sali_langevin), chains, settings);
    if (l) {
        l->evaluate = sali_langevin_follow;
        sali_followed_gradient_open(&l->followed, l, chains, s->couplings, true, true);
    }
    if (l && s->scale) {
        l->scale = s->scale->scale;
        l->w = sali_object_array(l, chains->space->width, chains->element);
    }
    return sali_object_give(l, self, err);
}

#define FUNCTIONS                                                                         \
    .share = share, .unshare = unshare, .adapt = adapt, .state = state, .create = create, \
    .destroy = sali_object_free, SALI_LANGEVIN_FUNCTIONS

const sali_sampler sali_sampler_ncg = {
    .name = "ncg",
    .doc = "norm-constrained gradient (DMALA): all sites at once, step size eps",
    .source = "Rhodes & Gutmann 2022, eq. 8, alg. B.1; Zhang et al. 2022",
    .needs_gradient = true,
    .has_step_size = true,
    .settings = ncg_settings,
    .engine =
        &(const sal_sampler_engine){
            .alias = "dmala",
            .variants = ncg_variants,
            FUNCTIONS,
        },
};

const sali_sampler sali_sampler_dula = {
    .name = "dula",
    .doc = "ncg without acceptance: biased, the less the smaller eps, which is not adapted",
    .source = "Zhang et al. 2022",
    .needs_gradient = true,
    .has_step_size = true,
    .unadjusted = true,
    .settings = dula_settings,
    .engine =
        &(const sal_sampler_engine){
            .variants = dula_variants,
            FUNCTIONS,
        },
};
