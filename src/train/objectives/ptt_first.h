/* SPDX-License-Identifier: MIT */
#ifndef SALI_PTT_FIRST_H
#define SALI_PTT_FIRST_H

#include "train/objectives/ptt_levels.h"

/* In place of sali_ptt_begin if ptt.first is given: climb its ladder, and continue from there. If
 * the progress callback stops the climb, *stopped becomes true, and the trainer is as before. Also
 * SAL_ERR_ARGUMENT: the other model is no part of this one. */
sal_status sali_ptt_begin_after(sal_trainer *trainer, bool *stopped, sal_error *err);

#endif
