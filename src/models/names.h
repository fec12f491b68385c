/* SPDX-License-Identifier: MIT */
/* What the variables of a model and their states are called, where the file that it was made of
 * says so. */
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

/* Move the names of a graph, if it has any, to a model of its variables. MEMORY: then the graph
 * keeps them. */
sal_status sali_names_move(sali_factor_graph *graph, sal_model *model, sal_error *err);

void sali_names_destroy(sali_names *names); /* NULL is fine */

#endif
