/* SPDX-License-Identifier: MIT */
/* The objective ptt, parallel trajectory tempering: what follows an update. */
#ifndef SALI_PTT_H
#define SALI_PTT_H

#include "train/objectives/ptt_levels.h"

/* After an update: keep it, freeze a level, or take the update back (also if `good` is false).
 * Returns: SAL_ERR_MODEL (30 updates were taken back in a row, or chains met NaN),
 * SAL_ERR_MEMORY. */
sal_status sali_ptt_follow(sal_trainer *trainer, bool good, sal_error *err);

/* log Z of the present model, from the last level's; its standard error into *error. */
double sali_ptt_log_z(sal_trainer *trainer, double *error);

#endif
