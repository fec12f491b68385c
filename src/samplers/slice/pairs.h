/* SPDX-License-Identifier: MIT */
/* Pairs of variables of which one gives what the other takes, so that fixed sums and labels stay.
 */
#ifndef SALI_PAIRS_H
#define SALI_PAIRS_H

#include "samplers/sampler.h"

/* How pairs are drawn; the words of the setting "pairs". */
enum { SALI_PAIRS_ANY, SALI_PAIRS_COUPLED };
extern const char *const sali_pair_words[];

/* What a step moves, drawn without regard to the state: two variables of a block that is fixed, or
 * one variable that is free (j is -1, as where a block has one variable). */
typedef struct sali_pair {
    int64_t i, j;
} sali_pair;

/* Where pairs are drawn from. Without `listed`, i is any variable, and j any other one of its
 * block. Else item k of n_pairs + n_singles is pair k, or a free variable. */
typedef struct sali_pairs {
    const sal_space *space;
    bool listed;
    int64_t n_pairs, n_singles;
    int32_t *pair;   /* [n_pairs x 2] */
    int32_t *single; /* [n_singles] */
} sali_pairs;

/* Fill *pairs; its arrays belong to `object` (core/object.h). SALI_PAIRS_COUPLED lists the pairs
 * that are in a term of f together. Returns: SAL_ERR_UNSUPPORTED when the terms of f are not known,
 * or when exchanges of coupled pairs cannot reach all states of a block; SAL_ERR_MEMORY. */
sal_status sali_pairs_open(void *object, const sal_model *model, int how, sali_pairs *pairs,
                           sal_error *err);

/* Draw one by elements 0 and 1 of a stream. */
sali_pair sali_pairs_draw(const sali_pairs *pairs, const sali_stream *stream);

/* The number of items, and the probability with which item k is drawn, which may be 0. */
int64_t sali_pairs_count(const sali_pairs *pairs);
double sali_pairs_at(const sali_pairs *pairs, int64_t k, sali_pair *pair);

/* The codes that a pair can have given all other variables: entry k is (at[2k], at[2k + 1]), k = 0
 * .. n - 1; of a single variable only at[2k] counts. The present codes come last. Returns n, at
 * most sali_pairs_most. */
int64_t sali_pair_codes(const sal_space *space, sali_pair pair, const int32_t *codes, int32_t *at);
int64_t sali_pairs_most(const sal_space *space);

#endif
