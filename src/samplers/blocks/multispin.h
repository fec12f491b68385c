/* SPDX-License-Identifier: MIT */
/* Systematic scans of Gibbs sampling with many spins a word: bit k of word w of a variable is its
 * state in chain 32 w + k of the shard, and one instruction works on all bits of a word. For
 * pairwise models (models/structure/couplings.h) whose couplings have one or two sizes, of any
 * signs, and whose variables have few neighbours.
 *
 * The neighbours that pull a bit up are counted by adders of bits; each count k has its probability
 * p_k of 1. The new bit is 1 where u < p_k, with u uniform in (0, 1): binary digits of u are drawn,
 * for all bits of a word at once, until each differs from that of p_k. This takes two digits a bit
 * on average and is exact to the 64 digits of p_k. Digits are a function of seed, step, and which
 * chains are in the word.
 *
 * Whole sweeps take variables in an order that gives the same states as one after the other, in
 * vectors of SALI_SPIN_LANES variables that are not neighbours (of a lattice: parts of its
 * diagonals). Sources: Jacobs & Rebbi 1981, Multi-spin coding; Knuth & Yao 1976, The complexity of
 * nonuniform random number generation, for the digits. */
#ifndef SALI_MULTISPIN_H
#define SALI_MULTISPIN_H

#include "models/structure/couplings.h"
#include "samplers/sampler.h"

#define SALI_SPIN_LANES 16
/* The most neighbours of one size, and the most counts of both sizes together. */
#define SALI_SPIN_NEIGHBOURS 15
#define SALI_SPIN_COUNTS 16

/* Vectors of which at least this share are variables are worth their work. */
#define SALI_SPIN_FILL 0.4

typedef struct sali_multispin sali_multispin;

/* *out is NULL, with SAL_OK, if the couplings or the variables are not suited, or if the variables
 * fill less than `fill` of the vectors. `couplings` are not kept. Returns: SAL_ERR_MEMORY. */
sal_status sali_multispin_create(const sal_space *space, const sali_coupling_values *couplings,
                                 int64_t chains, double fill, sali_multispin **out);
void sali_multispin_destroy(sali_multispin *m);

/* Start from the chains' states, and at the first steps from their f. Returns false, and does
 * nothing, if the chains' temperatures differ. */
bool sali_multispin_start(sali_multispin *m, const sali_chains *chains);

/* n steps of every chain, which all have made as many; codes, x, f, step counters and sums of
 * `chains` are current at the end. f is that of the start and whole numbers of sizes and fields, so
 * that nothing drifts, and n steps have the bits of n calls. */
void sali_multispin_steps(sali_multispin *m, sali_chains *chains, int64_t n);

/* ---- the kernels */

/* The highest bit of a neighbour in a list: it pulls up where its bit is 0, not 1. */
#define SALI_SPIN_TURNED (UINT32_C(1) << 31)

/* Up to SALI_SPIN_LANES variables that are no neighbours, and their probabilities. Lanes without a
 * variable, and neighbours that do not exist, name a variable after the last, which is 0 in all
 * chains. */
typedef struct sali_spin_tile {
    const uint32_t *site;   /* [SALI_SPIN_LANES] */
    const uint32_t *near;   /* [(slots[0] + slots[1]) x SALI_SPIN_LANES] */
    int slots[2];           /* neighbours of each size */
    const uint32_t *digits; /* [64 x (slots[0] + 1) x (slots[1] + 1)]: all bits of digit j of p_k */
    uint32_t from, to;      /* variables `from` .. `to` - 1 are drawn, others stay */
    uint32_t live;          /* the bits that are chains */
} sali_spin_tile;

/* Draw the variables of a tile; `stream` is that of the sweep's first step. changed
 * [SALI_SPIN_LANES] receives which bits changed. */
void sali_spin_update(const sali_spin_tile *tile, const sali_stream *stream, uint32_t *states,
                      uint32_t *changed);

/* For each size a sum has so many binary digits. */
#define SALI_SPIN_DIGITS 5

/* Write the words of a tile's variables to ones [SALI_SPIN_LANES], and those that have binary digit
 * b of a sum, to digits + b step, and of the second size to digits + (SALI_SPIN_DIGITS + b) step.
 * The sum is that of the neighbours of the size that pull up, and of those that are turned: over
 * all variables it is twice the change of f in this size since all bits were 0. */
void sali_spin_list(const sali_spin_tile *tile, const uint32_t *states, uint32_t *ones,
                    uint32_t *digits, int64_t step);

/* totals [32] += `weight` times how many of n words, a multiple of SALI_SPIN_LANES, have each bit.
 */
void sali_spin_totals(int64_t n, const uint32_t *words, int64_t weight, int64_t *totals);

/* The same of one word. */
void sali_spin_add(uint32_t word, int64_t weight, int64_t *totals);

/* codes[i] = bit `bit` of states[i], i < count. */
void sali_spin_codes(int64_t count, const uint32_t *states, int bit, int32_t *codes);

#endif
