/* SPDX-License-Identifier: MIT */
/* Sums of many nonnegative weights of which few change at a time: a tree in which every node is the
 * sum of its children, 8 weights (one cache line) or 16 sums. Setting k weights and drawing one in
 * proportion cost O(k + log n).
 *
 * Sums are always made of their children anew, never by differences: nothing drifts, and weights
 * set back to what they were leave the same bits. */
#ifndef SALI_SUM_TREE_H
#define SALI_SUM_TREE_H

#include <stdint.h>

#include "core/vector/fetch.h"

#define SALI_SUM_TREE_WEIGHTS 8
#define SALI_SUM_TREE_SUMS 16
#define SALI_SUM_TREE_DEPTH 9

/* The shape of trees of n weights; the numbers are in arrays of `size` doubles, the weights first.
 */
typedef struct sali_sum_tree {
    int64_t n, size;
    int depth;                          /* levels above the weights */
    int64_t first[SALI_SUM_TREE_DEPTH]; /* of each level's nodes, the weights' level included */
} sali_sum_tree;

/* n in 1 .. 2^31. */
sali_sum_tree sali_sum_tree_shape(int64_t n);

/* All sums of the weights nodes[0 .. n - 1]; what lies between levels is zeroed. */
void sali_sum_tree_build(const sali_sum_tree *tree, double *nodes);

/* Set k weights and the sums above them. `leaf` is overwritten; neighbours in it had better be
 * near each other. */
void sali_sum_tree_set(const sali_sum_tree *tree, double *nodes, int64_t k, int32_t *leaf,
                       const double *weight);

static inline double sali_sum_tree_total(const sali_sum_tree *tree, const double *nodes)
{
    return nodes[tree->first[tree->depth]];
}

/* What setting this weight will read from far away: it, and the sums beside the one above it. */
static inline void sali_sum_tree_fetch(const sali_sum_tree *tree, const double *nodes, int64_t leaf)
{
    int64_t siblings = leaf / (SALI_SUM_TREE_WEIGHTS * SALI_SUM_TREE_SUMS) * SALI_SUM_TREE_SUMS;
    const double *sums = nodes + (tree->depth > 0 ? tree->first[1] + siblings : 0);
    sali_fetch(nodes + leaf);
    sali_fetch(sums);
    sali_fetch(sums + SALI_SUM_TREE_SUMS / 2);
}

/* The weight that u[c] in (0, 1) selects in each of `count` trees of one shape, at most
 * SALI_SUM_TREE_PICKS: never one that is 0, -1 if all are. Tree c is at nodes + c * tree->size.
 * They are descended together, so that they wait for memory together. */
#define SALI_SUM_TREE_PICKS 32
void sali_sum_tree_pick_each(const sali_sum_tree *tree, int64_t count, const double *nodes,
                             const double *u, int64_t *picked);

#endif
