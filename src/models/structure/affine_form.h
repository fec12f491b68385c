/* SPDX-License-Identifier: MIT */
/* Nodes that are W x + c of the state's reals x, W and c whatever parameters make of them. */
#ifndef SALI_AFFINE_FORM_H
#define SALI_AFFINE_FORM_H

#include "models/tape_model.h"

#define SALI_AFFINE_TERMS 8

/* The node is factor W x + sum of factors times terms. */
typedef struct sali_affine_form {
    int64_t size;  /* of the node */
    int32_t W;     /* node [size, N] that does not vary */
    double factor; /* of W */
    int n_terms;   /* of c: nodes that do not vary, of `size` elements or one */
    int32_t term[SALI_AFFINE_TERMS];
    double term_factor[SALI_AFFINE_TERMS];
} sali_affine_form;

/* Whether node `i` of a program is known to have this form: one product with the state as it is,
 * and constants added. */
bool sali_affine_form_find(const sali_program *program, int32_t i, sali_affine_form *form);

/* c [size], as parameters are now. */
void sali_affine_form_bias(const sali_affine_form *form, const sali_params *params, double *c);

#endif
