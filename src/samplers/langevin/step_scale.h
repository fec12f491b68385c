/* SPDX-License-Identifier: MIT */
/* Diagonal preconditioning of Langevin-like samplers (Rhodes & Gutmann 2022, sec. 3.1.1, footnote
 * 4): variable i takes steps of size eps d_i. d is divided by the geometric mean of all d_i, so
 * that eps keeps its meaning on average. d is one number for each variable, so that no label is
 * favoured, and follows one of two rules:
 *
 * Slopes (Zhang et al. 2022): d_i = (v_i + 0.01 mean(v))^(-1/2), where v_i is the mean of squared
 * slopes of f along variable i (RMSprop's second moment): for a one-hot variable this is twice the
 * variance of its K gradient entries, which is the mean squared difference of two entries.
 *
 * Spread: d_i = u_i + v_i, where u_i is the squared least move of variable i, and v_i the variance
 * of an ordinal variable or a count, 0 of others. So the units of one variable have no influence on
 * how far another moves: counts move beside a grid whose levels are a thousandth apart.
 *
 * v starts from 64 random states and follows the chains in warm-up, in a running mean over windows;
 * d is frozen after three quarters of a warm-up that ends, so that eps settles. */
#ifndef SALI_STEP_SCALE_H
#define SALI_STEP_SCALE_H

#include "samplers/shared.h"

typedef enum sali_step_rule { SALI_STEP_NONE, SALI_STEP_SLOPES, SALI_STEP_SPREAD } sali_step_rule;

typedef struct sali_step_scale {
    sali_step_rule rule;
    const sal_space *space;
    int64_t n;             /* variables */
    double *scale;         /* [V] d */
    double *square;        /* [V] running mean of squared slopes, or of squared levels above the
                              lowest */
    double *mean;          /* [V] running mean of levels above the lowest */
    double *sum, *squares; /* [V] sums over the chains of a window */
    int64_t windows;
} sali_step_scale;

/* Whether the variables of the space differ in their units: some are ordinal with more than two
 * levels, or counts, and their smallest or widest moves are not all the same. */
bool sali_step_units_differ(const sal_space *space);

/* Create a scale that belongs to `object` (core/object.h); the object records a failed allocation.
 * *out stays as it is with SALI_STEP_NONE. */
sal_status sali_step_scale_open(void *object, const sal_model *model, sali_step_rule rule,
                                sali_step_scale **out, sal_error *err);

/* The scale as an adaptive piece (samplers/shared.h). */
extern const sali_adaptive sali_step_adaptive;

#endif
