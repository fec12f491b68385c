/* SPDX-License-Identifier: MIT */
/* A tracker follows chains whose variables move one at a time: exact differences of one variable,
 * and f, at the cost of what a move changes (ad/changes.h). */
#ifndef SALI_TRACKER_H
#define SALI_TRACKER_H

#include "ad/program.h"
#include "models/model.h"

typedef struct sali_tracker sali_tracker;

/* A tracker of up to `chains` chains of a model that is trackable. `wants`: 0 or
 * SALI_WANT_NO_LIMITS. */
sal_status sali_tracker_create(const sal_model *model, int64_t chains, unsigned wants,
                               sali_tracker **out, sal_error *err);
/* A tracker without gradients: cheaper if only values of tried states are needed. */
sal_status sali_tracker_create_values(const sal_model *model, int64_t chains, sali_tracker **out,
                                      sal_error *err);
void sali_tracker_destroy(void *tracker);

/* Start the first n chains at codes [n x V] by a full evaluation; f [n] receives the values, or is
 * NULL. */
void sali_tracker_start(sali_tracker *tracker, int64_t n, const int32_t *codes, double *f);

/* delta[k] = f(s') - f(s) of chain c, s' with the site at entry k (core/space.h); -inf where there
 * is no such code. */
void sali_tracker_differences(sali_tracker *tracker, int64_t c, int64_t site, double *delta);

/* f(s') - f(s) of chain c for s' with the site at code k alone, which must not be the present
 * code. */
double sali_tracker_difference(sali_tracker *tracker, int64_t c, int64_t site, int32_t k);

/* Set variable `site` of chain c to `code`. Returns f of the new state. */
double sali_tracker_move(sali_tracker *tracker, int64_t c, int64_t site, int32_t code);

/* f of chain c with the n distinct variables `sites` set to `codes`. The chain moves to that state
 * if `keep`; else it stays. */
double sali_tracker_try(sali_tracker *tracker, int64_t c, int64_t n, const int64_t *sites,
                        const int32_t *codes, bool keep);

#endif
