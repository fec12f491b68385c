/* SPDX-License-Identifier: MIT */
/* f as fields of single variables and edges that favour equal or different states: what cluster
 * samplers need of a model.
 *
 *     f = constant + sum_i field_i(s_i) + sum_(i,j) strength_ij [s_i = s_j].
 *
 * Pairs of two-level variables always have this form, with either sign: J b_i b_j of bits is
 * J ([b_i = b_j] + b_i + b_j - 1) / 2, so in spins K s_i s_j has the strength 2 K. Of variables
 * with more states it is the form of Potts, where no strength may be negative. */
#ifndef SALI_CLUSTER_GRAPH_H
#define SALI_CLUSTER_GRAPH_H

#include "models/structure/couplings.h"

/* The neighbours of variable i are to[begin[i]] .. to[begin[i + 1] - 1]; every edge is listed at
 * both of its ends, never with a strength of 0. */
typedef struct sali_cluster_graph {
    int64_t n, edges;
    int32_t most;    /* the largest number of states of a variable */
    int32_t *states; /* [n] */
    int64_t *begin;  /* [n + 1] */
    int32_t *to;
    double *strength;
    double constant;
    double *field; /* [n x most] */
    bool fields;   /* some variable's field differs between its states */
} sali_cluster_graph;

/* Read f of a model with its present parameters. `couplings` are those of the variables' bits, or
 * NULL. Returns: SAL_ERR_UNSUPPORTED, where *why is the reason as "it needs ..."; SAL_ERR_MEMORY;
 * SAL_ERR_MODEL when a term is NaN or +inf. The graph is empty then.
 * Cost: O(size of the formula). */
sal_status sali_cluster_graph_read(const sal_model *model, sali_couplings *couplings,
                                   sali_cluster_graph *graph, const char **why, sal_error *err);
void sali_cluster_graph_free(sali_cluster_graph *graph);

/* The `obstacle` of cluster samplers (saltus/sampler.h), which have no settings. */
const char *sali_cluster_obstacle(const sal_model *model, const double *values, const void *data);

/* f of one state. */
double sali_cluster_graph_value(const sali_cluster_graph *graph, const int32_t *codes);

/* Whether some state satisfies every edge: clusters then grow as large as the correlations. With
 * frustration they soon fill the graph. Returns false without memory. */
bool sali_cluster_graph_is_satisfiable(const sali_cluster_graph *graph);

/* Whether cluster samplers serve a model and should mix well: no sum is fixed, there are edges, and
 * some state satisfies them all. */
bool sali_clusters_suit(const sal_model *model);

#endif
