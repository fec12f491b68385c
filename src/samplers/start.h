/* SPDX-License-Identifier: MIT */
/* Starting states: given or random, repaired until f is finite. */
#ifndef SALI_START_H
#define SALI_START_H

#include "samplers/sampler.h"

/* Fill the codes of all chains of a shard with states of finite f and embed them. `init` [n x V] of
 * the model's own space, or NULL for random states; `guide` is the model's feasibility model or
 * NULL. Returns: SAL_ERR_MODEL when no such state is found, naming forbidden factors. */
sal_status sali_start(sali_chains *chains, const int32_t *init, const sal_model *guide,
                      sal_error *err);

/* Uniformly random codes of one state, from a stream; counts without a cap are 0 to 9. */
void sali_random_codes(const sal_space *space, const sali_stream *stream, int32_t *codes);

#endif
