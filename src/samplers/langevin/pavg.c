/* SPDX-License-Identifier: MIT */
/* The preconditioned auxiliary-variable gradient sampler: avg with a matrix M that may represent
 * the second-order interactions in f. Rhodes & Gutmann 2022, eq. 17 and 38-40, algorithms B.3 and
 * F.4; appendix A for one-hot variables. With the Hessian of a quadratic f as M, this is the block
 * Gibbs sampler of Martens & Sutskever 2010 and never rejects. The step is in auxiliary.c. */
#include <float.h>

#include "core/error.h"
#include "core/object.h"
#include "samplers/langevin/auxiliary.h"

enum { PRECONDITIONER, ADAPT_STEP_SIZE, MOMENTUM, CORRECTION };
enum { AUTO, HESSIAN, EMPIRICAL, COVARIANCE, PRECISION, NONE };

/* Upper limit of the setting; `share` checks it against the model's type. */
#define MOST_STEP_SIZE 1e100

static const char *const choices[] = { "auto",      "hessian", "empirical", "covariance",
                                       "precision", "none",    NULL };

static const sal_setting known_settings[] = {
    { "preconditioner", AUTO, AUTO, NONE, true,
      "M: the Hessian of a quadratic f; else learned in warm-up from the states' covariance and "
      "precision, the better one or a given one; or none",
      choices },
    { "adapt-step-size", 0, 0, MOST_STEP_SIZE, false,
      "step size while warm-up collects what M is learned from, with a given one after; 0: the "
      "same",
      NULL },
    SALI_MOMENTUM_PARAMETERS,
    { 0 },
};

static const char *const variants[] = { "", "preconditioner=hessian", "momentum=0.7,correction=0.5",
                                        NULL };

static const char *obstacle(const sal_model *model, const double *values, const void *data)
{
    (void)data;
    if (values[PRECONDITIONER] == HESSIAN && !sali_is_quadratic(model)) {
        return "preconditioner=hessian needs an f that is known to be quadratic";
    }
    if (values[ADAPT_STEP_SIZE] > 0 &&
        (values[PRECONDITIONER] == HESSIAN || values[PRECONDITIONER] == NONE)) {
        return "adapt-step-size is for a matrix that is learned in warm-up; preconditioner=hessian "
               "and none learn nothing";
    }
    if (values[PRECONDITIONER] != NONE && model->space->width > SALI_MOST_PRECONDITIONED) {
        return "its preconditioner is a dense matrix, of at most 4096 x 4096 reals";
    }
    return NULL;
}

/* Whether momentum or correction need the auxiliary variables along M's eigenvectors. */
static bool needs_eigenvectors(const sali_sampler_settings *settings)
{
    return settings->values[MOMENTUM] > 0 || settings->values[CORRECTION] > 0;
}

/* *p receives the Hessian of f as preconditioner. If the Hessian is not finite, *p becomes NULL
 * with the setting auto, else this is an error. */
static sal_status open_hessian(const sal_model *model, const sali_sampler_settings *settings,
                               sali_preconditioner **p, sal_error *err)
{
    sal_status status = sali_preconditioner_create(model, SALI_PRECONDITIONER_HESSIAN, NULL,
                                                   needs_eigenvectors(settings), p, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_preconditioner_refresh(*p);
    if (sali_preconditioner_finite(*p)) {
        return SAL_OK;
    }
    sali_preconditioner_destroy(*p);
    *p = NULL;
    return settings->values[PRECONDITIONER] == AUTO
               ? SAL_OK
               : sali_fail(err, SAL_ERR_UNSUPPORTED,
                           "preconditioner=hessian: the Hessian of %s is not finite (forbidden "
                           "states?); use preconditioner=empirical",
                           model->name);
}

/* Decides once where M comes from: by the settings, by the formula, and by whether the Hessian is
 * finite at the present parameters. */
static sal_status pavg_share(const sal_model *model, const sali_sampler_settings *settings,
                             void **shared, sal_error *err)
{
    sali_preconditioner *p = NULL;
    sal_status status = SAL_OK;
    int wanted = (int)settings->values[PRECONDITIONER];
    bool quadratic = wanted <= HESSIAN && !settings->preconditioner && sali_is_quadratic(model);
    status = sali_step_size_check(settings->values[ADAPT_STEP_SIZE], model->dtype, err);
    if (status != SAL_OK) {
        return sali_fail_prefix(err, status, "pavg: adapt-step-size");
    }
    if (settings->preconditioner && wanted != AUTO) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "pavg: a preconditioner is given; it goes with preconditioner=auto, not "
                         "with %s",
                         choices[wanted]);
    }
    if (quadratic) {
        status = open_hessian(model, settings, &p, err);
    }
    if (status == SAL_OK && !p) {
        status = sali_preconditioner_create(model,
                                            settings->preconditioner ? SALI_PRECONDITIONER_GIVEN
                                            : wanted == NONE         ? SALI_PRECONDITIONER_NONE
                                                             : SALI_PRECONDITIONER_EMPIRICAL,
                                            settings->preconditioner, needs_eigenvectors(settings),
                                            &p, err);
    }
    if (status == SAL_OK) {
        p->adaptation.step_size = settings->values[ADAPT_STEP_SIZE];
        p->adaptation.candidates = wanted == COVARIANCE  ? SALI_COVARIANCE
                                   : wanted == PRECISION ? SALI_PRECISION
                                                         : SALI_COVARIANCE | SALI_PRECISION;
        *shared = p;
    }
    return status;
}

