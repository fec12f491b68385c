/* SPDX-License-Identifier: MIT */
/* Exact draws of whole blocks of variables: from the target restricted to the states of a block
 * within a Hamming distance of a centre, the other variables held fixed. With a radius as large as
 * the block, this is the block's joint conditional. The states are listed and f is found for each,
 * by couplings (samplers/followed_gradient.h) or by changes (models/tracker.h) where the model
 * follows them, else in batches. Step t of a sweep draws its block t mod n_blocks: in turn, or in
 * the order of a shuffle (samplers/blocks/shuffle.h). */
#ifndef SALI_BLOCK_CONDITIONAL_H
#define SALI_BLOCK_CONDITIONAL_H

#include "models/structure/couplings.h"
#include "samplers/blocks/partition.h"
#include "samplers/sampler.h"

/* The most states of a block that are listed. */
#define SALI_BLOCK_STATES 65536

typedef struct sali_block_conditional sali_block_conditional;

/* Create an object (core/object.h), which owns `blocks` from then on, also on failure. With a
 * `radius` >= 1 below the size of a block, the block's centre is drawn uniformly from the states
 * within that distance of the present one (Titsias & Yau 2017), which is necessary to leave the
 * target invariant. `couplings` are shared, or NULL. Returns: SAL_ERR_ARGUMENT when a block has
 * more than SALI_BLOCK_STATES such states; SAL_ERR_MEMORY. */
sal_status sali_block_conditional_create(const sali_chains *chains, sali_blocks blocks,
                                         int64_t radius, sali_couplings *couplings,
                                         sali_block_conditional **out, sal_error *err);

/* Functions of engines. */
void sali_block_conditional_refresh(void *self, sali_chains *chains);
bool sali_block_conditional_follows(const void *self);
void sali_block_conditional_step(void *self, sali_chains *chains);
int64_t sali_block_conditional_pieces(const void *self, const sali_chains *chains);

/* The variables of chain 0's next step, and their number. */
const int64_t *sali_block_conditional_sites(const sali_block_conditional *b,
                                            const sali_chains *chains, int64_t *n);

/* log q(u, to | present state) of the next step, [n]; the centre `u` has an int32 code for each
 * variable of the block. With u = NULL: log q(to | present state), for blocks no larger than the
 * radius, which need no centre. */
void sali_block_conditional_log_q(void *self, sali_chains *chains, const void *u, const int32_t *to,
                                  double *log_q);

#endif
