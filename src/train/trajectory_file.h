/* SPDX-License-Identifier: MIT */
/* Trajectories in files: DIR/ladder/level-NNN.safetensors, one a level, each written once; and
 * DIR/ladder/ladder.json, which describes the model that was saved with the levels. */
#ifndef SALI_TRAJECTORY_FILE_H
#define SALI_TRAJECTORY_FILE_H

#include <saltus/sample.h>
#include <saltus/train.h>

#include "run/trajectory/trajectory.h"

/* Write the levels that are in no file yet. Returns: SAL_ERR_IO, SAL_ERR_ARGUMENT (a path that is
 * too long), SAL_ERR_MEMORY. */
sal_status sali_trajectory_write_levels(sal_trajectory *path, sal_dtype dtype,
                                        const char *directory, sal_error *err);

/* A trajectory with the sizes, level 0, sampler and steps of `like`, and with levels 1 .. n - 1 of
 * the directory, which count as written. Returns: SAL_ERR_DATA (missing or damaged), SAL_ERR_IO,
 * SAL_ERR_MEMORY. */
sal_status sali_trajectory_read_levels(const sal_trajectory *like, const char *directory, int64_t n,
                                       sal_trajectory **out, sal_error *err);

/* Write a trajectory beside a model that was saved in `directory`, for sal_trajectory_open: a
 * ladder into `directory`/ladder, a denoising chain as `directory`/denoising.json. Each call writes
 * the levels that are not there yet, and notes which levels belong to the model. Returns:
 * SAL_ERR_ARGUMENT (NULL, a path that is too long), SAL_ERR_IO, SAL_ERR_MEMORY. */
sal_status sali_trajectory_save(const sal_trajectory *trajectory, const char *directory,
                                const sal_model *model, const sal_train_report *report,
                                sal_error *err);

/* Set *layers to whether a model of layers with other terms beside them is annealed by draws of
 * layers ("block-gibbs"): where the ladder of the directory shows that the other terms let enough
 * of them pass. Returns: those of sali_json_read; SAL_ERR_ARGUMENT (a path that is too long). */
sal_status sali_ladder_of_layers(const char *directory, const sal_model *model, bool *layers,
                                 sal_error *err);

/* Whether a run sweeps along the trajectory of its model's training, if there is one; `ladder` as
 * in sal_trajectory_suggest. Returns: SAL_ERR_ARGUMENT (no such word). */
sal_status sali_trajectory_wanted(const sal_run_options *options, const char *ladder, bool *wanted,
                                  sal_error *err);

#endif
