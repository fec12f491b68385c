/* SPDX-License-Identifier: MIT */
/* The orders of a shuffled scan: in every sweep a new permutation of n items, all n! of them
 * equally likely.
 *
 * A permutation is a function of the seed and the number of the sweep alone. So nothing is hidden
 * that a resumed run would miss, and all chains, however they are sharded, go the same way: each
 * step is one exact kernel for all of them, given which they are independent. (The programs of
 * Grathwohl et al. 2021 shuffle once for a batch of chains, too.) */
#ifndef SALI_SHUFFLE_H
#define SALI_SHUFFLE_H

#include "samplers/sampler.h"

/* A row for each chain of a shard. Chains in the sweep of row 0 read that row; the other rows serve
 * chains that have made other numbers of steps, as those of a training's buffer. */
typedef struct sali_shuffle {
    uint64_t seed;
    int64_t n;       /* items */
    int64_t rows;    /* chains */
    uint64_t *sweep; /* [chains] whose order the row has, plus 1; 0: of none yet */
    int64_t *order;  /* [chains x n] */
} sali_shuffle;

/* It belongs to `object`. NULL: no memory; then the object fails (core/object.h). */
sali_shuffle *sali_shuffle_open(void *object, const sali_chains *chains, int64_t n);

/* Take the seed of the chains, at a refresh. NULL is fine. */
void sali_shuffle_refresh(sali_shuffle *shuffle, const sali_chains *chains);

/* The items [n] in the order in which chain c goes through them in sweep number `sweep`; they stay
 * until the chain, or chain 0, asks for another sweep. O(n) when the sweep is new. */
const int64_t *sali_shuffle_order(sali_shuffle *shuffle, int64_t c, uint64_t sweep);

#endif
