/* SPDX-License-Identifier: MIT */
/* Names of the variables of a model and of their states, if the file that the model was made of has
 * any. */
#ifndef SALI_NAMES_H
#define SALI_NAMES_H

#include "models/content.h"

typedef struct sal_model sal_model;

typedef struct sali_names {
    int64_t variables;
    char **names;        /* [variables], or NULL */
    int32_t *states;     /* [variables] */
    char ***state_names; /* [variables][states], or NULL */
} sali_names;

/* Move the names of `graph`, if it has any, to `model`, which has the same variables. Returns:
 * SAL_ERR_MEMORY; the graph then keeps its names. */
sal_status sali_names_move(sali_factor_graph *graph, sal_model *model, sal_error *err);

#endif
