/* SPDX-License-Identifier: MIT */
/* The orders of a shuffled scan: in every sweep a new permutation of n items, all n! of them
 * equally likely.
 *
 * A permutation is a function of the seed and the number of the sweep alone. So a resumed run needs
 * no hidden state, and all chains, in whatever shards, use the same order: each step is one exact
 * kernel for all chains, which are independent given the order. (The programs of Grathwohl et al.
 * 2021, too, shuffle once for a batch of chains.) */
#ifndef SALI_SHUFFLE_H
#define SALI_SHUFFLE_H

#include "samplers/sampler.h"

/* Orders of a shard, with a row for each chain. Chains in the sweep of row 0 use row 0; the other
 * rows serve chains that have made other numbers of steps, as the chains of a training's buffer
 * have. */
typedef struct sali_shuffle {
    uint64_t seed;
    int64_t n;       /* items */
    int64_t rows;    /* chains */
    uint64_t *sweep; /* [chains] 1 + the number of the sweep whose order the row has; 0: none yet */
    int64_t *order;  /* [chains x n] */
} sali_shuffle;

/* Create orders for the chains of a shard, which belong to `object`. NULL: no memory, which the
 * object records (core/object.h). */
sali_shuffle *sali_shuffle_open(void *object, const sali_chains *chains, int64_t n);

/* Take the seed of the chains, at a refresh. NULL is fine. */
void sali_shuffle_refresh(sali_shuffle *shuffle, const sali_chains *chains);

/* The items [n] in the order in which chain c goes through them in sweep number `sweep`. The array
 * is valid until the chain, or chain 0, asks for another sweep. O(n) when the sweep is new. */
const int64_t *sali_shuffle_order(sali_shuffle *shuffle, int64_t c, uint64_t sweep);

#endif
