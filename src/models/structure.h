/* Structure that some models know of themselves: blocks of variables whose joint conditional can be
 * drawn exactly (the layers of an RBM, the chains of a factorial hidden Markov model, a mixture of
 * factorised distributions), and groups that make natural blocks (time slices). A sweep goes over
 * `pieces` exact draws. */
#ifndef SALI_STRUCTURE_H
#define SALI_STRUCTURE_H

#include "core/rng.h"
#include "models/model.h"

/* What is drawn: in each of n chains one piece, from the states `codes` [n x V], under
 * exp(beta f). */
typedef struct sali_piece {
    int64_t n;
    const int64_t *piece; /* [n] */
    const double *beta;   /* [n] */
    const int32_t *codes;
} sali_piece;

typedef struct sali_structure {
    int64_t (*pieces)(const sal_model *model);
    /* Binary variables beside the model's own that a draw makes on the way: a test sums over them.
     * NULL: none. */
    int64_t (*hidden)(const sal_model *model);
    /* A workspace of one thread for up to `chains` chains. Parameters are read at each draw. */
    sal_status (*open)(const sal_model *model, int64_t chains, void **ws, sal_error *err);
    void (*close)(void *ws); /* NULL is fine */
    /* Draw the pieces: `to` [n x V] is the whole new state; streams [n]. */
    void (*draw)(void *ws, const sali_piece *at, const sali_stream *streams, int32_t *to);
    /* Log-probability [n] of such a draw, hidden variables [hidden] included. */
    void (*log_q)(void *ws, const sali_piece *at, const int32_t *to, const int32_t *hidden,
                  double *log_q);
    /* The log-density [n] at at->codes that a draw leaves invariant, up to a constant for each
     * beta, where that is not beta f: then a draw is a proposal, exact after Metropolis-Hastings.
     * It is beta f where beta is 1. NULL: it is beta f at any beta. */
    void (*log_density)(void *ws, const sali_piece *at, double *log_density);
    /* A partition of the variables: the number of groups, and the group of variable v. NULL: none.
     */
    int64_t (*groups)(const sal_model *model);
    int64_t (*group_of)(const sal_model *model, int64_t v);
    const char *group_name; /* plural */
    /* The model as a chain of slices (models/chain.h), for exact answers; NULL: it is none. */
    const struct sali_chain_rule *chain;
    void (*destroy)(void *data);
} sali_structure;

/* Give a model its structure and what that needs to know; `data` is taken over (destroy may be NULL
 * without any). */
static inline void sali_model_set_structure(sal_model *model, const sali_structure *structure,
                                            void *data)
{
    model->structure = structure;
    model->structure_data = data;
}

/* The layers of an RBM (rbm_layers.c), by type. */
extern const sali_structure sali_rbm_layers_f32, sali_rbm_layers_f64;

#endif
