/* SPDX-License-Identifier: MIT */
/* A model with some variables fixed. */
#ifndef SALI_CLAMP_H
#define SALI_CLAMP_H

#include "models/model.h"

/* A clamped model as sal_model_clamp makes one, but without a structure (models/structure.h). */
sal_status sali_clamp_create(sal_model *model, int64_t n, const int64_t *variables,
                             const int32_t *codes, sal_model **clamped, sal_error *err);

/* The inner model of a clamped model; `model` itself if it is not clamped. */
const sal_model *sali_clamp_inner(const sal_model *model);

/* A clamped model of `inner`, without a structure, with the same variables fixed to the same codes
 * as in `clamped`. `inner` has the same space as the inner model of `clamped`. */
sal_status sali_clamp_alike(const sal_model *clamped, sal_model *inner, sal_model **out,
                            sal_error *err);

/* Write the codes of all variables of the inner model, full [chains x inner V], given codes [chains
 * x V] of `model`. A copy of `codes` if `model` is not clamped. */
void sali_clamp_expand(const sal_model *model, int64_t chains, const int32_t *codes, int32_t *full);

/* Write the codes of the free variables, codes [chains x V], given full [chains x inner V]: the
 * inverse of sali_clamp_expand. */
void sali_clamp_restrict(const sal_model *model, int64_t chains, const int32_t *full,
                         int32_t *codes);

/* The inner model's index of variable v of `model`; sali_clamp_variables: of each variable,
 * original [V]. */
int64_t sali_clamp_variable(const sal_model *model, int64_t v);
void sali_clamp_variables(const sal_model *model, int64_t *original);

/* For each variable of the inner model: `index` is its index in `model`, or -1 if it is fixed;
 * `code` is its code if it is fixed, else 0. Returns: SAL_ERR_MEMORY. */
sal_status sali_clamp_index(const sal_model *model, int32_t *index, int32_t *code);

/* Marginals `all` of all variables of the inner model, from the marginals `free_ones` of the free
 * variables. A fixed variable has 1 at its code and 0 elsewhere. Returns: SAL_ERR_MEMORY. */
sal_status sali_clamp_marginals(const sal_model *model, const double *free_ones, double *all);

#endif
