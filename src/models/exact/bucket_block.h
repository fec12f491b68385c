/* SPDX-License-Identifier: MIT */
/* Tables broadcast over blocks of a clique's table. A block spans the last axes of the clique. An
 * operand is a table over some of the clique's axes, in the same order; the entries of a block use
 * its entries in one of three ways. */
#ifndef SALI_BUCKET_BLOCK_H
#define SALI_BUCKET_BLOCK_H

#include "models/exact/bucket_tree.h"

typedef enum sali_operand_reach {
    SALI_REACH_WHOLE, /* the operand has all axes of the block: entry j of the block uses entry j */
    SALI_REACH_NONE,  /* the operand has none of these axes: all entries use entry 0 */
    SALI_REACH_SOME   /* entry j of the block uses entry map[j] */
} sali_operand_reach;

/* How many of the last of n axes make a block of at most `most` entries: at least one, if n > 0.
 * *size is the number of entries of the block. */
int32_t sali_block_axes(int32_t n, const int32_t *states, int64_t most, int64_t *size);

/* Set strides [n_clique] to the strides of the clique's axes in a table over `scope`, 0 for axes
 * that the table lacks. `clique` and `scope` are places, ascending, and the scope is a part of the
 * clique. Returns the number of entries of the table. */
int64_t sali_block_strides(const sali_bucket_tree *tree, int32_t n_clique, const int32_t *clique,
                           int32_t n_scope, const int32_t *scope, int64_t *strides);

/* How the entries of a block use a table, by the states and the table's strides of the block's n
 * axes. `map` [size], size being the entries of the block, is filled for SALI_REACH_SOME. */
sali_operand_reach sali_block_reach(int32_t n, const int32_t *states, const int64_t *strides,
                                    int64_t size, int32_t *map);

/* Offset of entry number `at`, counted over n axes with the last fastest, in a table with these
 * strides. */
static inline int64_t sali_block_offset(int64_t at, int32_t n, const int32_t *states,
                                        const int64_t *strides)
{
    int64_t offset = 0;
    for (int32_t a = n - 1; a >= 0; a--) {
        offset += at % states[a] * strides[a];
        at /= states[a];
    }
    return offset;
}

#endif
