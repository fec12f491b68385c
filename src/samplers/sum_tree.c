/* SPDX-License-Identifier: MIT */
#include "samplers/sum_tree.h"

#include <string.h>

#include "core/vector/clones.h"

/* Number of children of a node whose children are at `level`. */
static inline int fan_of(int level)
{
    return level == 0 ? SALI_SUM_TREE_WEIGHTS : SALI_SUM_TREE_SUMS;
}

/* Levels begin at cache lines, and so do trees that follow one another. */
enum { ALIGN = SALI_SUM_TREE_SUMS };

sali_sum_tree sali_sum_tree_shape(int64_t n)
{
    sali_sum_tree tree = { .n = n };
    int64_t count = n;
    for (;;) {
        tree.first[tree.depth] = tree.size;
        tree.size += (count + ALIGN - 1) / ALIGN * ALIGN;
        if (count == 1) {
            return tree;
        }
        int fan = fan_of(tree.depth++);
        count = (count + fan - 1) / fan;
    }
}

/* The sum of `fan` numbers (a multiple of 4), always in the same order. */
static inline double sum_of(const double *children, int fan)
{
    double part[4] = { 0 };
    for (int k = 0; k < fan; k += 4) {
        for (int j = 0; j < 4; j++) {
            part[j] += children[k + j];
        }
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
}

void sali_sum_tree_build(const sali_sum_tree *tree, double *nodes)
{
    int64_t count = tree->n;
    memset(nodes + count, 0, (size_t)(tree->size - count) * sizeof *nodes);
    for (int level = 0; level < tree->depth; level++) {
        const double *below = nodes + tree->first[level];
        int fan = fan_of(level);
        count = (count + fan - 1) / fan;
        for (int64_t k = 0; k < count; k++) {
            nodes[tree->first[level + 1] + k] = sum_of(below + fan * k, fan);
        }
    }
}

/* Recompute the sums above k nodes of a level, listed in `node`; the list becomes that of their
 * parents, whose number is returned. */
static inline int64_t set_above(const sali_sum_tree *tree, double *nodes, int level, int fan,
                                int64_t k, int32_t *node)
{
    const double *below = nodes + tree->first[level];
    double *here = nodes + tree->first[level + 1];
    int64_t parents = 0;
    for (int64_t j = 0; j < k; j++) {
        int32_t parent = node[j] / fan;
        if (parents == 0 || node[parents - 1] != parent) {
            node[parents++] = parent;
        }
    }
    for (int64_t j = 0; j < parents; j++) {
        here[node[j]] = sum_of(below + fan * (int64_t)node[j], fan);
    }
    return parents;
}

/* sali_sum_tree_set, as a static function so that its clones are not exported. */
SALI_CLONES
static void set_weights(const sali_sum_tree *tree, double *nodes, int64_t k, int32_t *leaf,
                        const double *weight)
{
    for (int64_t j = 0; j < k; j++) {
        nodes[leaf[j]] = weight[j];
    }
    k = set_above(tree, nodes, 0, SALI_SUM_TREE_WEIGHTS, k, leaf);
    for (int level = 1; level < tree->depth; level++) {
        k = set_above(tree, nodes, level, SALI_SUM_TREE_SUMS, k, leaf);
    }
}

void sali_sum_tree_set(const sali_sum_tree *tree, double *nodes, int64_t k, int32_t *leaf,
                       const double *weight)
{
    set_weights(tree, nodes, k, leaf, weight);
}

/* Which of four weights `rest` falls on, without branches; the sum of the weights before it is
 * subtracted from *rest. */
static inline int choose_of_four(const double *weight, double *rest)
{
    double before[4] = { 0, weight[0], weight[0] + weight[1], weight[0] + weight[1] + weight[2] };
    int k = (*rest >= before[1]) + (*rest >= before[2]) + (*rest >= before[3]);
    *rest -= before[k];
    return k;
}

/* The last child with positive weight among 0 .. k, or else the first after k. */
static int with_weight(const double *child, int k)
{
    int last = k;
    while (last >= 0 && !(child[last] > 0)) {
        last--;
    }
    for (int j = k + 1; last < 0; j++) {
        last = child[j] > 0 ? j : -1;
    }
    return last;
}

/* The child on which *rest falls, among 4 `fours` children; the sum of the children before it is
 * subtracted from *rest. */
static inline int64_t choose_child(const double *child, int fours, double *rest)
{
    double four[4] = { 0 };
    for (int k = 0; k < fours; k++) {
        four[k] = (child[4 * k] + child[4 * k + 1]) + (child[4 * k + 2] + child[4 * k + 3]);
    }
    int group = fours == 2 ? *rest >= four[0] : choose_of_four(four, rest), chosen = 4 * group;
    *rest -= fours == 2 && group ? four[0] : 0;
    chosen += choose_of_four(child + chosen, rest);
    if (!(child[chosen] > 0)) { /* rounding carried the sum past the one that was meant */
        chosen = with_weight(child, chosen);
    }
    return chosen;
}

void sali_sum_tree_pick_each(const sali_sum_tree *tree, int64_t count, const double *nodes,
                             const double *u, int64_t *picked)
{
    double rest[SALI_SUM_TREE_PICKS];
    for (int64_t c = 0; c < count; c++) {
        double total = sali_sum_tree_total(tree, nodes + c * tree->size);
        rest[c] = u[c] * total;
        picked[c] = total > 0 ? 0 : -1;
    }
    for (int level = tree->depth - 1; level >= 0; level--) {
        const int fan = fan_of(level);
        for (int64_t c = 0; c < count; c++) {
            const double *child = nodes + c * tree->size + tree->first[level] + fan * picked[c];
            if (picked[c] >= 0) {
                picked[c] = fan * picked[c] + choose_child(child, fan / 4, &rest[c]);
            }
        }
    }
}
