/* SPDX-License-Identifier: MIT */
/* Zero-temperature ascent from given states. It finds how large the differences of f by one
 * variable are where chains start and where they end. */
#ifndef SALI_ASCENT_H
#define SALI_ASCENT_H

#include "models/model.h"

typedef struct sali_sizes_seen {
    double mean_at_starts, mean_at_ends; /* of the differences that are not 0; 0: there are none */
    double small; /* at the ends: the median over chains of the ceil(sqrt(n))-th smallest of a
                     chain's n sizes; 0: there are none */
} sali_sizes_seen;

/* Move chains uphill until no change of a single variable raises f, or for a bounded number of
 * rounds. `starts` [chains x V] have finite f and become the ends. In a round, variables that can
 * raise f do so together with probability p, which falls by half where that lowers f; one alone
 * takes its best move. Where sums or labels are fixed, the moves are exchanges of pairs, drawn anew
 * in every round. Deterministic by `seed`.
 *
 * Cost: at most 200 rounds of all exact differences, as few as 8 where they need evaluations of all
 * neighbours. Returns: SAL_ERR_MEMORY. */
sal_status sali_ascend(const sal_model *model, int64_t chains, int32_t *starts, uint64_t seed,
                       sali_sizes_seen *seen, sal_error *err);

#endif
