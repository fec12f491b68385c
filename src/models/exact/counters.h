/* SPDX-License-Identifier: MIT */
/* Counters: hidden variables that carry fixed sums and numbers of labels through an elimination. A
 * counter is the sum over the variables of a subtree of the elimination tree: of their codes, or of
 * how many have a code. It adds up the counters of the subtrees below and what the variable at the
 * top adds, and takes only the values from which the rest can still reach the sum; the counter of
 * all variables has one value. A message over a counter is a polynomial of the sum, a coefficient
 * for each value. */
#ifndef SALI_COUNTERS_H
#define SALI_COUNTERS_H

#include "models/exact/elimination_order.h"

typedef struct sali_counter {
    int32_t left;  /* a counter or a variable to add; -1: none */
    int32_t right; /* a counter or a variable to add */
    int32_t code;  /* of a variable: it adds 1 if it has this code; -1: it adds its code */
    int64_t least; /* the value of code 0 */
} sali_counter;

typedef struct sali_counters {
    int64_t n, room;
    sali_counter *list; /* [n] counter k is variable number terms->n - n + k */
} sali_counters;

/* Add to terms that were read, and not filled, the counters of the space's fixed sums and labels
 * and a term for each of them, and replace the complete order of the model's variables by one of
 * all. The order's work is then that of the whole; the order is left as it was if the space has
 * nothing fixed. `memory` bounds the bytes of the terms' tables, `steps` the steps of a few
 * nanoseconds each. Returns: SAL_ERR_UNSUPPORTED with the reason in `why`; SAL_ERR_MEMORY.
 * Source: none known for the counters; elimination trees by Liu 1986. */
sal_status sali_counters_add(const sal_space *space, double memory, int64_t steps,
                             sali_local_terms *terms, sali_elimination_order *order,
                             sali_counters *counters, char *why, size_t room, sal_error *err);

/* Forbid, in the tables of the terms, which were filled, the values at which a counter is not the
 * sum of its parts. */
void sali_counters_forbid(const sali_counters *counters, sali_local_terms *terms);

void sali_counters_free(sali_counters *counters);

#endif
