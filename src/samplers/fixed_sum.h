/* SPDX-License-Identifier: MIT */
/* Independent variables given the sum of their codes: n variables with codes 0 .. K - 1 and weights
 * w_v(k) have the probability prod_v w_v(k_v) / E, where E is the sum of these products over all
 * codes of the fixed sum. For two codes E is the elementary symmetric polynomial e_total of the
 * odds.
 *
 * The weights are multiplied by exp(lambda k), which changes no conditional probability, with
 * lambda such that the expected sum is the fixed one. Then the probabilities of the partial sums,
 *
 *     P_(v+1)[j] = sum over k of p_v(k) P_v[j - k],
 *
 * neither overflow nor underflow where they matter, and E is P_n[total] times the norms. Of each
 * row only the sums are kept that the fixed one can be reached by with a probability above exp(-42)
 * (Bernstein's inequality), far below rounding. Codes are drawn from the last variable to the
 * first, from rows that are computed again between every sqrt(n)-th one.
 *
 * Cost: O(n B K) time and O(sqrt(n) B) memory, with B about 20 standard deviations of the sum, and
 * at most total + 1. */
#ifndef SALI_FIXED_SUM_H
#define SALI_FIXED_SUM_H

#include <stdint.h>

typedef struct sali_fixed_sum {
    int64_t most;   /* variables that there is room for */
    int64_t n;      /* variables */
    int32_t states; /* K */
    int64_t total;
    double *log_weight;  /* [n x K] log w, finite or -inf; filled by the caller */
    double *p;           /* [n x K] */
    int64_t *low, *high; /* [n + 1] the sums that each row keeps */
    int64_t band, step;  /* the widest row; every how many rows one is kept */
    double *kept;        /* [(n / step + 1) x band] */
    double *row;         /* [(step + 1) x band] */
} sali_fixed_sum;

/* Allocate for up to n variables of K >= 2 codes; the arrays belong to `object` (core/object.h). */
void sali_fixed_sum_create(void *object, int64_t n, int32_t states, sali_fixed_sum *sum);

/* From log_weight: all that draws need. Returns log E; NaN, after which nothing can be drawn, if a
 * weight is NaN or +inf, or if E is lost to rounding: of two codes, where weights are further apart
 * than double can tell; of more, where the codes that the weights favour by a factor of exp(600) or
 * more cannot have the sum. The sum must have a positive weight. */
double sali_fixed_sum_prepare(sali_fixed_sum *sum, int64_t n, int32_t states, int64_t total);

/* log of the sum of exp(log_weight) of variable v. */
double sali_fixed_sum_norm(const sali_fixed_sum *sum, int64_t v);

/* Draw codes [n], after sali_fixed_sum_prepare, with variable v by the uniform u[v]. */
void sali_fixed_sum_draw(sali_fixed_sum *sum, const double *u, int32_t *codes);

#endif
