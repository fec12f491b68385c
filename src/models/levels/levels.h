/* SPDX-License-Identifier: MIT */
/* Conditional energies: f(x, t) of variables x and one more, the level t, a categorical variable
 * that comes last. With the level held it is a model f_t over x, and what depends on the level and
 * on parameters only is computed once an update: rows of a parameter that t chooses are parameters
 * of f_t. */
#ifndef SALI_LEVELS_H
#define SALI_LEVELS_H

#include "models/tape_model.h"

typedef struct sali_levels {
    sal_model *joint; /* f(x, t), held */
    int64_t n;
    sal_model **at; /* [n] f_t, each with the joint's parameters in the joint's order */
} sali_levels;

/* The variables but the level; NULL: no memory. */
sal_space *sali_levels_space(const sal_model *joint);

/* A model over x that stands for all levels, and holds `joint`: its tape is the joint's, and its f
 * that of level 0. Returns: SAL_ERR_UNSUPPORTED (the model is over no levels; an op that cannot do
 * without the whole state), SAL_ERR_MEMORY. Cost: n programs. */
sal_status sali_levels_create(sal_model *joint, sal_model **out, sal_error *err);

/* The model that rows of so many variables are of: over x if the model has levels and is over one
 * variable more, else itself, held. Returns: as sali_levels_create. */
sal_status sali_levels_for_rows(sal_model *model, int64_t variables, sal_model **out,
                                sal_error *err);

/* Of such a model; NULL: it is none. */
const sali_levels *sali_model_levels(const sal_model *model);

/* Put the joint's parameters into all levels. Returns: SAL_ERR_MEMORY. */
sal_status sali_levels_share_params(const sali_levels *levels, sal_error *err);

#endif
