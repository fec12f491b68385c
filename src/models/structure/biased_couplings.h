/* SPDX-License-Identifier: MIT */
/* Coupling matrices that have a bias on both of their sides, found in a formula. */
#ifndef SALI_BIASED_COUPLINGS_H
#define SALI_BIASED_COUPLINGS_H

#include "ad/program.h"

/* Parameters are numbered as program->parameters; sizes are known from there. One of:
 *
 *     sum u(W s + c) + b's           W [A x B], c [A] its row bias, b [B] its column bias; u(a) is
 *                                    softplus(a), softplus(2 a) - a (hidden spins, log 2 cosh),
 *                                    a^2 / 2 (Gaussian hidden units) or that of dReLU units: its
 *                                    slope is a unit's mean
 *     factor s'Js + b's              J [N x N], b [N] both biases; s'Js as sal_quad has it
 */
typedef struct sali_biased_coupling {
    int32_t matrix;
    int32_t row_bias, column_bias;
    double factor; /* of s'Js; else 1 */
    bool symmetric;
} sali_biased_coupling;

/* List all of them in *out [*n], which the caller frees. f may have other terms, but none in which
 * these parameters occur again. The analysis is conservative: a form that it does not know is left
 * out.
 * Returns: SAL_ERR_MEMORY. */
sal_status sali_biased_couplings(const sali_program *program, int64_t *n,
                                 sali_biased_coupling **out, sal_error *err);

#endif
