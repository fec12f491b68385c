#include "samplers/sum_tree.h"

#include <string.h>

#include "core/clones.h"

enum { FAN = SALI_SUM_TREE_FAN };

sali_sum_tree sali_sum_tree_shape(int64_t n)
{
    sali_sum_tree tree = { .n = n };
    int64_t count = n;
    for (;;) {
        tree.first[tree.depth] = tree.size;
        tree.size += (count + FAN - 1) / FAN * FAN;
        if (count == 1) {
            return tree;
        }
        count = (count + FAN - 1) / FAN;
        tree.depth++;
    }
}

static inline double sum_of(const double *children)
{
    double part[4] = { 0 };
    for (int k = 0; k < FAN; k += 4) {
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
        count = (count + FAN - 1) / FAN;
        for (int64_t k = 0; k < count; k++) {
            nodes[tree->first[level + 1] + k] = sum_of(below + FAN * k);
        }
    }
}

SALI_CLONES
static void set(const sali_sum_tree *tree, double *nodes, int64_t k, int32_t *leaf,
                const double *weight)
{
    for (int64_t j = 0; j < k; j++) {
        nodes[leaf[j]] = weight[j];
    }
    for (int level = 0; level < tree->depth; level++) {
        const double *below = nodes + tree->first[level];
        double *here = nodes + tree->first[level + 1];
        int64_t parents = 0;
        for (int64_t j = 0; j < k; j++) {
            int32_t parent = leaf[j] / FAN;
            if (parents == 0 || leaf[parents - 1] != parent) {
                leaf[parents++] = parent;
            }
        }
        k = parents;
        for (int64_t j = 0; j < k; j++) {
            here[leaf[j]] = sum_of(below + FAN * (int64_t)leaf[j]);
        }
    }
}

void sali_sum_tree_set(const sali_sum_tree *tree, double *nodes, int64_t k, int32_t *leaf,
                       const double *weight)
{
    set(tree, nodes, k, leaf, weight);
}

/* Which of four weights `rest` falls on, without branches; the sum before it is taken off. */
static inline int choose(const double *weight, double *rest)
{
    double before[4] = { 0, weight[0], weight[0] + weight[1], weight[0] + weight[1] + weight[2] };
    int k = (*rest >= before[1]) + (*rest >= before[2]) + (*rest >= before[3]);
    *rest -= before[k];
    return k;
}

/* The last child that has weight, up to `k` or else at all. */
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

/* The child on which `rest` falls; the sum before it is taken off. */
static inline int64_t descend(const double *child, double *rest)
{
    double four[4];
    for (int k = 0; k < 4; k++) {
        four[k] = (child[4 * k] + child[4 * k + 1]) + (child[4 * k + 2] + child[4 * k + 3]);
    }
    int group = choose(four, rest), chosen = 4 * group;
    chosen += choose(child + chosen, rest);
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
        for (int64_t c = 0; c < count; c++) {
            const double *child = nodes + c * tree->size + tree->first[level] + FAN * picked[c];
            if (picked[c] >= 0) {
                picked[c] = FAN * picked[c] + descend(child, &rest[c]);
            }
        }
    }
}

int64_t sali_sum_tree_pick(const sali_sum_tree *tree, const double *nodes, double u)
{
    int64_t picked;
    sali_sum_tree_pick_each(tree, 1, nodes, &u, &picked);
    return picked;
}
