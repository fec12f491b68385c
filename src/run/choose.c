/* SPDX-License-Identifier: MIT */
/* The sampler of a run and its shared state: the sampler that was asked for, or the default one of
 * the model. Along a training's trajectory, also the sampler that moves states at its levels. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "run/run.h"
#include "run/trajectory/trajectory.h"
#include "samplers/langevin/preconditioner.h"

/* Create run->shared, with the given preconditioner restricted to the variables that are
 * sampled. */
static sal_status share_sampler(sal_run *run, sal_error *err)
{
    const double *given = run->options.preconditioner;
    double *part = NULL;
    if (given && !sali_engine(run->sampler)->preconditioned) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sampler '%s' takes no preconditioner",
                         run->sampler->name);
    }
    if (given && !(part = sali_preconditioner_restrict(run->base, run->model, given))) {
        return sali_fail_memory(err);
    }
    run->settings.preconditioner = part;
    sal_status status =
        sali_sampler_share(run->sampler, run->model, &run->settings, &run->shared, err);
    run->settings.preconditioner = NULL;
    sali_free(part);
    return status;
}

sal_status sali_run_check_independent(const sali_sampler *sampler, const char *who,
                                      const char *what, sal_error *err)
{
    const bool coupled = sali_engine(sampler)->coupled;
    return !sampler->unadjusted && !coupled
               ? SAL_OK
               : sali_fail(err, SAL_ERR_UNSUPPORTED,
                           "%ssampler '%s' %s: %s want exact, independent chains", who,
                           sampler->name, coupled ? "couples its chains" : "is approximate", what);
}

/* SAL_ERR_ARGUMENT or SAL_ERR_UNSUPPORTED if the options do not go together with a run along a
 * trajectory. */
static sal_status check_trajectory(const sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    const char *what = o->tempering.replicas > 1         ? "replicas at other temperatures"
                       : o->annealing.on                 ? "annealing"
                       : o->tuning                       ? "a tuning"
                       : o->step_size_rule               ? "a step size that is adapted"
                       : o->preconditioner               ? "a preconditioner"
                       : o->trajectory->noise && o->init ? "starting states"
                       : run->base->space->n_variables != run->model->space->n_variables ||
                               sali_clamp_inner(run->model) != run->model
                           ? "clamped variables"
                       : run->model->space->fixed ? "fixed sums or labels"
                                                  : NULL;
    if (what) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "a run along a trajectory does not go together with %s", what);
    }
    if (!sali_trajectory_fits(o->trajectory, run->model)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "the trajectory is of another model than %s",
                         run->model->name);
    }
    const int64_t levels = o->trajectory->noise ? o->trajectory->noise->T : o->trajectory->n + 1;
    if (o->chains > (INT64_C(1) << 32) / levels) { /* a chain has a random stream for each level */
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%lld chains at each of %lld levels of the trajectory are more than 2^32: "
                         "take fewer chains",
                         (long long)o->chains, (long long)levels);
    }
    return o->trajectory->noise
               ? sali_check_field_sampler(run->sampler, "", err)
               : sali_run_check_independent(run->sampler, "", "sweeps along a trajectory", err);
}

/* Whether the run's inner sampler and its settings are those with which the trajectory was trained,
 * however they are spelt. */
static bool is_trained(const sal_run *run)
{
    const sali_sampler *sampler = NULL;
    sali_sampler_settings settings;
    return sali_sampler_choose_from(run->options.own_samplers, run->options.trajectory->sampler,
                                    run->model, 0, &sampler, &settings, NULL) == SAL_OK &&
           sampler == run->inner &&
           memcmp(settings.values, run->inner_settings.values, sizeof settings.values) == 0;
}

/* With a trajectory: make the requested sampler the inner one, which moves states at each level,
 * and let run->sampler be the one that sweeps over levels. Nothing without a trajectory. */
static sal_status take_trajectory(sal_run *run, sal_error *err)
{
    const sal_run_options *o = &run->options;
    if (!o->trajectory) {
        return SAL_OK;
    }
    sal_status status = check_trajectory(run, err);
    if (status != SAL_OK) {
        return status;
    }
    run->inner = run->sampler;
    const bool noise = o->trajectory->noise;
    run->levels = noise ? o->trajectory->noise->T : o->trajectory->n;
    run->inner_settings = run->settings;
    run->sampler = noise ? &sali_denoising_record : &sali_trajectory_record;
    run->settings = (sali_sampler_settings){
        .step_size = run->settings.step_size,
        .trajectory = o->trajectory,
        .level_steps = o->steps_per_level ? o->steps_per_level
                       : noise            ? 2
                                          : 1,
        .inner = run->inner,
        .inner_settings = &run->inner_settings,
        .level_step_sizes = o->step_size == 0 && is_trained(run),
    };
    return SAL_OK;
}

/* Whether chains, or replicas of them, have temperatures other than 1. */
static bool is_tempered(const sal_run_options *o)
{
    int64_t replicas = o->tempering.replicas;
    if (o->tuning && replicas == 0) {
        sal_tuning_values(o->tuning, "temperatures", NULL, &replicas, NULL);
    }
    return o->annealing.on || replicas > 1;
}

/* The sampler of the options, or the usual one of the model that is sampled. */
sal_status sali_run_choose_sampler(sal_run *run, sal_error *err)
{
    sal_run_options *o = &run->options;
    sal_status status =
        o->sampler ? SAL_OK : sali_sampler_usual(run->model, !is_tempered(o), &o->sampler, err);
    status = status ? status
                    : sali_sampler_choose_from(o->own_samplers, o->sampler, run->model,
                                               o->step_size, &run->sampler, &run->settings, err);
    status = status ? status : take_trajectory(run, err);
    if (status == SAL_OK) {
        /* the caller's text may not outlive the call */
        run->options.sampler =
            sali_sampler_called(run->inner ? run->inner : run->sampler, o->sampler);
        status = share_sampler(run, err);
    }
    return status;
}
