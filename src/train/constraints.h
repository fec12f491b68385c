/* SPDX-License-Identifier: MIT */
/* Constraints on parameters during training: some parameters are fixed; couplings are symmetric,
 * pulled towards zero (L1, or by groups), and zero between a variable and itself.
 *
 * The group penalty X sum_{i<j} |J_ij|_F has a kink where a block J_ij is zero. SGD takes a
 * proximal step after each update (Parikh & Boyd 2014, sec. 6.5.1), which makes blocks exactly
 * zero: J_ij <- max(0, 1 - t X / |J_ij|_F) J_ij, t being the learning rate over 1 - momentum. Adam
 * has no one step size; its gradient receives the subgradient -X J_ij / |J_ij|_F, and at zero the
 * smallest one: a block stays zero while the gradient's norm is at most X there, and is else pulled
 * by X against the gradient. The two entries of a symmetric J that stand for one coupling each have
 * half of its derivative, and half of X. */
#ifndef SALI_CONSTRAINTS_H
#define SALI_CONSTRAINTS_H

#include <saltus/train.h>
#include "core/memory.h"
#include "models/tape_model.h"

typedef struct sali_coupling_block {
    int64_t first, size; /* in the flat vector of parameters */
    int64_t side;        /* of a square matrix; 0: it is not square */
    bool fixed;          /* not learned: stays as it is, symmetric or not */
} sali_coupling_block;

typedef struct sali_constraints {
    sali_memory *memory; /* owns the arrays; borrowed */
    int64_t n;           /* parameters */
    double l1;
    bool zero_diagonal; /* entries of blocks between the reals of one variable stay zero */
    double group;       /* half of the penalty: what pulls each triangle of a block */
    double step; /* of a proximal step at the full learning rate; 0: the gradient is changed */
    const sal_space *space;
    double *keep, *pull; /* [V x V] of the gradient and the block, for the group penalty */
    int64_t n_blocks;
    sali_coupling_block *blocks;
    double *learned; /* [n] 1, or 0 of those that stay as they are; NULL: all are learned */
} sali_constraints;

/* Returns: SAL_ERR_ARGUMENT (no such parameter; l1, group_penalty or zero_diagonal without
 * couplings), SAL_ERR_MEMORY. */
sal_status sali_constraints_create(sali_constraints *c, sali_memory *memory, const sal_model *model,
                                   const sal_train_options *options, sal_error *err);

/* Whether training changes value number i from now on; options.sparsity has a method. */
void sali_constraints_learn(sali_constraints *c, int64_t i, bool learned);

/* Change starting values [n] so that they satisfy the constraints. */
void sali_constraints_start(const sali_constraints *c, double *values);

/* Change a gradient [n] so that it keeps to the constraints, and subtract that of the penalties at
 * `values`. */
void sali_constraints_gradient(const sali_constraints *c, const double *values, double *gradient);

/* After an update at the share `share` of the learning rate: the proximal step of the group
 * penalty, for SGD. */
void sali_constraints_shrink(const sali_constraints *c, double share, double *values);

/* Set decays [n] to 1 where weight decay applies, else 0: it applies to all that is learned, except
 * couplings with an L1 penalty. */
void sali_constraints_decays(const sali_constraints *c, double *decays);

#endif
