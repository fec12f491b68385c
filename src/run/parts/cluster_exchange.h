/* SPDX-License-Identifier: MIT */
/* Exchanges of clusters between two states of one target. Houdayer 2001, A cluster Monte Carlo
 * algorithm for 2-dimensional spin glasses; Zhu, Ochoa & Katzgraber 2015, Efficient cluster
 * algorithm for spin glasses in any space dimension.
 *
 * A cluster is a connected component, in the graph of interactions, of the variables in which
 * states s and t differ. If s and t exchange their values in a cluster, f(s) + f(t) stays what it
 * is: the variables of a term of f are all neighbours, so those among them in which s and t differ
 * are all in the cluster, or none is; the term then has exchanged its two values, or kept them. So
 * p(s) p(t) is the same before and after, at any temperature, and the cluster of a random differing
 * variable is found again from there with the same probability: the exchange is balanced for p x p
 * without rejections. Variables may be of any kind.
 *
 * A cluster with more than half of the differing variables stays, and all others are exchanged:
 * this is the exchange of the cluster followed by an exchange of whole states. So states do not
 * change places where one cluster has nearly all variables.
 *
 * Where f is the same with all variables flipped (two-level variables, no fields), t may stand for
 * its flipped state. If s and t agree in fewer variables than they differ in, clusters are those of
 * agreeing variables, and both states flip them. */
#ifndef SALI_CLUSTER_EXCHANGE_H
#define SALI_CLUSTER_EXCHANGE_H

#include "core/memory.h"
#include "models/structure/interactions.h"

typedef struct sali_cluster_exchange {
    const sali_interactions *graph;
    bool symmetric; /* f is the same with all variables flipped; each has two codes */
    bool flips;     /* candidates are the variables that agree, not the ones that differ */
    int64_t candidates;
    uint8_t *mark;   /* [V] whether a variable is a candidate, or in the cluster */
    int32_t *member; /* [V + 1] the members of the cluster, in the order in which they were found;
                        scratch after them */
} sali_cluster_exchange;

/* Whether every two variables are neighbours: a cluster then has all differing variables. */
bool sali_interactions_are_complete(const sali_interactions *graph);

/* Whether f is unchanged when all variables are flipped, at the present parameters: f is a
 * polynomial of pairs of two-level variables without fields. False if that is not known. Returns:
 * SAL_ERR_MEMORY. */
sal_status sali_is_flip_symmetric(const sal_model *model, bool *symmetric, sal_error *err);

/* Arrays are of `memory`; the graph is borrowed. Returns: SAL_ERR_MEMORY. */
sal_status sali_cluster_exchange_create(sali_cluster_exchange *e, sali_memory *memory,
                                        const sali_interactions *graph, bool symmetric,
                                        sal_error *err);

/* Mark the candidates for a cluster of states s and t, codes [V], and return their number. */
int64_t sali_cluster_candidates(sali_cluster_exchange *e, const int32_t *s, const int32_t *t);

/* After sali_cluster_candidates of the same states: exchange the cluster of candidate `which`,
 * counted from 0 in the order of the variables, between s and t. Returns the size of the cluster.
 * Cost: O(V + neighbours of the cluster). */
int64_t sali_cluster_exchange_states(sali_cluster_exchange *e, int64_t which, int32_t *s,
                                     int32_t *t);

#endif
