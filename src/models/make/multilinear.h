/* SPDX-License-Identifier: MIT */
/* The multilinear form of a quadratic model. */
#ifndef SALI_MULTILINEAR_H
#define SALI_MULTILINEAR_H

#include "models/model.h"

/* A model with the same f on the lattice and the same parameters, in the same flat order, whose f
 * is both quadratic in the reals of the embedding and affine in the reals of each variable,
 * whatever the values of the parameters. Then f(s') - f(s) is exactly linear along the move of one
 * variable, and so is each df/dtheta.
 * Params:  *out is the model itself, held, if its f has this form as recorded; another model, with
 *          parameters of its own (zero: copy them), if the canonical extension has this form
 *          (SAL_PASS_CANONICAL); NULL, with SAL_OK, if the ops show neither: no tape, clamped
 *          variables, ordinal variables squared, tables that hold -inf now. Destroy *out in any
 *          case.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    as for making the model once more. */
sal_status sali_multilinear_form(sal_model *model, sal_model **out, sal_error *err);

#endif
