/* Terms of a quadratic polynomial of bits, gathered one by one in any order: between the reading of
 * a formula (pairwise_read.c) and the sorted couplings (pairwise.c). */
#ifndef SALI_PAIRWISE_TERMS_H
#define SALI_PAIRWISE_TERMS_H

#include "models/tape_model.h"

typedef struct sali_pair_term {
    int32_t i, j; /* different */
    double J;
} sali_pair_term;

/* The most terms b_i b_j that are gathered. */
#define SALI_MOST_PAIRS (INT64_C(1) << 24)

typedef struct sali_pairwise_terms {
    double constant;
    double *h; /* [variables of the model] */
    sali_pair_term *pairs;
    int64_t n_pairs, room;
} sali_pairwise_terms;

/* Add the terms of a model's f. Returns: SAL_ERR_UNSUPPORTED when f is no such polynomial or
 * cannot be seen to be one, SAL_ERR_MEMORY; no messages. */
sal_status sali_pairwise_read(const sal_model *model, const sali_tape_model *tape,
                              sali_pairwise_terms *terms);

#endif
