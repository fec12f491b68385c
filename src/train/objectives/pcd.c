/* SPDX-License-Identifier: MIT */
/* The log-likelihood, with samples from persistent chains. Tieleman 2008. */
#include "core/error.h"
#include "train/trainer.h"

static int64_t chains(const sal_train_options *options)
{
    return options->buffer.chains;
}

static sal_status check(const sal_train_options *options, const sal_model *model, sal_error *err)
{
    return options->buffer.start == SAL_BUFFER_UNIFORM && model->space->unbounded
               ? sali_fail(err, SAL_ERR_ARGUMENT,
                           "train: chains of counts without a cap cannot start uniform")
               : SAL_OK;
}

const sali_objective sali_objective_pcd = {
    .persistent = true,
    .whole_data = true,
    .compares = true,
    .activates = true,
    .decimates = true,
    .chains = chains,
    .check = check,
    .choose = sali_buffer_take_turns,
};
