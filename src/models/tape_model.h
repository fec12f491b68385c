/* SPDX-License-Identifier: MIT */
/* A model made of a tape: its program and parameters. */
#ifndef SALI_TAPE_MODEL_H
#define SALI_TAPE_MODEL_H

#include "ad/params.h"
#include "models/model.h"

typedef struct sali_tape_model {
    sali_program *program;
    sali_params *params;
} sali_tape_model;

/* NULL when the model (or the model that it clamps) is not a tape. */
sali_tape_model *sali_model_tape(const sal_model *model);

/* The formula of a program as a tape, to go on recording; NULL when out of memory. */
sal_tape *sali_tape_reopen(const sali_program *program);
/* The same over another space, whose state a rewriter is to put in the place of the program's. */
sal_tape *sali_tape_reopen_over(const sali_program *program, const sal_space *space);

/* Another model of the same tape, with the same values of parameters, which are its own. */
sal_status sali_tape_model_copy(const sal_model *of, sal_model **out, sal_error *err);
/* The same with the canonical extension off the lattice (SAL_PASS_CANONICAL). */
sal_status sali_tape_model_canonical(const sal_model *of, sal_model **out, sal_error *err);

/* The same in double precision, clamped as `of` is, and with f less its additive constants, beside
 * which slopes would lose digits; NULL, with SAL_OK, if `of` is no tape. */
sal_status sali_tape_model_bare(const sal_model *of, sal_model **out, sal_error *err);

/* What f is the sum of besides what is computed for each state, and has no rounding of the model's
 * type; 0 of a model that is no tape. */
double sali_model_offset(const sal_model *model);

#endif
