/* SPDX-License-Identifier: MIT */
/* Random graphs: the same seed, the same graph. */
#ifndef SALI_RANDOM_GRAPH_H
#define SALI_RANDOM_GRAPH_H

#include "models/content.h"

typedef enum sali_edge_weights {
    SALI_WEIGHTS_ONE,
    SALI_WEIGHTS_SIGN,  /* -1 or 1, equally probable */
    SALI_WEIGHTS_NORMAL /* standard normal */
} sali_edge_weights;

/* The names of sali_edge_weights, as choices of a setting. */
extern const char *const sali_edge_weights_choices[];

/* The families, by their place in sali_graph_families (graph_families.h). */
enum { SALI_GRAPH_ER, SALI_GRAPH_RB, SALI_GRAPH_BA, SALI_GRAPH_TORUS, SALI_GRAPH_PLANAR };
extern const char *const sali_graph_choices[];

typedef struct sali_random_graph {
    int family;
    int64_t nodes;    /* at least 1 */
    double p;         /* er: probability of each pair to be an edge */
    double degree;    /* ba: twice the edges of a new node */
    int64_t group;    /* rb: nodes of a clique; torus: nodes of a row; 0: chosen */
    double tightness; /* rb: above 0, below 1 */
    sali_edge_weights weights;
    uint64_t seed;
} sali_random_graph;

/* Most edges, roughly: er bounds the expected number. */
#define SALI_RANDOM_EDGES (INT64_C(1) << 25)

/* A graph of a family, with weights.
 * Returns: SAL_ERR_ARGUMENT for too many edges, or sizes that the family cannot have;
 *          SAL_ERR_MEMORY.
 *
 * er: Erdos-Renyi G(n, p): every pair is an edge with probability p, independently. Pairs are
 * sorted by the larger node, then by the smaller node; the larger node is the first of each
 * pair. The other families: graph_families.c.
 * Cost:    O(nodes + edges).
 * Source:  Batagelj & Brandes 2005, Efficient generation of large random networks, algorithm 1. */
sal_status sali_random_graph_draw(const sali_random_graph *spec, sali_graph *out, sal_error *err);

/* A number of nodes drawn uniformly from nodes .. most; `nodes` if `most` is not larger. */
int64_t sali_random_graph_nodes(int64_t nodes, int64_t most, uint64_t seed);

/* Set *p to the probability of an edge for a mean number of neighbours `degree`. Returns:
 * SAL_ERR_ARGUMENT, naming `model`, if `degree` exceeds nodes - 1. */
sal_status sali_random_graph_degree(const char *model, int64_t nodes, double degree, double *p,
                                    sal_error *err);

#endif
