/* SPDX-License-Identifier: MIT */
/* Elements of a formula's nodes as tables over the few variables that they depend on, found by
 * running the formula: one replay fills an entry of every element whose variables no other has. */
#ifndef SALI_LOCAL_ELEMENTS_H
#define SALI_LOCAL_ELEMENTS_H

#include "models/structure/scopes.h"

typedef struct sali_element {
    int32_t node, n; /* of n variables */
    int64_t k;
    int64_t scope; /* index of the first of its variables, the model's, ascending */
    int64_t table; /* index of its first entry, the last variable fastest */
    int64_t size;
} sali_element;

typedef struct sali_elements {
    const sal_model *model;
    const sali_scopes *scopes;
    const int32_t *free; /* by the tape's variable: the model's, -1 for those with one code */
    int64_t **number;    /* by node: [size] 1 + the element's index, 0 for none; or NULL */
    double most;         /* entries of all tables */
    int64_t steps;       /* values that filling them may compute */
    int64_t n, room;
    sali_element *element;
    int64_t n_scopes, scopes_room;
    int32_t *scope;
    int64_t n_tables;
    double *tables;
} sali_elements;

/* Ask for element k of a node that varies and lists its scopes. Returns: SAL_ERR_UNSUPPORTED when
 * its table would be too large, SAL_ERR_MEMORY; no messages. */
sal_status sali_elements_ask(sali_elements *elements, int32_t node, int64_t k);

/* The least number of values that filling the tables computes. */
double sali_elements_effort(const sali_elements *elements);

/* Fill the tables of all that were asked for. `base` are codes of all of the tape's variables.
 * Returns: SAL_ERR_UNSUPPORTED when that takes too many replays, SAL_ERR_MEMORY; no messages. */
sal_status sali_elements_fill(sali_elements *elements, const int32_t *base);

/* The element that was asked for. */
const sali_element *sali_elements_find(const sali_elements *elements, int32_t node, int64_t k);

void sali_elements_free(sali_elements *elements);

#endif
