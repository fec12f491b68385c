/* The models of DISCS (Goshvadi et al. 2023) on which it measures effective samples, as its program
 * makes them, with random numbers of our own. */
#ifndef DISCS_MODELS_H
#define DISCS_MODELS_H

#include <saltus/saltus.h>

/* What a sampler of theirs has in their raw result files, where there are any: effective samples of
 * the second 50,000 of 100,000 steps, by the distance to a random state, mean of 100 chains. */
typedef struct published {
    const char *sampler;
    double ess;
} published;

/* A model, or a rule for one. What a family does not use is 0. */
typedef struct discs_model {
    const char *group, *name;
    sal_status (*make)(const struct discs_model *m, sal_model **out, sal_error *err);
    int64_t rows, columns, states;
    double coupling, field, spread; /* lambda, mu, and sigma of fields and logits */
    const published *theirs;        /* ends without a name; NULL: none */
    uint64_t seed;                  /* of fields, logits and data */
    int64_t fewer; /* the default makes so many times fewer steps, of all chains together */
} discs_model;

/* All of them; the list ends without a name. */
extern const discs_model discs_models[];

#endif

/* SPDX-License-Identifier: MIT */
