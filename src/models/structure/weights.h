/* SPDX-License-Identifier: MIT */
/* By how much each element of each node counts in f, as long as ops are linear in what varies: the
 * backward half of reading a formula off a tape. */
#ifndef SALI_WEIGHTS_H
#define SALI_WEIGHTS_H

#include "ad/polynomial.h"
#include "models/tape_model.h"

typedef struct sali_weights {
    const sali_program *program;
    const sali_params *params;
    double **node; /* by node: [size], or NULL for none */
} sali_weights;

/* The output's weight is 1, all others none. Returns: SAL_ERR_MEMORY. Free it in any case. */
sal_status sali_weights_create(const sali_tape_model *tape, sali_weights *weights);
void sali_weights_free(sali_weights *weights);

/* The weights of a node, made when first asked for; NULL: no memory. */
double *sali_weights_of(sali_weights *weights, int32_t node);

/* Hand the weights of node i, which varies and is linear in the inputs that do, to them. Nodes
 * are to be taken from the last to the first. Returns: SAL_ERR_UNSUPPORTED if it is not;
 * SAL_ERR_MEMORY; no messages. */
sal_status sali_weights_push(sali_weights *weights, int32_t i);

/* Element k of a node that does not vary. */
static inline double sali_weights_value(const sali_weights *weights, int32_t node, int64_t k)
{
    return sali_load(weights->program->dtype, weights->params->value[node], k);
}

#endif