/* Let the shards of this rank record their steps in `shards` [n_shards]; NULL: stop recording. */
static void attach_histories(const sali_warmup *warmup, sali_history *shards)
{
    for (int64_t k = 0; k < warmup->n_shards; k++) {
        if (sali_warmup_has(warmup, k)) {
            ((sali_auxiliary_state *)warmup->selves[k])->history = shards ? &shards[k] : NULL;
        }
    }
}

/* Advance the adaptation (history.h) after a window of warm-up: plan, begin to collect, choose M,
 * or change gamma; *changed if the shards need a refresh. */
static sal_status adapt_preconditioner(sali_preconditioner *p, const sali_warmup *warmup,
                                       bool *changed, sal_error *err)
{
    sali_adaptation_history *a = &p->adaptation;
    bool last = warmup->done == warmup->total;
    sal_status status = SAL_OK;
    if (a->phase == SALI_PHASE_COLLECT) {
        status = sali_history_gather(a, warmup, err);
    }
    if (status != SAL_OK) {
        return status;
    }
    if (a->phase == SALI_PHASE_START) {
        sali_history_plan(a, warmup->total, warmup->window,
                          p->kind == SALI_PRECONDITIONER_EMPIRICAL);
        *changed = sali_history_step_size(a) > 0;
    }
    if (a->phase == SALI_PHASE_IGNORE && warmup->done >= a->begin && !last) {
        status = sali_history_open(a, warmup, err);
        attach_histories(warmup, a->shards);
        a->phase = status ? a->phase : SALI_PHASE_COLLECT;
    } else if (a->phase == SALI_PHASE_IGNORE && last) {
        a->phase = SALI_PHASE_TOO_SHORT;
        *changed = true;
    } else if (a->phase == SALI_PHASE_COLLECT && (warmup->done >= a->end || last)) {
        attach_histories(warmup, NULL);
        status = sali_history_choose(warmup->model, p, err);
        sali_history_clear(a);
        *changed = true;
    } else if (a->phase == SALI_PHASE_GAMMA) {
        *changed = sali_gamma_adapt(a, warmup, &p->gamma);
    }
    return status;
}

/* Whether warm-up adapts anything: not with the Hessian as M, nor without M. */
static bool adapts_in_warmup(const sali_preconditioner *p)
{
    return p->kind == SALI_PRECONDITIONER_EMPIRICAL || p->kind == SALI_PRECONDITIONER_GIVEN;
}

static sal_status pavg_adapt(void *shared, const sali_warmup *warmup, bool *changed, sal_error *err)
{
    return adapts_in_warmup(shared) ? adapt_preconditioner(shared, warmup, changed, err) : SAL_OK;
}

static const char *pavg_missed(const void *shared)
{
    const sali_preconditioner *p = shared;
    if (p->kind != SALI_PRECONDITIONER_EMPIRICAL || !p->zero) {
        return NULL;
    }
    switch (p->adaptation.phase) {
    case SALI_PHASE_GAMMA: /* a matrix of zeros: f is linear as far as the states tell */
        return NULL;
    case SALI_PHASE_NO_MATRIX:
        return "pavg found no matrix M: the steps that its warm-up collected hardly moved, so "
               "there was nothing to fit M to, and it ran as avg. Try a longer warm-up, more "
               "chains, or a tuning of a run that found one.";
    case SALI_PHASE_TOO_SHORT:
        return "pavg found no matrix M: its warm-up was too short to collect states, and it ran as "
               "avg. Try a warm-up of 2000 steps or more.";
    default:
        return "pavg has no matrix M: this run had no warm-up to find one in, or a tuning without "
               "one, and it ran as avg. Try a warm-up of 2000 steps or more, and no tuning.";
    }
}

/* For `shared`: gamma, M and the state of their adaptation. For `self`: the momentum. */
static int64_t pavg_state(void *shared, void *self, sali_state_item *items)
{
    sali_preconditioner *p = shared;
    const unsigned both = SALI_STATE_TUNED | SALI_STATE_KEPT;
    if (!p || !adapts_in_warmup(p)) {
        return sali_auxiliary_state_of(self, items);
    }
    items[0] = sali_state_for(both, sali_state_reals("gamma", 1, &p->gamma));
    items[1] = sali_state_for(both, sali_state_reals("preconditioner", p->n * p->n, p->M));
    return 2 + sali_history_state(&p->adaptation, p->model->space, items + 2);
}

/* After the state was filled: checks it, symmetrises M, and attaches the shards to their histories.
 */
static sal_status pavg_changed(void *shared, const sali_warmup *at, sal_error *err)
{
    sali_preconditioner *p = shared;
    sal_status status =
        at ? sali_history_changed(&p->adaptation, p->kind == SALI_PRECONDITIONER_EMPIRICAL, at, err)
           : SAL_OK;
    if (status == SAL_OK) {
        sali_preconditioner_changed(p);
    }
    if (status == SAL_OK && at) {
        attach_histories(at, p->adaptation.shards);
    }
    return status;
}

const sali_sampler sali_sampler_pavg = {
    .name = "pavg",
    .doc = "avg preconditioned by a matrix; block Gibbs without rejections where f is quadratic",
    .source = "Rhodes & Gutmann 2022, eq. 17, 40, alg. B.3, F.4; Martens & Sutskever 2010",
    .needs_gradient = true,
    .has_step_size = true,
    .settings = known_settings,
    .obstacle = obstacle,
    .engine =
        &(const sal_sampler_engine){
            .preconditioned = true,
            .variants = variants,
            .share = pavg_share,
            .unshare = sali_preconditioner_destroy,
            .adapt = pavg_adapt,
            .state = pavg_state,
            .changed = pavg_changed,
            .missed = pavg_missed,
            .create = sali_auxiliary_create,
            .destroy = sali_object_free,
            .refresh = sali_auxiliary_refresh,
            .step = sali_auxiliary_step,
        },
};
