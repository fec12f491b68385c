/* SPDX-License-Identifier: MIT */
/* Exact probabilities of the steps of cluster samplers on a few variables: sums over all sets of
 * bonds, by a recursion over subsets of the variables. */
#ifndef SALI_CLUSTER_SUMS_H
#define SALI_CLUSTER_SUMS_H

#include "samplers/clusters/graph.h"

/* The most variables that can move for which the sums are made: they take 3^n operations. */
#define SALI_CLUSTER_SUMMED 12

typedef struct sali_cluster_sums sali_cluster_sums;

/* Memory for the sums, which belongs to `object` (core/object.h); NULL where it runs out. */
sali_cluster_sums *sali_cluster_sums_open(void *object);

/* The probability that a step of Swendsen-Wang leads from `codes` to `to` at an inverse
 * temperature, summed over all sets of bonds. */
double sali_cluster_sums_sweep(sali_cluster_sums *sums, const sali_cluster_graph *graph,
                               double beta, const int32_t *codes, const int32_t *to);

/* The probability that m variables are one cluster: bonds join all of them, and none joins one of
 * them to another variable. */
double sali_cluster_sums_one(sali_cluster_sums *sums, const sali_cluster_graph *graph, double beta,
                             const int32_t *codes, int64_t m, const int32_t *site);

#endif
