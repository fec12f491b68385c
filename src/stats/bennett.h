/* SPDX-License-Identifier: MIT */
/* The ratio of two normalising constants from states of both distributions. */
#ifndef SALI_BENNETT_H
#define SALI_BENNETT_H

#include <stdint.h>

/* States of one of the two distributions, a and b. */
typedef struct sali_bennett_side {
    int64_t n;
    const double *difference; /* [n] f_b - f_a; -inf and +inf where one of them forbids the state */
    const double *weight;     /* [n] sums to 1; NULL: all weigh alike */
} sali_bennett_side;

/* log Z_b - log Z_a; NaN: no states of a side are allowed by both.
 * Math:    the root C of sum_a L(C - d - m) = sum_b L(d - C + m), L(u) = 1 / (1 + e^u), with
 *          m = log(n_b / n_a); the sum over b is n_b times the weighted mean.
 * Cost:    O(n_a + n_b) for each of at most some 60 iterations.
 * Source:  Bennett 1976, Efficient estimation of free energy differences from Monte Carlo data,
 *          eq. 12; as an optimal bridge, Meng & Wong 1996. */
double sali_bennett_ratio(const sali_bennett_side *a, const sali_bennett_side *b);

/* Add what each group of states contributes to the error of the ratio: the first-order change of
 * log_ratio caused by the deviation of the states of the group. Groups may have states on both
 * sides, so that an error shared by several states is counted once.
 * Params:  group_a, group_b: the group of each state; influence_a, influence_b: added to by the
 *          states of each side; may be the same. */
void sali_bennett_influence(const sali_bennett_side *a, const uint32_t *group_a,
                            double *influence_a, const sali_bennett_side *b,
                            const uint32_t *group_b, double *influence_b, double log_ratio);

/* The squared standard error of a quantity from the influences of `groups` >= 2 independent
 * groups. */
double sali_bennett_squared_error(int64_t groups, const double *influence);

/* The mean probability, over all pairs of a state of b and a state of a, that the two are
 * exchanged, where a swap is accepted with probability min(1, exp(d_a - d_b)).
 * Params:  sorted [a->n]: scratch; below [a->n + 1]: scratch. The weights of a are ignored.
 * Cost:    O(n_a log n_a + n_b log n_a). */
double sali_swap_acceptance(const sali_bennett_side *a, const sali_bennett_side *b, double *sorted,
                            double *below);

#endif
