/* SPDX-License-Identifier: MIT */
/* The structure of some models: blocks of variables whose joint conditional can be drawn exactly
 * (the layers of an RBM, the chains of a factorial hidden Markov model, a mixture of factorised
 * distributions), and groups that make natural blocks (time slices). A sweep goes over `pieces`
 * exact draws. A model of a tape gets its structure by recognition of its formula's nodes
 * (recognise.c), whether its maker was a program, a ready-made model or a file. */
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
     * Of layers with a rest it is that given the hidden variables of the last draw. NULL: it is
     * beta f at any beta. */
    void (*log_density)(void *ws, const sali_piece *at, double *log_density);
    /* With log_density: whether that differs from f where beta is 1, too. */
    bool weighed_at_one;
    /* With weighed_at_one: whether it is f at 1 all the same, as parameters are now (those of a
     * rest may be 0). NULL: never. */
    bool (*unweighed)(void *ws);
    /* A partition of the variables: the number of groups, and the group of variable v. NULL: none.
     */
    int64_t (*groups)(const sal_model *model);
    int64_t (*group_of)(const sal_model *model, int64_t v);
    const char *group_name; /* plural */
    /* The model as a chain of slices (models/structure/chain.h), for exact answers; NULL: it is
     * none. */
    const struct sali_chain_rule *chain;
    void (*destroy)(void *data);
} sali_structure;

/* Whether draws at an inverse temperature leave beta f invariant as they are. */
static inline bool sali_structure_is_exact(const sali_structure *structure, double beta)
{
    return !structure->log_density || (beta == 1 && !structure->weighed_at_one);
}

/* Whether the model has a structure whose draws are taken as they are, at a temperature of 1. */
static inline bool sali_structure_is_whole(const sal_model *model)
{
    return model->structure && sali_structure_is_exact(model->structure, 1);
}

/* Give a model without structure its structure and what that needs to know; `data` is taken over
 * (destroy may be NULL without any). */
static inline void sali_model_set_structure(sal_model *model, const sali_structure *structure,
                                            void *data)
{
    model->structure = structure;
    model->structure_data = data;
}

/* Give a model of a tape the structure that its formula has, if it is known to have one. Of a
 * bridge (models/bridge.h) whose other end has a structure, its last parameter is the inverse
 * temperature and its parameters have been set. Returns: SAL_ERR_MEMORY. */
sal_status sali_structure_recognise(sal_model *model, bool bridge, sal_error *err);

/* The structure of a clamped model of a chain with one variable a slice (chain_draws.c): the free
 * variables are drawn. NULL: the inner model is no such chain. */
const sali_structure *sali_chain_clamped(const sal_model *inner);

/* ---- the forms that are recognised. Each gives `model` its structure if f has the form. Returns:
 * SAL_ERR_UNSUPPORTED if it is not known to have it, SAL_ERR_MEMORY; no messages. */

struct sali_sum_form;

/* An RBM, b'v + sum softplus(W v + c), v two-level variables, perhaps with other terms beside it
 * (rbm_form.c). The other forms have no rest. */
sal_status sali_recognise_layers(sal_model *model, const struct sali_sum_form *form, bool bridge);
/* A chain of categorical variables, of which neighbours interact, all in the same way
 * (categorical_chain.c). */
sal_status sali_recognise_chain(sal_model *model, const struct sali_sum_form *form);
/* Binary chains side by side that are coupled within time slices (binary_chains.c). */
sal_status sali_recognise_chains(sal_model *model, const struct sali_sum_form *form);
/* A mixture of independent variables, log sum_k exp(c_k + W_k x) (mixture_form.c). */
sal_status sali_recognise_mixture(sal_model *model, const struct sali_sum_form *form);

#endif
