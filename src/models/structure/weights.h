/* SPDX-License-Identifier: MIT */
/* f as a sum of terms: the backward half of reading a formula off a tape.
 *
 *     f = constant + sum_i sum_k weight_i[k] * element k of node i,
 *
 * where the nodes i, the summands, vary and are not linear in what varies: the state, products,
 * tables, anything else. The weight of an element is the factor with which it counts in f; it is
 * known as long as ops are linear. */
#ifndef SALI_WEIGHTS_H
#define SALI_WEIGHTS_H

#include "ad/polynomial.h"
#include "models/tape_model.h"

typedef struct sali_weights {
    const sali_program *program;
    const sali_params *params;
    double **node;              /* [n_nodes] NULL (no weights), or [size] */
    sali_transpose **transpose; /* [n_nodes] of linear ops, from the first push on; else NULL */
} sali_weights;

/* Create weights: 1 for the output, none for other nodes. Free them in any case. Returns:
 * SAL_ERR_MEMORY. */
sal_status sali_weights_create(const sali_tape_model *tape, sali_weights *weights);
void sali_weights_free(sali_weights *weights);

/* The weights [size] of a node, allocated as zeros by the first call; NULL: no memory. */
double *sali_weights_of(sali_weights *weights, int32_t node);

/* Hand the weight of f down to the summands, and call visit(context, i) for each of them, from the
 * last to the first; NULL: no calls. *constant becomes the constant of f. Stops at the first visit
 * that does not return SAL_OK. A second push, after the caller has zeroed all weights but those of
 * the output, allocates nothing. Returns: the status of that visit; SAL_ERR_MEMORY; no messages. */
sal_status sali_weights_push(sali_weights *weights, double *constant,
                             sal_status (*visit)(void *context, int32_t i), void *context);

/* Mark the nodes that f is a sum of, whatever the values of parameters: the summands, and the nodes
 * that vary on the way to them. summed [n_nodes] is false at first. */
void sali_mark_summed(const sali_program *program, bool *summed);

/* Element k of a node that does not vary. */
static inline double sali_weights_value(const sali_weights *weights, int32_t node, int64_t k)
{
    return sali_load(weights->program->dtype, weights->params->value[node], k);
}

#endif
