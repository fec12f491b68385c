/* SPDX-License-Identifier: MIT */
/* Nodes that equal W x + c, where x are the reals of the state, and W and c do not depend on the
 * state. */
#ifndef SALI_AFFINE_FORM_H
#define SALI_AFFINE_FORM_H

#include "models/tape_model.h"

#define SALI_AFFINE_TERMS 8

/* The node is factor W x + sum of factors times terms. */
typedef struct sali_affine_form {
    int64_t size;    /* of the node */
    int32_t product; /* the node that is W x */
    int32_t W;       /* node [size, N] that does not vary */
    double factor;   /* of W x */
    int n_terms;     /* of c: nodes that do not vary, of `size` elements or one */
    int32_t term[SALI_AFFINE_TERMS];
    double term_factor[SALI_AFFINE_TERMS];
} sali_affine_form;

/* Whether node `i` of a program is known to have this form, a product of a matrix and the state
 * itself, plus nodes that do not vary. Fills in *form if so. */
bool sali_affine_form_find(const sali_program *program, int32_t i, sali_affine_form *form);

/* For n rows x real [n x N] and y real [n x size]: y = W x, and x = W'y (turned), without `factor`
 * and c. Both call the kernels of the op that multiplies, at the present parameters. `scratch`:
 * sali_affine_form_scratch reals. */
void sali_affine_form_multiply(const sali_affine_form *form, const sali_params *params, int64_t n,
                               const void *x, void *scratch, void *y);
void sali_affine_form_multiply_turned(const sali_affine_form *form, const sali_params *params,
                                      int64_t n, const void *y, void *scratch, void *x);
int64_t sali_affine_form_scratch(const sali_affine_form *form, const sali_program *program,
                                 int64_t n);

/* c [size] at the present parameters. */
void sali_affine_form_bias(const sali_affine_form *form, const sali_params *params, double *c);

#endif
