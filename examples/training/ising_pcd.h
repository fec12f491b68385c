/* The experiment of section 5.3 of Rhodes & Gutmann 2022: the couplings of an Ising model, f(s) =
 * s'Js on a cyclic 10 x 10 lattice, are learned from 10,000 of its states by persistent contrastive
 * divergence, and the samplers that move its chains are compared by how good the couplings are. */
#ifndef ISING_PCD_H
#define ISING_PCD_H

#include <saltus/saltus.h>

enum { ISING_SPINS = 100 };

/* States of the true model. */
typedef struct experiment {
    uint64_t seed; /* of data, start and samples */
    sal_data data;
} experiment;

sal_status experiment_create(uint64_t seed, experiment *x, sal_error *err);

/* How couplings are learned. */
typedef struct learner {
    const char *sampler;
    double step_size;
    bool data_preconditioner; /* is the preconditioner */
    int steps;                /* an update */
    int64_t updates;
    int (*report)(const sal_train_report *, void *); /* of each update; or NULL */
} learner;

/* Learn from the data; *error = |J - J*|_F / sqrt(100), the diagonal included. On one thread: 50
 * chains of 100 spins are too few to share. */
sal_status experiment_learn(const experiment *x, const learner *l, double *error, sal_error *err);

#endif

/* SPDX-License-Identifier: MIT */
