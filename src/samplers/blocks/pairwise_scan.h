/* SPDX-License-Identifier: MIT */
/* Systematic scans of Gibbs sampling over pairwise models (models/structure/couplings.h),
 * vectorised over the chains of a shard: step t sets variable t mod V of every chain.
 *
 * With u uniform, b_i becomes 1 where logit(u) < beta (h_i + sum_j J_ij b_j), whose probability is
 * the conditional's. Thresholds logit(u) do not depend on states, so they are computed for
 * SALI_SCAN_CHUNK steps at a time; the rest of a step is a sum over neighbours and a comparison.
 * One block of random numbers (in double: two) serves four consecutive steps of a chain, and is a
 * function of seed, chain and these steps only. Where couplings and temperatures allow it, words
 * hold many spins (multispin.h) instead.
 *
 * Bits are kept as [V x lanes], the chains fastest, in the model's type. */
#ifndef SALI_PAIRWISE_SCAN_H
#define SALI_PAIRWISE_SCAN_H

#include "models/structure/couplings.h"
#include "samplers/sampler.h"

typedef struct sali_pairwise_scan sali_pairwise_scan;

/* *out is NULL, with SAL_OK, if the model is not pairwise. All memory belongs to `object`
 * (core/object.h), which records a failed allocation. */
sal_status sali_pairwise_scan_open(void *object, const sali_chains *chains,
                                   sali_pairwise_scan **out, sal_error *err);

/* Start from the chains' states and temperatures, and read the couplings if the parameters have
 * changed; sets f. Returns false, and does nothing, if the chains have made different numbers of
 * steps, the couplings are not finite or too large for the model's type, or there is no memory. */
bool sali_pairwise_scan_refresh(sali_pairwise_scan *scan, sali_chains *chains);

/* n steps of every chain; step counters and sums of `chains` are updated, and codes, x and f are
 * current at the end. */
void sali_pairwise_scan_steps(sali_pairwise_scan *scan, sali_chains *chains, int64_t n);

/* ---- the kernels, for both types */

/* Lanes come in multiples of this. */
#define SALI_SCAN_LANES 16
/* Steps whose thresholds are made together, from whole blocks of random numbers. */
#define SALI_SCAN_CHUNK 32

typedef struct sali_scan_tile {
    int64_t lanes;
    const int64_t *begin; /* [V + 1] first neighbour of each variable, as in sali_coupling_values */
    const int32_t *neighbour;
    const void *h, *J; /* real [V], [begin[V]] */
    const void *beta;  /* real [lanes] */
    void *bits;        /* real [V x lanes] */
    void *thresholds;  /* real [SALI_SCAN_CHUNK x lanes] */
    void *flips;       /* real [lanes]: how many bits changed since it was cleared */
    double *f;         /* [lanes] */
} sali_scan_tile;

/* Turn n words into n thresholds; in double 2n words, in rows of `width`, of low and high halves in
 * turn. */
void sali_scan_thresholds_f32(int64_t n, const uint32_t *words, float *thresholds);
void sali_scan_thresholds_f64(int64_t n, int64_t width, const uint32_t *words, double *thresholds);

/* Set `count` variables from `first` on in all chains, by the thresholds from row `row` on. */
void sali_scan_sites_f32(const sali_scan_tile *tile, int64_t first, int64_t count, int64_t row);
void sali_scan_sites_f64(const sali_scan_tile *tile, int64_t first, int64_t count, int64_t row);

/* Write codes and reals of `count` variables of two levels from `first` on, for all chains; `codes`
 * and `x` are where the first variable's of chain 0 go. */
void sali_scan_store_f32(const sali_scan_tile *tile, int64_t chains, int64_t first, int64_t count,
                         const double *level, int32_t *codes, int64_t codes_row, void *x,
                         int64_t x_row);
void sali_scan_store_f64(const sali_scan_tile *tile, int64_t chains, int64_t first, int64_t count,
                         const double *level, int32_t *codes, int64_t codes_row, void *x,
                         int64_t x_row);

#endif
