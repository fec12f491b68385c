/* SPDX-License-Identifier: MIT */
/* The graph of a model of sets of nodes without conflicts (independent sets, cliques). */
#ifndef SALI_NODE_SETS_H
#define SALI_NODE_SETS_H

#include <math.h>
#include <stdbool.h>

#include "models/decoding.h"

typedef struct sali_node_set {
    int64_t *begin;      /* [nodes + 1] where the neighbours of each node begin */
    int64_t *neighbours; /* [2 edges] */
    double *weights, largest;
    bool adjacent; /* true: conflicts are edges; false: conflicts are pairs without an edge */
} sali_node_set;

/* The `decode` of sali_decoding for a model whose statistic_data is a sali_node_set. Cost: O(nodes
 * + edges of the nodes without conflicts or selected). */
bool sali_node_set_decode(const sal_model *model, const bool *fixed, int32_t *codes,
                          sali_decoding_item *work);

#endif
