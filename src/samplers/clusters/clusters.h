/* SPDX-License-Identifier: MIT */
/* What the samplers of clusters share: the graph of a model, its reading, and its proofs.
 *
 * An edge is satisfied if its two variables are equal and its strength positive, or if they differ
 * and it is negative. A satisfied edge gets a bond with probability 1 - exp(-beta |strength|);
 * clusters are what bonds join. A shift of a cluster by t adds t to the codes of all its variables,
 * modulo their number of states: a flip if that is 2. It changes no edge inside the cluster.
 * Swendsen & Wang 1987; Edwards & Sokal 1988; Wolff 1989. */
#ifndef SALI_CLUSTERS_H
#define SALI_CLUSTERS_H

#include "samplers/clusters/graph.h"
#include "samplers/clusters/sums.h"
#include "samplers/sampler.h"

typedef struct sali_clusters {
    const sal_model *model;
    sali_couplings *couplings; /* of bits; NULL: f is read as tables of terms */
    sali_cluster_graph graph;
    uint64_t version;        /* of the model's parameters when the graph was read */
    const char *missing;     /* why there is no graph at these parameters; NULL: there is one */
    double *span;            /* [V] L1 distance of a variable's states, 2 if categorical */
    int64_t n_movable;       /* variables with two states or more */
    int32_t *movable;        /* [n_movable] */
    sali_cluster_sums *sums; /* NULL: too many variables */
} sali_clusters;

/* Read the graph of the model. All memory belongs to `object` (core/object.h), which records a
 * failed allocation. Returns: SAL_ERR_UNSUPPORTED, SAL_ERR_MEMORY, SAL_ERR_MODEL. */
sal_status sali_clusters_open(void *object, const sali_chains *chains, sali_clusters *clusters,
                              sal_error *err);

/* Read the graph again if the parameters have changed (*renewed: whether it was), and set f of all
 * chains. Returns false if there is no graph at these parameters, which is noted in the chains. */
bool sali_clusters_refresh(sali_clusters *clusters, sali_chains *chains, bool *renewed);

/* Chances of 64 bits: the bits below the first 32 are needed only where the first word ties. */
typedef struct sali_chance {
    uint32_t whole;
    double rest; /* of 1 */
} sali_chance;

static inline sali_chance sali_chance_of(double p)
{
    const double scaled = p * 0x1p32, most = 0x1p32 - 1;
    const double whole = scaled < most ? (double)(uint32_t)scaled : most;
    return (sali_chance){ (uint32_t)whole, scaled - whole };
}

/* Whether something of a chance happens, given the random word `word`; number `index` of `ties`
 * decides where they tie. */
static inline bool sali_chance_holds(sali_chance chance, uint32_t word, const sali_stream *ties,
                                     uint32_t index)
{
    return word < chance.whole ||
           (word == chance.whole && sali_rng_uniform_at(ties, index) < chance.rest);
}

/* The field that variable i loses or wins by a shift. */
static inline double sali_clusters_gain(const sali_cluster_graph *g, int64_t i, int32_t from,
                                        int32_t to)
{
    return g->field[i * g->most + to] - g->field[i * g->most + from];
}

/* The auxiliary variables of a step, the bonds: none where they have been summed out, and more than
 * anyone can sum elsewhere. */
extern const sali_auxiliary sali_clusters_bonds;

#endif
