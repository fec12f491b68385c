/* SPDX-License-Identifier: MIT */
/* Which variables are in a term of f together, found by inspecting the tape; and classes of
 * variables that are not, so that the variables of a class are independent given all others. */
#ifndef SALI_INTERACTIONS_H
#define SALI_INTERACTIONS_H

#include "models/model.h"

/* The neighbours of variable v are neighbour[begin[v]] .. neighbour[begin[v + 1] - 1]: f is a sum
 * of terms, and any two variables that are not neighbours are in no term together. Neighbours may
 * be listed that never matter; none is left out, whatever the values of parameters. */
typedef struct sali_interactions {
    int64_t n;
    int64_t *begin;
    int64_t *neighbour;
} sali_interactions;

/* *known becomes false, and the graph empty, if f is not a tape, has a term of all variables, or
 * has too many pairs to list. Cost: O(elements of the tape's values + pairs log pairs). */
sal_status sali_interactions_create(const sal_model *model, sali_interactions *graph, bool *known,
                                    sal_error *err);
void sali_interactions_free(sali_interactions *graph);

/* A greedy colouring in the order of the variables: colour[v] [n]; returns the number of colours,
 * -1 when out of memory. */
int64_t sali_interactions_colour(const sali_interactions *graph, int64_t *colour);

#endif
