/* SPDX-License-Identifier: MIT */
/* Levels of parallel trajectory tempering. */
#ifndef SALI_PTT_LEVELS_H
#define SALI_PTT_LEVELS_H

#include "train/objectives/ptt_reservoir.h"

/* Before the first iteration: levels up to the model as it is, and chains there. Cost: two
 * to twenty visits by all of the reservoir a level. */
sal_status sali_ptt_begin(sal_trainer *trainer, sal_error *err);

/* Climb the levels of another training's path, up to the model as it is, in place of training. The
 * stored states are then draws of the model, and the log Z of the last level is the model's. */
sal_status sali_ptt_replay(sal_trainer *trainer, const sal_trajectory *path,
                           int (*progress)(int64_t done, int64_t total, void *data), void *data,
                           bool *stopped, sal_error *err);

/* Add levels from the last one to the present model at `beta`, as many as it takes for each level
 * to keep a share of the states of the level before; then put the chains there. False in *arrived:
 * no states are left on the way, and the present model is one on the way. Cost: for each level some
 * visits by all the reservoir.
 * Returns: SAL_ERR_MODEL (too many levels; chains met NaN), SAL_ERR_MEMORY. */
sal_status sali_ptt_travel(sal_trainer *trainer, double beta, bool *arrived, sal_error *err);

void sali_ptt_free_visitors(const sal_trainer *trainer, sali_ptt *p);

#endif
