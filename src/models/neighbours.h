/* SPDX-License-Identifier: MIT */
/* Values of f at neighbours (states that differ in a few variables), evaluated in full batches
 * whatever the number of chains they belong to, or tried on a tracker. */
#ifndef SALI_NEIGHBOURS_H
#define SALI_NEIGHBOURS_H

#include "models/tracker.h"

typedef struct sali_neighbours sali_neighbours;

/* For calls with up to `chains` chains. By a tracker that follows them, which is not owned; with
 * NULL in a workspace of its own, for values only, with SALI_WANT_NO_LIMITS in `wants` without
 * limits. */
sal_status sali_neighbours_create(const sal_model *model, int64_t chains, unsigned wants,
                                  sali_tracker *tracker, sali_neighbours **out, sal_error *err);
void sali_neighbours_destroy(void *neighbours); /* NULL is fine */

/* Begin a list of neighbours of the states `codes` [chains x V], whose embedding is x; a tracker
 * is at these states already, and reads neither. What is found goes to `out`, of type `dtype`:
 * f(neighbour) - f of its chain, or f(neighbour) when f is NULL. All four stay as they are until
 * the list ends. */
void sali_neighbours_begin(sali_neighbours *nb, const int32_t *codes, const void *x,
                           const double *f, sal_dtype dtype, void *out);

/* The neighbour of chain c with variable v at `code`: its result goes to out[to], at the latest
 * when the list ends. */
void sali_neighbours_add(sali_neighbours *nb, int64_t c, int64_t v, int32_t code, int64_t to);
/* The same with n variables, distinct, set to codes[0 .. n - 1]. */
void sali_neighbours_add_several(sali_neighbours *nb, int64_t c, int64_t n, const int64_t *sites,
                                 const int32_t *codes, int64_t to);
void sali_neighbours_end(sali_neighbours *nb);

#endif
