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

#endif
