/* SPDX-License-Identifier: MIT */
/* Models that are chains: slices of variables of which only neighbours interact. Forward and
 * backward messages over them give exact answers (forward_backward.c) and exact draws
 * (chain_draws.c).
 * Source: Rabiner 1989; Ghahramani & Jordan 1997, app. B (messages of factorial chains). */
#ifndef SALI_CHAIN_H
#define SALI_CHAIN_H

#include "core/memory.h"
#include "models/structure.h"
#include "models/structure/sum_form.h"

/* T slices of K variables, all with `codes` codes: variable k of slice t is the model's t K + k. */
typedef struct sali_chain_shape {
    int64_t length;    /* T */
    int64_t variables; /* K */
    int64_t codes;
} sali_chain_shape;

/* f = constant + sum_t emission[t][z_t] + sum_t sum_k transition[x_tk][x_(t+1)k], z_t in 0 .. S - 1
 * numbering the states of slice t: z = sum_k x_k codes^k. All may be -inf, none +inf. The
 * distribution of the first slice is in its emission. */
typedef struct sali_chain {
    sali_memory memory; /* of the arrays */
    sali_chain_shape shape;
    int64_t states; /* S = codes^K */
    double constant;
    double *emission;    /* [T x S] */
    double *transition;  /* [codes x codes], from row to column */
    int32_t *fixed;      /* [T K] the code of a clamped variable, -1 of a free one */
    sali_sum_reader sum; /* reads the numbers of the formula */
} sali_chain;

/* How a structure describes its model as a chain. The model is never a clamped one. */
struct sali_chain_rule {
    sali_chain_shape (*shape)(const sal_model *model);
    const sali_sum_form *(*form)(const sal_model *model);
    /* Fill in the potentials from the numbers of chain->sum. */
    void (*read)(const sal_model *model, sali_chain *chain);
};

/* S = codes^variables as a real number: it may exceed all integers. */
double sali_chain_states(const sali_chain_shape *shape);

/* The code of variable k in the slice's state z. */
static inline int64_t sali_chain_code(const sali_chain *chain, int64_t z, int64_t k)
{
    for (; k > 0; k--) {
        z /= chain->shape.codes;
    }
    return z % chain->shape.codes;
}

/* The rule of a model or, if it is clamped, of the model inside; NULL: the model is no chain. */
const struct sali_chain_rule *sali_chain_rule_of(const sal_model *model);

/* Allocate the chain of a model that has such a rule; its states must fit in memory.
 * sali_chain_read sets the potentials from the present parameters, and forbids other codes of
 * clamped variables: call it again after parameters have changed. */
sal_status sali_chain_create(const sal_model *model, sali_chain *chain, sal_error *err);
void sali_chain_read(const sal_model *model, sali_chain *chain);
void sali_chain_free(sali_chain *chain);

/* Pass a message, in place: log-weights a [S] of the states of a slice become log-weights of the
 * states of the next slice (with `back`, of the slice before), a'_j = log sum_i exp(a_i + beta
 * T_ij). mean [S], or NULL: the mean, over the paths to a state, of the sum of the potentials so
 * far, to which the transition is added. scratch [2 codes].
 * Cost:    O(K codes S). */
void sali_chain_pass(const sali_chain *chain, double beta, bool back, double *a, double *mean,
                     double *scratch);

/* Add the emission e of slice t: a [S] <- a + beta e, and mean [S] (or NULL) <- mean + e. */
void sali_chain_emit(const sali_chain *chain, int64_t t, double beta, double *a, double *mean);

/* ---- exact draws of a chain with one variable a slice (chain_draws.c), for the sali_structure of
 * such models; the functions need no structure data of their own */

int64_t sali_chain_pieces(const sal_model *model);
sal_status sali_chain_open(const sal_model *model, int64_t chains, void **ws, sal_error *err);
void sali_chain_close(void *ws);
void sali_chain_draw(void *ws, const sali_piece *at, const sali_stream *streams, int32_t *to);
void sali_chain_log_q(void *ws, const sali_piece *at, const int32_t *to, const int32_t *hidden,
                      double *log_q);

#endif
