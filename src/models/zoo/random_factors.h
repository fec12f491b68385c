/* SPDX-License-Identifier: MIT */
/* Random factor graphs as plain data, before they become a tape. */
#ifndef SALI_RANDOM_FACTORS_H
#define SALI_RANDOM_FACTORS_H

#include <saltus/status.h>
#include "models/zoo/random_tree.h"

typedef struct sali_random_spec {
    int64_t n, m;   /* variables, factors */
    double p;       /* chance that a variable is in a factor */
    int32_t states; /* states of every variable: the values 0 .. states - 1 */
    uint64_t seed;
    int64_t round; /* number of models of this seed that were discarded */
} sali_random_spec;

/* Write the variables of factor j, ascending, into scope [n]. Returns how many there are. */
int64_t sali_random_scope(const sali_random_spec *spec, int64_t j, int64_t *scope);

/* Draw term k of factor j: its weight T and the tree of eta_k, whose parameter is scope[k]; f is
 * the sum of T eta over all terms. A term is redrawn until it is valid.
 * Returns: SAL_ERR_MODEL after too many attempts. */
sal_status sali_random_term(const sali_random_spec *spec, int64_t j, int64_t k, int64_t n_scope,
                            const int64_t *scope, double *T, sali_tree *tree, sal_error *err);

#endif
