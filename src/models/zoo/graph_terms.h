/* SPDX-License-Identifier: MIT */
/* What models over graphs have in common. */
#ifndef SALI_GRAPH_TERMS_H
#define SALI_GRAPH_TERMS_H

#include <stdbool.h>

#include <saltus/ad.h>
#include "models/content.h"

/* Write the different pairs of a graph into `pairs` (room for 2 graph->edges numbers): each pair
 * once, however often and in whichever direction it is listed, the smaller node first, in ascending
 * order. Returns the number of pairs, -1 when out of memory. Cost: O(nodes + edges). */
int64_t sali_graph_pairs(const sali_graph *graph, int64_t *pairs);

/* Write the weights of the nodes, all 1 if none are given, into weights [nodes]. Returns the
 * largest weight, or 1 if no weight is positive. */
double sali_graph_node_weights(const sali_graph *graph, double *weights);

/* Weights beyond this size are refused: sums of them must stay finite. */
#define SALI_GRAPH_LARGEST 1e30

/* The most nodes: as many variables as a space can have. */
#define SALI_GRAPH_NODES (INT64_C(1) << 25)

/* Check that `model` can be made of the graph. Returns: SAL_ERR_DATA if the numbers of the graph
 * are an energy, unless `energies`; if a number is too large; if there are too many nodes. */
sal_status sali_graph_check(const char *model, const sali_graph *graph, bool energies,
                            sal_error *err);

/* Most entries of the tables of sali_graph_equal: 2 GiB of doubles. */
#define SALI_EQUAL_ENTRIES (INT64_C(1) << 28)

/* scale sum_e w_e [s_i(e) = s_j(e)] over a space of categorical variables of `states` labels each,
 * as factors; scale is a scalar that does not depend on the state. Of the graph only edges, pairs
 * and weights (NULL: 1) are read.
 * Returns: SAL_ERR_ARGUMENT for too large tables, SAL_ERR_MEMORY. Mistakes stay on the tape. */
sal_status sali_graph_equal(sal_expr scale, int64_t states, const sali_graph *graph, sal_expr *out,
                            sal_error *err);

#endif
