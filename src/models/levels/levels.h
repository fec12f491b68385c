/* SPDX-License-Identifier: MIT */
/* Conditional energies: f(x, t) of variables x and of the level t, one categorical variable, which
 * comes last. For each fixed level there is a model f_t over x. In f_t nodes that depend on the
 * level and on parameters only, such as the row of a parameter that t selects, are computed once an
 * update of the parameters. */
#ifndef SALI_LEVELS_H
#define SALI_LEVELS_H

#include "models/tape_model.h"

typedef struct sali_levels {
    sal_model *joint; /* f(x, t), held */
    int64_t n;
    sal_model **at; /* [n] f_t, each with the joint's parameters in the joint's order */
} sali_levels;

/* The number of levels; 1 without levels (NULL). */
static inline int64_t sali_levels_count(const sali_levels *levels)
{
    return levels ? levels->n : 1;
}

/* The space of x, all variables of `joint` but the level; NULL when out of memory. */
sal_space *sali_levels_space(const sal_model *joint);

/* Create a model over x that stands for all levels and holds `joint`. It is no tape
 * (sali_model_tape returns NULL), and its f is f_0. Returns: SAL_ERR_UNSUPPORTED (`joint` has no
 * levels; its formula cannot be recorded with a fixed level), SAL_ERR_MEMORY. Cost: n programs. */
sal_status sali_levels_create(sal_model *joint, sal_model **out, sal_error *err);

/* The model for data whose rows have `variables` variables: if `model` has levels and one variable
 * more, the model of sali_levels_create over x; else `model` itself, held. Returns: as
 * sali_levels_create. */
sal_status sali_levels_for_rows(sal_model *model, int64_t variables, sal_model **out,
                                sal_error *err);

/* The levels of a model made by sali_levels_create; NULL for any other model. */
const sali_levels *sali_model_levels(const sal_model *model);

/* Copy the values of the joint model's parameters to all levels. Returns: SAL_ERR_MEMORY. */
sal_status sali_levels_share_params(const sali_levels *levels, sal_error *err);

#endif
