/* SPDX-License-Identifier: MIT */
/* Partitions of the variables into blocks, and how a sweep goes through them. */
#ifndef SALI_PARTITION_H
#define SALI_PARTITION_H

#include "models/model.h"

/* How a sweep goes through blocks: by number; in a new order every time; or after regrouping all
 * variables, in a new order, into blocks of the same sizes. */
typedef enum sali_sweep {
    SALI_SWEEP_IN_TURN,
    SALI_SWEEP_SHUFFLED,
    SALI_SWEEP_REGROUPED
} sali_sweep;

/* Disjoint blocks that together have all variables. */
typedef struct sali_blocks {
    int64_t n;
    int64_t *begin; /* [n + 1] index in `sites` of each block's first variable */
    int64_t *sites; /* [V] */
    sali_sweep sweep;
} sali_blocks;

/* consecutive: blocks of `size` consecutive variables, the last perhaps smaller. random: blocks
 * that are regrouped in every sweep (`sites` begins with the variables of most states). of_model:
 * the model's groups (models/structure.h), which the model must have. Returns: SAL_ERR_MEMORY. */
sal_status sali_blocks_consecutive(const sal_space *space, int64_t size, sali_blocks *blocks,
                                   sal_error *err);
sal_status sali_blocks_random(const sal_space *space, int64_t size, sali_blocks *blocks,
                              sal_error *err);
sal_status sali_blocks_of_model(const sal_model *model, sali_blocks *blocks, sal_error *err);

/* If `shuffled`, go through the blocks in a new order in every sweep; no effect on blocks that are
 * regrouped. */
static inline void sali_blocks_shuffle(sali_blocks *blocks, bool shuffled)
{
    if (shuffled && blocks->sweep == SALI_SWEEP_IN_TURN) {
        blocks->sweep = SALI_SWEEP_SHUFFLED;
    }
}

void sali_blocks_free(void *blocks);

#endif
