/* SPDX-License-Identifier: MIT */
/* New tape models made from the program of a tape model. */
#ifndef SALI_TAPE_COPY_H
#define SALI_TAPE_COPY_H

#include "models/tape_model.h"

/* The formula of a program as a tape, on which more can be recorded; NULL when out of memory. */
sal_tape *sali_tape_reopen(const sali_program *program);
/* The formula of a program as a tape over another space; a rewriter must then replace the program's
 * state by the state of `space`. NULL when out of memory. */
sal_tape *sali_tape_reopen_over(const sali_program *program, const sal_space *space);

/* A model of f, recorded on a tape with the same parameters as that of `of`, which gives it its
 * name and their values. */
sal_status sali_tape_model_remake(const sal_model *of, const sal_tape *tape, sal_expr f,
                                  sal_model **out, sal_error *err);

/* A model of the same tape, without clamps, with parameters of its own at the same values. */
sal_status sali_tape_model_copy(const sal_model *of, sal_model **out, sal_error *err);
/* sali_tape_model_copy, but with the canonical extension off the lattice (SAL_PASS_CANONICAL). */
sal_status sali_tape_model_canonical(const sal_model *of, sal_model **out, sal_error *err);

/* A copy in double precision, clamped as `of` is, without the additive constants of f: beside large
 * constants, slopes would lose digits. *out is NULL, with SAL_OK, if `of` is no tape. */
sal_status sali_tape_model_bare(const sal_model *of, sal_model **out, sal_error *err);

#endif
