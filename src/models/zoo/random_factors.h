/* SPDX-License-Identifier: MIT */
/* Random factor graphs as plain data, before they become a tape. */
#ifndef SALI_RANDOM_FACTORS_H
#define SALI_RANDOM_FACTORS_H

#include <saltus/status.h>
#include "models/zoo/random_tree.h"

typedef struct sali_random_spec {
    int64_t n, m;   /* variables, factors */
    double p;       /* chance that a variable is in a factor */
    int32_t states; /* of every variable: the values 0 .. states - 1 */
    uint64_t seed;
    int64_t round; /* models of this seed that were discarded */
} sali_random_spec;

/* Variables of factor j, in order, into scope [n]; their number. */
int64_t sali_random_scope(const sali_random_spec *spec, int64_t j, int64_t *scope);

/* Term k of factor j: T and the tree of eta_k, whose parameter is scope[k]; f is the sum of T eta
 * over all terms. Terms are drawn again until they are valid.
 * Returns: SAL_ERR_MODEL after too many attempts. */
sal_status sali_random_term(const sali_random_spec *spec, int64_t j, int64_t k, int64_t n_scope,
                            const int64_t *scope, double *T, sali_tree *tree, sal_error *err);

#endif
