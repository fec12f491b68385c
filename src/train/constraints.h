/* What holds for parameters while they are trained: some are fixed, couplings are symmetric, pulled
 * towards zero (L1), and zero between a variable and itself. */
#ifndef SALI_CONSTRAINTS_H
#define SALI_CONSTRAINTS_H

#include <saltus/train.h>
#include "models/tape_model.h"

typedef struct sali_coupling_block {
    int64_t first, size; /* in the flat vector of parameters */
    int64_t side;        /* of a square matrix; 0: it is none */
    bool fixed;          /* not learned: stays as it is, symmetric or not */
} sali_coupling_block;

typedef struct sali_constraints {
    int64_t n; /* parameters */
    double l1;
    int64_t n_blocks;
    sali_coupling_block *blocks;
    bool *zero;      /* [n] entries that stay zero; NULL: none */
    double *learned; /* [n] 1, or 0 of those that stay as they are; NULL: all are learned */
} sali_constraints;

/* Returns: SAL_ERR_ARGUMENT (no such parameter, l1 or zero_diagonal without couplings),
 * SAL_ERR_MEMORY. sali_constraints_free in any case. */
sal_status sali_constraints_create(sali_constraints *c, const sal_model *model,
                                   const sal_train_options *options, sal_error *err);
void sali_constraints_free(sali_constraints *c);

/* Make starting values [n] fulfil them. */
void sali_constraints_start(const sali_constraints *c, double *values);

/* The gradient [n] within them, less that of the penalty at `values`. */
void sali_constraints_gradient(const sali_constraints *c, const double *values, double *gradient);

/* 1 where weight decay applies, else 0: what is learned, but for couplings with an L1 penalty. */
void sali_constraints_decays(const sali_constraints *c, double *decays);

#endif
