/* SPDX-License-Identifier: MIT */
/* A model made of a tape: its program and parameters. */
#ifndef SALI_TAPE_MODEL_H
#define SALI_TAPE_MODEL_H

#include "ad/params.h"
#include "models/model.h"

typedef struct sali_tape_model {
    sali_program *program;
    sali_params *params;
    _Atomic int64_t users; /* of the parameters (sali_model_use); -1: they are being set */
} sali_tape_model;

/* A model of f, recorded on `tape`, as sal_model_from_tape makes one, but without a structure
 * (models/structure.h). */
sal_status sali_tape_model_create(const sal_tape *tape, sal_expr f, sal_model **model,
                                  sal_error *err);

/* The tape of `model`, or of its inner model if it is clamped; NULL if there is none. */
sali_tape_model *sali_model_tape(const sal_model *model);

/* Until sali_model_release, sal_model_set_params refuses to change the model's parameters: chains,
 * sums and caches would be of two models. Any number of threads may use a model at once. */
void sali_model_use(const sal_model *model);
void sali_model_release(const sal_model *model);

/* Number of nodes of an operation in the program that a tape model runs, after its passes. 0 for an
 * operation that does not occur, and for a model that is no tape. */
int64_t sali_model_operations(const sal_model *model, const char *op);

/* The sum of the constants that were split off the formula of f: it is added in double precision,
 * and not rounded to the model's type. 0 for a model that is no tape. */
double sali_model_offset(const sal_model *model);

#endif
