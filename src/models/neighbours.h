/* SPDX-License-Identifier: MIT */
/* Values of f at neighbours (states that differ in a few variables), evaluated in full batches
 * whatever the number of chains they belong to, or tried on a tracker. */
#ifndef SALI_NEIGHBOURS_H
#define SALI_NEIGHBOURS_H

#include "models/tracker.h"

typedef struct sali_neighbours sali_neighbours;

/* For lists over up to `chains` chains. Neighbours are tried on `tracker`, which follows the chains
 * and is not owned. If it is NULL, they are evaluated in a workspace owned by the list, without
 * hard limits if `wants` has SALI_WANT_NO_LIMITS. */
sal_status sali_neighbours_create(const sal_model *model, int64_t chains, unsigned wants,
                                  sali_tracker *tracker, sali_neighbours **out, sal_error *err);
void sali_neighbours_destroy(void *neighbours); /* NULL is fine */

/* Begin a list of neighbours of the states `codes` [chains x V], whose embedding is x. A tracker
 * must be at these states already; codes and x are then not read. Results go to `out`, of type
 * `dtype`: f(neighbour) - f of its chain, or f(neighbour) when f is NULL. The caller keeps all four
 * arrays unchanged until the list ends. */
void sali_neighbours_begin(sali_neighbours *nb, const int32_t *codes, const void *x,
                           const double *f, sal_dtype dtype, void *out);

/* Add the neighbour of chain c with variable v at `code`. Its result is stored in out[to], at the
 * latest when the list ends. */
void sali_neighbours_add(sali_neighbours *nb, int64_t c, int64_t v, int32_t code, int64_t to);
/* Add the neighbour of chain c with the n distinct variables `sites` at codes[0 .. n - 1]. */
void sali_neighbours_add_several(sali_neighbours *nb, int64_t c, int64_t n, const int64_t *sites,
                                 const int32_t *codes, int64_t to);
void sali_neighbours_end(sali_neighbours *nb);

#endif
