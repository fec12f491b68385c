/* SPDX-License-Identifier: MIT */
/* Sums of many nonnegative weights of which few change at a time: a tree in which every node is the
 * sum of its children, 8 weights (one cache line) or 16 sums. Setting k weights and drawing one in
 * proportion cost O(k + log n).
 *
 * Sums are always recomputed from their children, never updated by differences: nothing drifts, and
 * weights set back to what they were leave the same bits. */
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
    int64_t first[SALI_SUM_TREE_DEPTH]; /* index of each level's first node; level 0 are the
                                           weights */
} sali_sum_tree;

/* n in 1 .. 2^31. */
sali_sum_tree sali_sum_tree_shape(int64_t n);

/* Compute all sums of the weights nodes[0 .. n - 1]; zeros the padding between levels. */
void sali_sum_tree_build(const sali_sum_tree *tree, double *nodes);

/* Set k weights, at `leaf`, and the sums above them. Overwrites `leaf`; it is faster if neighbours
 * in `leaf` are near each other. */
void sali_sum_tree_set(const sali_sum_tree *tree, double *nodes, int64_t k, int32_t *leaf,
                       const double *weight);

static inline double sali_sum_tree_total(const sali_sum_tree *tree, const double *nodes)
{
    return nodes[tree->first[tree->depth]];
}

/* Prefetch what setting this weight will read: the weight, and the siblings of the sum above it. */
static inline void sali_sum_tree_fetch(const sali_sum_tree *tree, const double *nodes, int64_t leaf)
{
    int64_t siblings = leaf / (SALI_SUM_TREE_WEIGHTS * SALI_SUM_TREE_SUMS) * SALI_SUM_TREE_SUMS;
    const double *sums = nodes + (tree->depth > 0 ? tree->first[1] + siblings : 0);
    sali_fetch(nodes + leaf);
    sali_fetch(sums);
    sali_fetch(sums + SALI_SUM_TREE_SUMS / 2);
}

/* For each of `count` trees of one shape, at most SALI_SUM_TREE_PICKS: the index of the weight that
 * u[c] in (0, 1) selects, which is positive; -1 if all are 0. Tree c is at nodes + c * tree->size.
 * The trees are descended together, so that they wait for memory together. */
#define SALI_SUM_TREE_PICKS 32
void sali_sum_tree_pick_each(const sali_sum_tree *tree, int64_t count, const double *nodes,
                             const double *u, int64_t *picked);

#endif
