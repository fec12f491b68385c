/* SPDX-License-Identifier: MIT */
/* Tables broadcast over blocks of a clique's table. The last axes of a clique make a block; an
 * operand, whose axes are some of the clique's in the same order, meets each block in one of three
 * ways. */
#ifndef SALI_BUCKET_BLOCK_H
#define SALI_BUCKET_BLOCK_H

#include "models/exact/bucket_tree.h"

typedef enum sali_reach {
    SALI_REACH_WHOLE, /* it has all of the block's axes: entry j of the block meets its entry j */
    SALI_REACH_NONE,  /* none of them: all meet entry 0 */
    SALI_REACH_SOME   /* entry j meets entry map[j] */
} sali_reach;

/* How many of the last axes make a block of at most `most` entries, one at least if there are any;
 * *size is their product. */
int32_t sali_block_axes(int32_t n, const int32_t *states, int64_t most, int64_t *size);

/* Strides in a table over `scope` of the axes of a clique, 0 where it has no such axis; both are
 * places, ascending. Returns the number of the table's entries. */
int64_t sali_block_strides(const sali_bucket_tree *tree, int32_t n_clique, const int32_t *clique,
                           int32_t n_scope, const int32_t *scope, int64_t *strides);

/* How a table meets blocks of n axes with these states and strides; `map` [block] is filled for
 * SALI_REACH_SOME. */
sali_reach sali_block_reach(int32_t n, const int32_t *states, const int64_t *strides, int64_t size,
                            int32_t *map);

/* The offset, by strides, of index number `at` over n axes, the last fastest. */
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
