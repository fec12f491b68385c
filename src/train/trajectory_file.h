/* SPDX-License-Identifier: MIT */
/* Trajectories in files: DIR/ladder/level-NNN.safetensors, one a level, each written once; and
 * DIR/ladder/ladder.json, which says what belongs to the model beside it. */
#ifndef SALI_TRAJECTORY_FILE_H
#define SALI_TRAJECTORY_FILE_H

#include "run/trajectory.h"

/* Write the levels that are in no file yet. Returns: SAL_ERR_IO, SAL_ERR_ARGUMENT (a path that is
 * too long), SAL_ERR_MEMORY. */
sal_status sali_trajectory_write_levels(sal_trajectory *path, sal_dtype dtype,
                                        const char *directory, sal_error *err);

/* A trajectory with the sizes, level 0, sampler and steps of `like`, and with levels 1 .. n - 1 of
 * the directory, which count as written. Returns: SAL_ERR_DATA (missing or damaged), SAL_ERR_IO,
 * SAL_ERR_MEMORY. */
sal_status sali_trajectory_read_levels(const sal_trajectory *like, const char *directory, int64_t n,
                                       sal_trajectory **out, sal_error *err);

#endif
