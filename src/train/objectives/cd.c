/* SPDX-License-Identifier: MIT */
/* Contrastive divergence: chains start at the batch of data in every iteration. Hinton 2002. */
#include "train/trainer.h"

static int64_t chains(const sal_train_options *options)
{
    return options->batch;
}

const sali_objective sali_objective_cd = {
    .compares = true,
    .chains = chains,
    .choose = sali_buffer_start_at_data,
};
