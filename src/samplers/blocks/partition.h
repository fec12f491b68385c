/* SPDX-License-Identifier: MIT */
/* Partitions of the variables into blocks, and how a sweep goes through them. */
#ifndef SALI_PARTITION_H
#define SALI_PARTITION_H

#include "models/model.h"

/* How a sweep goes through blocks: as they are numbered, in a new order, or after new blocks of the
 * same sizes were made of all variables in a new order. */
typedef enum sali_sweep {
    SALI_SWEEP_IN_TURN,
    SALI_SWEEP_SHUFFLED,
    SALI_SWEEP_REGROUPED
} sali_sweep;

/* Disjoint blocks that together have all variables. */
typedef struct sali_blocks {
    int64_t n;
    int64_t *begin; /* [n + 1] into sites */
    int64_t *sites; /* [V] */
    sali_sweep sweep;
} sali_blocks;

/* Blocks of `size` consecutive variables, the last perhaps smaller; of any variables, regrouped in
 * every sweep (`sites` begins with those of most states); the model's groups (models/structure.h),
 * which it must have. */
sal_status sali_blocks_consecutive(const sal_space *space, int64_t size, sali_blocks *blocks,
                                   sal_error *err);
sal_status sali_blocks_random(const sal_space *space, int64_t size, sali_blocks *blocks,
                              sal_error *err);
sal_status sali_blocks_of_model(const sal_model *model, sali_blocks *blocks, sal_error *err);

/* Take them in a new order in every sweep; nothing to do if they are regrouped. */
static inline void sali_blocks_shuffle(sali_blocks *blocks, bool shuffled)
{
    if (shuffled && blocks->sweep == SALI_SWEEP_IN_TURN) {
        blocks->sweep = SALI_SWEEP_SHUFFLED;
    }
}

void sali_blocks_free(void *blocks);

#endif
