/* SPDX-License-Identifier: MIT */
/* Whether a run of a trained model sweeps along the trajectory of its training. */
#include <string.h>

#include "core/error.h"
#include "train/trajectory_file.h"

/* Whether options of a run ask for a way of sampling that is not a sweep along a trajectory. */
static bool is_other_way(const sal_run_options *o)
{
    const sal_annealing_options *a = &o->annealing;
    return o->sampler || o->tempering.replicas > 0 || a->on ||
           a->schedule != SAL_ANNEAL_GEOMETRIC || o->tuning || o->preconditioner ||
           o->step_size > 0 || o->step_size_rule != SAL_STEP_SIZE_USUAL || o->clamps.n > 0;
}

sal_status sali_trajectory_wanted(const sal_run_options *options, const char *ladder, bool *wanted,
                                  sal_error *err)
{
    const bool yes = ladder && strcmp(ladder, "yes") == 0;
    if (ladder && !yes && strcmp(ladder, "no") != 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "ladder %.60s: expected yes or no", ladder);
    }
    *wanted = yes || (!ladder && !(options && is_other_way(options)));
    return SAL_OK;
}

sal_status sal_trajectory_suggest(const char *specification, const sal_model *model,
                                  const sal_run_options *options, const char *ladder,
                                  sal_trajectory **trajectory, sal_error *err)
{
    bool wanted = false;
    sal_trajectory *found = NULL;
    if (!specification || !model || !trajectory) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_trajectory_suggest: the specification, the model or the result is "
                         "NULL");
    }
    sal_status status = sali_trajectory_wanted(options, ladder, &wanted, err);
    if (status == SAL_OK && wanted && (ladder || !model->space->fixed)) {
        status = sal_trajectory_open(specification, model, &found, err);
        status = status == SAL_ERR_NOT_FOUND && !ladder ? SAL_OK : status;
    }
    if (status == SAL_OK) {
        *trajectory = found;
    }
    return status;
}
