/* SPDX-License-Identifier: MIT */
#ifndef SALI_TRAJECTORY_DRAW_H
#define SALI_TRAJECTORY_DRAW_H

#include "train/trainer.h"

/* A trainer that never updates, to climb a path. It has a row of data for each chain, which no
 * update uses. */
typedef struct sali_ptt_climb {
    sal_model *model; /* a copy */
    sal_data rows;
    sal_trainer *trainer;
} sali_ptt_climb;

/* `options`: chains, reservoir and steps are given; `comm` may be NULL. Closed after a failure too;
 * starts as zeros. */
sal_status sali_ptt_climb_open(sali_ptt_climb *climb, const sal_model *model,
                               const sal_trajectory *path, const sal_trajectory_options *options,
                               struct sal_comm *comm, sal_error *err);
void sali_ptt_climb_close(sali_ptt_climb *climb);

#endif
