/* SPDX-License-Identifier: MIT */
/* A model with some variables fixed. */
#ifndef SALI_CLAMP_H
#define SALI_CLAMP_H

#include "models/model.h"

/* The model inside a clamped one; any other model is its own. */
const sal_model *sali_clamp_inner(const sal_model *model);

/* `inner` with those variables fixed that are fixed in `clamped`, whose inner model has the same
 * space. */
sal_status sali_clamp_alike(const sal_model *clamped, sal_model *inner, sal_model **out,
                            sal_error *err);

/* Full codes [chains x V of the inner model] of codes of `model` [chains x its V]; a plain copy for
 * a model that is not clamped. */
void sali_clamp_expand(const sal_model *model, int64_t chains, const int32_t *codes, int32_t *full);

/* The free variables' codes of full codes: the inverse of expand, clamped ones dropped. */
void sali_clamp_restrict(const sal_model *model, int64_t chains, const int32_t *full,
                         int32_t *codes);

/* The inner model's index of a variable of `model`, and of each of them [V]. */
int64_t sali_clamp_variable(const sal_model *model, int64_t v);
void sali_clamp_variables(const sal_model *model, int64_t *original);

/* By the inner model's variables: `index` in `model`, -1 for clamped ones; `code` of a clamped one,
 * 0 of others. Returns: SAL_ERR_MEMORY. */
sal_status sali_clamp_index(const sal_model *model, int32_t *index, int32_t *code);

/* Marginals of all variables of the inner model from those of the free ones: of clamped ones 1 at
 * their code and 0 elsewhere. Returns: SAL_ERR_MEMORY. */
sal_status sali_clamp_marginals(const sal_model *model, const double *free_ones, double *all);

#endif
