/* SPDX-License-Identifier: MIT */
/* Structure by recognition: a formula that has a known form gets that form's structure, wherever
 * the formula comes from. Forms are recognised by ops and constants, never by the values of
 * parameters. */
#ifndef SALI_RECOGNISE_H
#define SALI_RECOGNISE_H

#include "models/structure.h"

/* Set the structure of a tape model, if its formula is recognised to have one. `log_base` [R]: the
 * model is the bridge (models/make/bridge.h) from these independent variables to a model with a
 * structure; its last parameter is the inverse temperature, which is 1 now, and its parameters have
 * been set. NULL: the model is no bridge. Returns: SAL_ERR_MEMORY. */
sal_status sali_structure_recognise(sal_model *model, const double *log_base, sal_error *err);

/* The structure of a clamped model of a chain with one variable a slice (chain_draws.c): the free
 * variables are drawn. NULL: the inner model is no such chain. */
const sali_structure *sali_chain_clamped(const sal_model *inner);

/* ---- the forms that are recognised. Each function sets the structure of `model` if f has the
 * form. Returns: SAL_ERR_UNSUPPORTED if f is not known to have the form, SAL_ERR_MEMORY; no
 * messages. */

struct sali_sum_form;

/* An RBM, b'v + sum softplus(W v + c), b'v + g sum (W v + c)^2 or the same with dReLU units, over
 * bounded variables; with softplus over binary variables or spins, perhaps with other terms beside
 * it (rbm_form.c). The forms below allow no other terms. */
sal_status sali_recognise_layers(sal_model *model, const struct sali_sum_form *form,
                                 const double *log_base);
/* A chain of categorical variables, of which neighbours interact, all in the same way
 * (categorical_chain.c). */
sal_status sali_recognise_chain(sal_model *model, const struct sali_sum_form *form);
/* Binary chains side by side that are coupled within time slices (binary_chains.c). */
sal_status sali_recognise_chains(sal_model *model, const struct sali_sum_form *form);
/* A mixture of independent variables, log sum_k exp(c_k + W_k x) (mixture_form.c). */
sal_status sali_recognise_mixture(sal_model *model, const struct sali_sum_form *form);

#endif
