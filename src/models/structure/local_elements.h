/* SPDX-License-Identifier: MIT */
/* Elements of a formula's nodes as tables over the few variables that they depend on, filled by
 * running the formula: elements without common variables get an entry each from one replay. */
#ifndef SALI_LOCAL_ELEMENTS_H
#define SALI_LOCAL_ELEMENTS_H

#include "models/structure/scopes.h"

typedef struct sali_element {
    int32_t node, n; /* of n variables */
    int64_t k;
    int64_t scope; /* index in `scope` of its first variable; the model's variables, ascending */
    int64_t table; /* index in `tables` of its first entry, the last variable fastest */
    int64_t size;
} sali_element;

typedef struct sali_elements {
    const sal_model *model;
    const sali_scopes *scopes;
    const int32_t *free; /* [variables of the tape] the model's variable, -1: it has one code */
    int64_t **number;    /* [n_nodes] NULL or [size] 1 + the index of each element, 0: none */
    double most;         /* bound on the entries of all tables */
    int64_t steps;       /* bound on the values that filling the tables computes */
    int64_t n, room;
    sali_element *element;
    int64_t n_scopes, scopes_room;
    int32_t *scope;
    int64_t n_tables;
    double *tables;
} sali_elements;

/* Ask for a table of element k of a node that varies and lists its scopes. Returns:
 * SAL_ERR_UNSUPPORTED when the table would be too large, SAL_ERR_MEMORY; no messages. */
sal_status sali_elements_ask(sali_elements *elements, int32_t node, int64_t k);

/* The least number of values that filling the tables computes. */
double sali_elements_effort(const sali_elements *elements);

/* Fill the tables of all elements that were asked for. base [variables of the tape]: codes; the
 * codes of free variables do not matter.
 * Returns: SAL_ERR_UNSUPPORTED when filling takes too many replays, SAL_ERR_MEMORY; no messages. */
sal_status sali_elements_fill(sali_elements *elements, const int32_t *base);

/* Element k of a node, which was asked for before. */
const sali_element *sali_elements_find(const sali_elements *elements, int32_t node, int64_t k);

void sali_elements_free(sali_elements *elements);

#endif
