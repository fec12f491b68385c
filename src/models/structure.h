/* SPDX-License-Identifier: MIT */
/* The structure of some models: blocks of variables whose joint conditional can be drawn exactly
 * (the layers of an RBM, the chains of a factorial hidden Markov model, a mixture of factorised
 * distributions), and groups that make natural blocks (time slices). A sweep goes over `pieces`
 * exact draws. A model of a tape gets its structure by recognition of its formula's nodes
 * (structure/recognise.h), whether its maker was a program, a ready-made model or a file. */
#ifndef SALI_STRUCTURE_H
#define SALI_STRUCTURE_H

#include "core/rng.h"
#include "models/model.h"

/* A request for draws: in each of n chains one piece, given the states `codes` [n x V], under
 * exp(beta f). */
typedef struct sali_piece {
    int64_t n;
    const int64_t *piece; /* [n] */
    const double *beta;   /* [n] */
    const int32_t *codes;
} sali_piece;

typedef struct sali_structure {
    int64_t (*pieces)(const sal_model *model);
    /* Number of auxiliary variables that a draw samples besides the model's own; tests sum over
     * them. NULL: none. */
    int64_t (*hidden)(const sal_model *model);
    int32_t hidden_values; /* the number of values of each of them; 0: two */
    /* A workspace of one thread for up to `chains` chains. Parameters are read at each draw. */
    sal_status (*open)(const sal_model *model, int64_t chains, void **ws, sal_error *err);
    void (*close)(void *ws); /* NULL is fine */
    /* Draw the pieces: `to` [n x V] is the whole new state; streams [n]. */
    void (*draw)(void *ws, const sali_piece *at, const sali_stream *streams, int32_t *to);
    /* Log-probability [n] of drawing `to` and the auxiliary variables `hidden`. */
    void (*log_q)(void *ws, const sali_piece *at, const int32_t *to, const int32_t *hidden,
                  double *log_q);
    /* If draws leave another density than exp(beta f) invariant: its logarithm [n] at at->codes, up
     * to a constant for each beta. A draw is then a proposal, to be corrected by
     * Metropolis-Hastings. For layers with other terms beside them, the density is conditional on
     * the hidden variables of the last draw. NULL: draws leave exp(beta f) invariant at any
     * beta. */
    void (*log_density)(void *ws, const sali_piece *at, double *log_density);
    /* With log_density: whether log_density differs from f at beta = 1, too. */
    bool weighed_at_one;
    /* With weighed_at_one: whether log_density equals f at beta = 1 with the present parameters
     * (the parameters of the other terms may be 0). NULL: never. */
    bool (*unweighed)(void *ws);
    /* A partition of the variables: the number of groups, and the group of variable v. NULL: none.
     */
    int64_t (*groups)(const sal_model *model);
    int64_t (*group_of)(const sal_model *model, int64_t v);
    const char *group_name; /* plural */
    /* The model as a chain of slices (models/structure/chain.h), for exact answers; NULL: the model
     * is no such chain. */
    const struct sali_chain_rule *chain;
    void (*destroy)(void *data);
} sali_structure;

/* Whether draws at inverse temperature `beta` leave exp(beta f) invariant without a
 * Metropolis-Hastings correction. */
static inline bool sali_structure_is_exact(const sali_structure *structure, double beta)
{
    return !structure->log_density || (beta == 1 && !structure->weighed_at_one);
}

/* Whether the model has a structure whose draws at beta = 1 need no Metropolis-Hastings
 * correction. */
static inline bool sali_structure_is_whole(const sal_model *model)
{
    return model->structure && sali_structure_is_exact(model->structure, 1);
}

/* Set the structure of a model that has none, and the structure's data, which the model takes over
 * (structure->destroy may be NULL if there is no data). */
static inline void sali_model_set_structure(sal_model *model, const sali_structure *structure,
                                            void *data)
{
    model->structure = structure;
    model->structure_data = data;
}

#endif
