/* SPDX-License-Identifier: MIT */
/* An RBM as a mixture: given the states h of its hidden units, the variables are independent, and
 * state v of variable i has the log-weight (b + W'h)'x_i(v). */
#ifndef SALI_HIDDEN_WEIGHTS_H
#define SALI_HIDDEN_WEIGHTS_H

#include "core/memory.h"
#include "models/model.h"
#include "models/structure/affine_form.h"
#include "models/structure/sum_form.h"

/* Most states of the hidden units that are treated at a time: a power of 2. */
#define SALI_HIDDEN_ROWS 128

/* Log-weights of the states of each free variable relative to its state 0, as affine functions of
 * the hidden units: row a belongs to state a of the R states of all variables. Row R is the
 * log-weight of h with all variables at state 0. */
typedef struct sali_hidden_weights {
    const sal_space *space; /* of the free variables */
    int64_t H, R;
    int64_t count, rows; /* 2^H, and how many of these a block has: all, or SALI_HIDDEN_ROWS */
    double *bias;        /* [R + 1] */
    double *slope;       /* [R + 1 x H] */
} sali_hidden_weights;

/* States of the hidden units, n <= SALI_HIDDEN_ROWS: those of a block, or any. State number j of a
 * block has the number of the block in its high bits, and j in the low ones; unit k is bit k. */
typedef struct sali_hidden_states {
    int64_t n;
    int64_t block;      /* 0 .. count / rows - 1, if `bits` is NULL */
    const double *bits; /* [H x SALI_HIDDEN_ROWS]; NULL: those of the block */
} sali_hidden_states;

/* Read the weights of f = constant + b'x + sum softplus(units), at the present parameters, into
 * arrays of `memory`. Returns: SAL_ERR_MEMORY. */
sal_status sali_hidden_weights_read(const sal_model *model, const sali_sum_reader *sum,
                                    const sali_affine_form *units, sali_memory *memory,
                                    sali_hidden_weights *weights, sal_error *err);

/* For each h and the variable with the rows first .. first + states - 1: the largest of the states'
 * log-weights, most [n]; the states' weights relative to it, p [states x SALI_HIDDEN_ROWS]; and
 * their sums, sum [n]. */
void sali_hidden_weigh_states(const sali_hidden_weights *w, const sali_hidden_states *h,
                              int64_t first, int64_t states, double *p, double *most, double *sum);

/* log_weight [n]: the logarithm of the part of Z that each h has; p [most states of a variable x
 * SALI_HIDDEN_ROWS] is scratch. */
void sali_hidden_weigh(const sali_hidden_weights *w, const sali_hidden_states *h, double *p,
                       double *log_weight);

#endif
