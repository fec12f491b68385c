/* SPDX-License-Identifier: MIT */
/* The norm-constrained gradient sampler: all variables move at once and independently, by
 * exp(g'(s' - s)/2 - |s' - s|^2 / (2 eps)). Rhodes & Gutmann 2022, eq. 8, algorithm B.1, appendix A
 * for one-hot variables; the same as DMALA, Zhang et al. 2022, whose unadjusted form is DULA. */
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
                                            NULL };
static const char *const dula_variants[] = {
    "", "preconditioner=diagonal,schedule=polynomial,decay=0.05,horizon=1", NULL
};

static sal_status share(const sal_model *model, const sali_sampler_settings *settings,
                        void **shared, sal_error *err)
{
    static const sali_step_rule rules[] = { SALI_STEP_NONE, SALI_STEP_SLOPES, SALI_STEP_SPREAD };
    int choice = (int)settings->values[PRECONDITIONER];
    sali_step_scale *p = NULL;
    if (choice == AUTO) {
        choice = sali_step_units_differ(model->space) ? SPREAD : NONE;
    }
    sal_status status = sali_step_scale_create(model, rules[choice], &p, err);
    *shared = p;
    return status;
}

static void evaluate(sali_langevin *l, sali_chains *chains, bool proposed)
{
    (void)l;
    if (proposed) {
        sali_chains_propose(chains, true);
    } else {
        sali_chains_start(chains, true);
    }
}

static sal_status create(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err)
{
    const sali_step_scale *preconditioner = shared;
    sali_langevin *l = sali_langevin_create(chains, settings);
    if (l) {
        l->evaluate = evaluate;
    }
    if (l && preconditioner) {
        l->scale = preconditioner->scale;
        l->w = sali_object_array(l, chains->space->width, chains->element);
    }
    return sali_object_give(l, self, err);
}

#define FUNCTIONS                                                                \
    .share = share, .unshare = sali_object_free, .adapt = sali_step_scale_adapt, \
    .state = sali_step_scale_state, .create = create, SALI_LANGEVIN_FUNCTIONS

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
