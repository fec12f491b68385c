/* SPDX-License-Identifier: MIT */
/* Observed series that models are conditioned on, from files. */
#ifndef SALI_OBSERVATIONS_H
#define SALI_OBSERVATIONS_H

#include "models/content.h"

/* The most time steps of a series. */
#define SALI_MOST_OBSERVATIONS 1000000

/* Check that an array is one series y_1, y_2, ..: all dimensions but one are 1, and all numbers
 * finite. Returns: SAL_ERR_DATA. */
sal_status sali_observations_check(const sal_array *array, sal_error *err);

#endif
