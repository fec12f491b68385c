/* SPDX-License-Identifier: MIT */
/* Exact draws of a directed network: nodes in an order in which each has the table of its
 * conditional distributions given some earlier nodes. A node is a variable, or hidden. Draws are
 * made in blocks; within a block all draws of one node are made together, so that loops run over
 * draws.
 * Source: Dechter 1999 (draws backwards through buckets); Henrion 1988 (ancestral sampling). */
#ifndef SALI_ANCESTRAL_H
#define SALI_ANCESTRAL_H

#include "core/memory.h"

typedef struct sali_ancestral_node {
    int32_t states;
    int32_t row;     /* of its codes in a block: the variable, or one past the last variable for a
                        hidden node */
    int32_t n_given; /* earlier nodes that it depends on */
    int64_t given;   /* index of the first of them in `given` and `strides` */
    int64_t table;   /* index of its first threshold */
} sali_ancestral_node;

/* A threshold is the probability of the codes up to k times 2^64, as high and low words; a node has
 * states - 1 of them for each joint state of the nodes that it depends on, the last fastest. */
typedef struct sali_ancestral {
    sali_memory memory;
    int64_t variables, rows, n, n_given, n_thresholds;
    sali_ancestral_node *nodes; /* [n] in the order of drawing */
    int32_t *given;             /* [n_given] rows */
    int32_t *strides;           /* [n_given] in thresholds */
    uint32_t *high, *low;       /* [n_thresholds] */
} sali_ancestral;

/* The most thresholds of a node. */
#define SALI_MOST_THRESHOLDS INT32_MAX

/* Allocate a network without nodes, with room for as many as stated. `variables` counts the nodes
 * that are not hidden. Returns: SAL_ERR_MEMORY. */
sal_status sali_ancestral_create(int64_t variables, int64_t nodes, int64_t given,
                                 int64_t thresholds, sali_ancestral *net, sal_error *err);
void sali_ancestral_free(sali_ancestral *net);

/* Append the node of row `row`, below `variables` unless it is hidden, which depends on the nodes
 * given [n_given]. */
void sali_ancestral_add(sali_ancestral *net, int32_t states, int32_t row, int32_t n_given,
                        const int32_t *given);

/* Set the distribution of a node at joint state number `at` of the nodes that it depends on, in
 * proportion to weights [states], `stride` apart. If all are 0, the state cannot occur. Threads:
 * any, for different entries. */
void sali_ancestral_set(const sali_ancestral *net, int64_t node, int64_t at, const double *weights,
                        int64_t stride);

/* Draw n states, codes [n x variables]. Draw number d of node i takes its random numbers from
 * (seed, d, i) alone. Returns: SAL_ERR_MEMORY; `codes` is untouched then. */
sal_status sali_ancestral_draw(const sali_ancestral *net, int64_t n, uint64_t seed, int threads,
                               int32_t *codes, sal_error *err);

#endif
