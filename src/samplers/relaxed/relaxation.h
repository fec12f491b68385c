/* SPDX-License-Identifier: MIT */
/* Continuous relaxations of binary models, the baselines of Grathwohl et al. 2021, sec. 5. The
 * paper gives no details in print; these are the library's own:
 *
 *   y in R^V,  s_i(y) = lo + (hi - lo) sigmoid(y_i / T),
 *   log p(y) = beta f(s(y)) - |y|^2 / 2,
 *
 * a smooth density over a standard normal base. The draws are y thresholded at 0. As T falls, s(y)
 * approaches the thresholded state, the base gives every state the same mass, and the distribution
 * of the draws approaches the target; for T > 0 it differs from the target, so these samplers are
 * not exact.
 *
 * In y, step sizes are divided by the squared spacing of levels, which is 1 for binary variables:
 * binary and spin forms of one model with eps and 4 eps give the same chain. */
#ifndef SALI_RELAXATION_H
#define SALI_RELAXATION_H

#include "samplers/sampler.h"

/* The setting of all relaxations, first in their lists. */
#define SALI_TEMPERATURE_SETTING                                                       \
    {                                                                                  \
        "temperature", 0.5, 1e-3, 1e3, false, "T of the relaxation sigmoid(y/T)", NULL \
    }
enum { SALI_RELAXATION_TEMPERATURE, SALI_RELAXATION_SETTINGS };

/* Points y of all chains, with density and slope. */
typedef struct sali_relaxed {
    double *y;     /* [n x V] */
    double *f;     /* [n] of s(y) */
    double *log_p; /* [n]; -inf where f(s(y)) is no number */
    double *slope; /* [n x V] gradient of log_p */
} sali_relaxed;

typedef struct sali_relaxation {
    int64_t n, V;             /* chains, variables */
    double temperature, unit; /* unit: divisor of step sizes */
    sali_relaxed now, next;
    bool *made; /* [n] whether now.y has been drawn */
    void *x;    /* real [n x V] s(y) */
} sali_relaxation;

/* Create `r`, at the beginning of a new object (core/object.h), which records a failed allocation.
 */
void sali_relaxation_create(sali_relaxation *r, const sali_chains *chains, double temperature);

/* Functions of the engines. A refresh fits the present points to the present states, and evaluates
 * both: a chain's point is kept while it lies in the orthant of its codes; else the point is
 * redrawn there, with the absolute values of normals that depend on seed, chain and step only. The
 * state items are the points. */
void sali_relaxation_refresh(void *self, sali_chains *chains);
int64_t sali_relaxation_state(void *shared, void *self, sali_state_item *items);

/* f, log_p and slope at points y. */
void sali_relaxation_evaluate(sali_relaxation *r, sali_chains *chains, sali_relaxed *at);

/* Threshold the next points into proposed states, and evaluate f there. */
void sali_relaxation_propose(sali_relaxation *r, sali_chains *chains);

/* Decide by chains->log_ratio (a forbidden state is never accepted), store the next points of
 * accepted chains, and count the step. */
void sali_relaxation_decide(sali_relaxation *r, sali_chains *chains);

#endif
