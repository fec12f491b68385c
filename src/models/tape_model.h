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

/* The tape of `model`, or of its inner model if it is clamped; NULL if there is none. */
sali_tape_model *sali_model_tape(const sal_model *model);

/* The formula of a program as a tape, on which more can be recorded; NULL when out of memory. */
sal_tape *sali_tape_reopen(const sali_program *program);
/* The formula of a program as a tape over another space; a rewriter must then replace the program's
 * state by the state of `space`. NULL when out of memory. */
sal_tape *sali_tape_reopen_over(const sali_program *program, const sal_space *space);

/* A model of the same tape, without clamps, with parameters of its own at the same values. */
sal_status sali_tape_model_copy(const sal_model *of, sal_model **out, sal_error *err);
/* sali_tape_model_copy, but with the canonical extension off the lattice (SAL_PASS_CANONICAL). */
sal_status sali_tape_model_canonical(const sal_model *of, sal_model **out, sal_error *err);

/* A copy in double precision, clamped as `of` is, without the additive constants of f: beside large
 * constants, slopes would lose digits. *out is NULL, with SAL_OK, if `of` is no tape. */
sal_status sali_tape_model_bare(const sal_model *of, sal_model **out, sal_error *err);

/* Number of nodes of an operation in the program that a tape model runs, after its passes. 0 for an
 * operation that does not occur, and for a model that is no tape. */
int64_t sali_model_operations(const sal_model *model, const char *op);

/* The sum of the constants that were split off the formula of f: it is added in double precision,
 * and not rounded to the model's type. 0 for a model that is no tape. */
double sali_model_offset(const sal_model *model);

#endif
