/* SPDX-License-Identifier: MIT */
/* The Potts model that an RBM of letters is, but for terms of three and more sites. */
#ifndef SALI_RBM_POTTS_H
#define SALI_RBM_POTTS_H

#include "models/content.h"
#include "models/model.h"

/* Whether f is known to be an RBM of categorical variables with equally many states, its hidden
 * units bits, spins or dReLU units that are summed out. */
bool sali_is_rbm_of_letters(const sal_model *model);

/* The terms of one and of two sites of such a model's f in the zero-sum gauge, in which the terms
 * of any sites sum to 0 over the states of each of them:
 *
 *     h_i(a) = E[f | s_i = a] - E f,
 *     J_ij(a, b) = E[f | s_i = a, s_j = b] - E[f | s_i = a] - E[f | s_j = b] + E f,
 *
 * with means over independent uniform states of all other sites. Exact to about 1e-9, with dReLU
 * units times the largest of a unit's terms, whatever the number of sites.
 * Returns: SAL_ERR_ARGUMENT for another model, weights that are too large, or too many states in
 *          all; SAL_ERR_MEMORY. On failure *out is untouched.
 * Cost:    O(H N^2), N = sites times states, with a factor of 100 or more that grows with the
 *          weights, for dReLU units about five times as many; O(N^2) memory.
 * Source:  Decelle, Navas Gomez & Seoane 2025 (effective couplings, there for many sites, in a
 *          Gaussian approximation); here the means are integrals of characteristic functions. */
sal_status sali_potts_of_rbm(const sal_model *model, sali_potts *out, sal_error *err);

#endif
