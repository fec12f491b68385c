/* SPDX-License-Identifier: MIT */
/* The norm-constrained gradient sampler: all variables move at once and independently, by
 * exp(g'(s' - s)/2 - |s' - s|^2 / (2 eps)). Rhodes & Gutmann 2022, eq. 8, algorithm B.1, appendix A
 * for one-hot variables; the same as DMALA, Zhang et al. 2022, whose unadjusted form is DULA. With
 * cycles of step sizes and balances (schedule.h) it is ACS, Pynadath, Bhattacharya, Hariharan &
 * Zhang 2024: each step of a cycle is a kernel of its own, reversible by its own acceptance. */
#include "core/error.h"
#include "core/object.h"
#include "samplers/langevin/langevin.h"
#include "samplers/langevin/step_scale.h"
#include "samplers/radius_search.h"

enum { MOST = SALI_LANGEVIN_SETTINGS - 1, PRECONDITIONER = SALI_LANGEVIN_SETTINGS, CYCLE, BETA };

enum { NONE, DIAGONAL, SPREAD, AUTO };

static const char *const preconditioners[] = { "none", "diagonal", "spread", "auto", NULL };

/* A window of warm-up is a whole number of cycles (run.h), so a cycle has at most 100 steps. */
#define CYCLE_SETTING                                                                  \
    {                                                                                  \
        "cycle", 0, 0, 100, true, "steps of a cycle of step sizes; 0 or 1: none", NULL \
    }

/* The value of beta for the word "search". */
enum { SEARCHED = 0 };
#define LEAST_BETA 0.5

static const sal_setting ncg_settings[] = {
    SALI_LANGEVIN_PARAMETERS,
    { "preconditioner", AUTO, 0, 0, true,
      "step sizes by variable, by slopes or spread; auto: by spread where units differ",
      preconditioners },
    CYCLE_SETTING,
    { "beta", SEARCHED, 0, 1, false,
      "weight of the gradient at the first step of a cycle, 1/2 to 1; search: for the largest mean "
      "jump",
      sali_radius_words },
    { 0 },
};

static const sal_setting dula_settings[] = {
    SALI_LANGEVIN_PARAMETERS,
    { "preconditioner", NONE, 0, 0, true, "step sizes by variable, by slopes or spread",
      preconditioners },
    CYCLE_SETTING,
    { "beta", LEAST_BETA, LEAST_BETA, 1, false,
      "weight of the gradient at the first step of a cycle", NULL },
    { 0 },
};

static const char *const ncg_variants[] = { "",
                                            "preconditioner=diagonal",
                                            "preconditioner=spread",
                                            "most=2,preconditioner=spread",
                                            "cycle=3",
                                            "cycle=4,beta=0.9",
                                            NULL };
static const char *const dula_variants[] = {
    "", "preconditioner=diagonal,schedule=polynomial,decay=0.05,horizon=1", "most=1",
    "cycle=2,beta=1", NULL
};

/* An obstacle if beta is given without a cycle, else NULL. */
static const char *without_cycle(bool given, const double *values)
{
    return given && values[CYCLE] < 2 ? "its beta needs a cycle of 2 steps or more" : NULL;
}

static const char *ncg_obstacle(const sal_model *model, const double *values, const void *data)
{
    (void)data;
    const double beta = values[BETA];
    const char *why = sali_langevin_obstacle(model, values[MOST]);
    if (why) {
        return why;
    }
    return beta > SEARCHED && beta < LEAST_BETA
               ? "beta is from 1/2, the weight without a cycle, to 1"
               : without_cycle(beta != SEARCHED, values);
}

static const char *dula_obstacle(const sal_model *model, const double *values, const void *data)
{
    (void)data;
    const char *why = sali_langevin_obstacle(model, values[MOST]);
    return why ? why : without_cycle(values[BETA] != LEAST_BETA, values);
}

/* The search's radii 1 .. 20 stand for 1/2 .. 1. */
#define BETA_UNIT (0.5 / 19)

/* What the shards of a run share. */
typedef struct ncg_shared {
    sali_shared common;
    sali_step_scale *scale; /* NULL: one step size for all variables */
    sali_radius_search beta;
} ncg_shared;

/* Creates an ncg_shared: the scale of step sizes, the search for beta, and the couplings. */
static sal_status share(const sal_model *model, const sali_sampler_settings *settings,
                        void **shared, sal_error *err)
{
    static const sali_step_rule rules[] = { SALI_STEP_NONE, SALI_STEP_SLOPES, SALI_STEP_SPREAD };
    int choice = (int)settings->values[PRECONDITIONER];
    ncg_shared *s = SALI_OBJECT(ncg_shared);
    if (!s) {
        return sali_fail_memory(err);
    }
    const double beta = settings->values[BETA];
    sali_radius_search_begin_for(&s->beta, settings->values[CYCLE] > 1 && beta == SEARCHED, "beta",
                                 beta == SEARCHED ? LEAST_BETA : beta, BETA_UNIT, 1);
    if (choice == AUTO) {
        choice = sali_step_units_differ(model->space) ? SPREAD : NONE;
    }
    sal_status status = sali_step_scale_open(s, model, rules[choice], &s->scale, err);
    status = status ? status : sali_langevin_couplings(&s->common, model, settings, err);
    sali_shared_list(&s->common, s->scale, &sali_step_adaptive);
    sali_shared_list(&s->common, &s->beta, &sali_radius_adaptive);
    return sali_object_finish(s, status, shared, err);
}

/* Creates a shard's state, which reads beta and the scale from the shared state. */
static sal_status create(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err)
{
    const ncg_shared *s = shared;
    sali_langevin *l = sali_langevin_open(SALI_OBJECT(sali_langevin), chains, settings);
    if (l) {
        l->evaluate = sali_langevin_follow;
        l->schedule.beta0 = &s->beta.radius;
        sali_followed_gradient_open(&l->followed, l, chains, s->common.couplings, true, true);
    }
    if (l && s->scale) {
        l->scale = s->scale->scale;
        l->w = sali_object_array(l, chains->space->width, chains->element);
    }
    return sali_object_give(l, self, err);
}

#define FUNCTIONS                                                                         \
    .share = share, SALI_SHARED_FUNCTIONS, .create = create, .destroy = sali_object_free, \
    .pieces = sali_langevin_pieces, .cycle = "cycle", SALI_LANGEVIN_FUNCTIONS

const sali_sampler sali_sampler_ncg = {
    .name = "ncg",
    .doc = "norm-constrained gradient (DMALA): all sites at once, step size eps",
    .source = "Rhodes & Gutmann 2022, eq. 8, alg. B.1; Zhang et al. 2022; Pynadath et al. 2024",
    .needs_gradient = true,
    .has_step_size = true,
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_FIXED,
    .settings = ncg_settings,
    .obstacle = ncg_obstacle,
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
    .kinds = SAL_MOVES_FINITE | SAL_MOVES_FIXED,
    .settings = dula_settings,
    .obstacle = dula_obstacle,
    .engine =
        &(const sal_sampler_engine){
            .variants = dula_variants,
            FUNCTIONS,
        },
};
