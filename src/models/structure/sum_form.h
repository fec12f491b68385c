/* SPDX-License-Identifier: MIT */
/* Formulas that are a constant, a linear function of the state's reals and one more node, the core:
 *
 *     f = constant + linear'x + sum_k weight_k core_k(x) + rest(x),
 *
 * and perhaps a rest, of which nothing is known.
 *
 * Whether f has this form follows from its ops. The numbers are read from the parameters as they
 * are at the time. */
#ifndef SALI_SUM_FORM_H
#define SALI_SUM_FORM_H

#include "models/structure/weights.h"

typedef struct sali_sum_form {
    int32_t core; /* a node that varies and hides a variable, or lists pairs; -1: there is none.
                     Squares hide a Gaussian variable only if nothing else could be the core */
    bool plain;   /* the core's weights do not depend on parameters */
    bool rest;    /* there is a rest */
} sali_sum_form;

/* Returns: SAL_ERR_UNSUPPORTED when f is not known to have this form; SAL_ERR_MEMORY; no messages.
 * Cost: O(nodes). */
sal_status sali_sum_form_find(const sali_tape_model *tape, sali_sum_form *form);

/* The numbers of a form. */
typedef struct sali_sum_reader {
    const sali_tape_model *tape;
    sali_sum_form form;
    sali_weights weights;
    bool rest; /* there is a rest, and some of its weights are not 0 */
    double constant;
    const double *linear; /* [N] */
    const double *weight; /* [size of the core]; NULL: there is no core */
} sali_sum_reader;

/* Allocate the numbers and read them. Close the reader in any case. Returns: SAL_ERR_MEMORY. */
sal_status sali_sum_reader_open(const sali_tape_model *tape, const sali_sum_form *form,
                                sali_sum_reader *reader);
void sali_sum_reader_close(sali_sum_reader *reader);

/* Read the numbers again, after parameters have changed. Allocates nothing, and so cannot fail. */
void sali_sum_reader_update(sali_sum_reader *reader);

/* With edges as the core: the weight of an edge at the parameters that `sum` has read; 0 for edge
 * -1. */
static inline double sali_sum_reader_edge(const sali_sum_reader *sum, int64_t edge)
{
    int32_t w = sum->tape->program->nodes[sum->form.core].in[1];
    return edge < 0 ? 0 : sum->weight[0] * sali_weights_value(&sum->weights, w, edge);
}

#endif
