/* SPDX-License-Identifier: MIT */
/* Parameters of Potts models: their gauge, and those of a given model. */
#ifndef SALI_POTTS_H
#define SALI_POTTS_H

#include <saltus/program.h>
#include "models/content.h"
#include "models/model.h"

/* Change the gauge, and f by a constant only. Returns: SAL_ERR_ARGUMENT if numbers become too large
 * for it. Cost: O(N^2) time, no memory.
 * Source: Ekeberg et al. 2013, Improved contact prediction in proteins, Phys. Rev. E 87. */
sal_status sali_potts_set_gauge(sali_potts *potts, sal_gauge gauge, sal_error *err);

/* The parameters of a model in double precision that is a Potts model: all variables have labels,
 * equally many, and the formula shows that f has terms of one and of two variables only.
 * Returns: ARGUMENT for another model; MEMORY. On failure *out is untouched.
 * Cost:    O(size of the formula + N^2). */
sal_status sali_potts_of_model(const sal_model *model, sali_potts *out, sal_error *err);

#endif
