/* SPDX-License-Identifier: MIT */
/* How often two variables of a sample have two states: the frequencies f_k of single states and
 * f_kl of pairs of states of different variables. States are numbered through all variables; of
 * variables with labels these are the reals of the embedding. Pairs are numbered by rows: those of
 * state k with all states l of the variables before its own. */
#ifndef SALI_PAIRS_H
#define SALI_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/memory.h"
#include "core/space.h"

typedef struct sali_pairs {
    int64_t variables;
    int64_t states;  /* of all variables together */
    int64_t n;       /* pairs */
    int64_t *offset; /* [variables + 1] number of the first state of a variable */
    int64_t *row;    /* [states] number of the first pair of a state */
    int64_t room;    /* rows of the largest sample */
    uint8_t *codes;  /* [variables x room] scratch: a sample, by variables */
} sali_pairs;

typedef struct sali_pair_frequencies {
    double *single; /* [states] */
    double *pair;   /* [n] */
} sali_pair_frequencies;

/* Whether `space` has two variables or more, all of which have 256 states at most. */
bool sali_pairs_exist(const sal_space *space);

/* Prepare for samples of at most `room` rows over `space`, for which sali_pairs_exist holds.
 * Arrays are of `memory`, here and below. Returns: SAL_ERR_MEMORY. */
sal_status sali_pairs_create(sali_pairs *pairs, sali_memory *memory, const sal_space *space,
                             int64_t room, sal_error *err);
sal_status sali_pairs_frequencies(const sali_pairs *pairs, sali_memory *memory,
                                  sali_pair_frequencies *out, sal_error *err);

/* Count rows of codes [rows x V] by their weights [rows], which add up to `total` (NULL: equal
 * weights, and `total` is the number of rows), or n states with equal weights, codes [n x V].
 * Cost:    O(rows V^2 + pairs), on `threads` threads (as in sal_threads_number); results do not
 *          depend on their number. */
void sali_pairs_count_rows(const sali_pairs *pairs, int64_t rows, const uint8_t *codes,
                           const double *weight, double total, int threads,
                           sali_pair_frequencies *out);
void sali_pairs_count_states(const sali_pairs *pairs, int64_t n, const int32_t *codes, int threads,
                             sali_pair_frequencies *out);

/* Pearson's correlation between the connected frequencies f_kl - f_k f_l of two samples; NaN if
 * those of one of them are all alike. */
double sali_pairs_correlation(const sali_pairs *pairs, const sali_pair_frequencies *a,
                              const sali_pair_frequencies *b);

/* The correlation that `rows` independent rows with these frequencies have with them, on average:
 * sqrt(S / (S + N / rows)), where S is the sum of the squares of the connected frequencies and N
 * that of the variances of the products (x_k - f_k)(x_l - f_l) of single rows. NaN if S is 0. */
double sali_pairs_limit(const sali_pairs *pairs, const sali_pair_frequencies *f, double rows);

#endif
