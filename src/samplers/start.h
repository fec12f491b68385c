/* SPDX-License-Identifier: MIT */
/* Starting states: given or drawn, repaired until f is finite.
 *
 * Repair uses the feasibility model, whose f is minus the number of forbidden table entries that a
 * state selects; plain search on f = -inf would have no direction. Gibbs sweeps over this model
 * follow the changes of single variables, at an inverse temperature that rises and falls, until f
 * is finite. Models that are -inf without tables (sal_at_most) have no feasibility model: there
 * random states are tried, and the caller does better to give a start. */
#ifndef SALI_START_H
#define SALI_START_H

#include "samplers/sampler.h"

/* Fill the codes of all chains of a shard with states of finite f and embed them. `init` [n x V] of
 * the model's own space, or NULL for drawn states: in the order of the parents in a Bayesian
 * network (completion.h), else random. `guide` is the model's feasibility model or NULL. Returns:
 * SAL_ERR_MODEL when no such state is found, naming forbidden factors. */
sal_status sali_start(sali_chains *chains, const int32_t *init, const sal_model *guide,
                      sal_error *err);

/* sali_start in steps, for callers who may want to stop early: create a search, step until the
 * search is over, and take its status. `init` and `guide` stay the caller's. A step costs as much
 * as a sweep over the variables of the shard's chains. After an early stop, states may have f =
 * -inf. */
typedef struct sali_start_search sali_start_search;
sal_status sali_start_search_create(sali_chains *chains, const int32_t *init,
                                    const sal_model *guide, sali_start_search **out,
                                    sal_error *err);
bool sali_start_search_step(sali_start_search *search); /* whether it is over */
sal_status sali_start_search_status(const sali_start_search *search, sal_error *err);
void sali_start_search_destroy(sali_start_search *search); /* NULL is fine */

/* Uniformly random codes of one state, from a stream; counts without a cap are 0 to 9. */
void sali_random_codes(const sal_space *space, const sali_stream *stream, int32_t *codes);

#endif
