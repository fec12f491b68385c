/* SPDX-License-Identifier: MIT */
/* Parallel tempering: a ladder of temperatures, found in warm-up, and swaps of states between
 * neighbours on it. Okabe et al. 2001 (even and odd pairs in turn); Syed, Bouchard-Côté,
 * Deligiannidis & Doucet 2022, Non-reversible parallel tempering: a scalable highly parallel MCMC
 * scheme.
 *
 * Replica r of a chain keeps its temperature, and states move. At fixed steps even and odd pairs
 * exchange states in turn. In warm-up temperatures are placed so that all swap rates are equal, by
 * interpolating the cumulative rejection. Draws are those of temperature 1. */
#ifndef SALI_TEMPERING_H
#define SALI_TEMPERING_H

#include "core/memory.h"
#include "samplers/sampler.h"

/* The swaps of one shard, whose chains are slots: replica r of a chain is at temperature r of the
 * ladder, and states move. The number of a slot among all is the number of its random stream, and
 * its replica is this number modulo `replicas`; the slots of a shard are consecutive. */
typedef struct sali_swaps {
    int64_t n, replicas;
    /* [replicas] By pair of replicas (r, r + 1), since the counts were cleared: swaps tried, swaps
     * made, and the sum of the swaps' probabilities. */
    int64_t *tried, *made;
    double *probability;
    bool *from_hottest;  /* [n] the state in a slot was last at the hot end, not at the cold one */
    int64_t round_trips; /* of all states: from the coldest to the hottest slot and back */
    int64_t f_count;     /* of f at the hottest temperature, less the first one */
    double f_first, f_sum, f_squares;
    int32_t *codes; /* [V] */
    void *x;        /* real [N] */
} sali_swaps;

/* Arrays are of `memory`. SAL_ERR_MEMORY. */
sal_status sali_swaps_create(sali_swaps *swaps, sali_memory *memory, const sali_chains *chains,
                             int64_t replicas, sal_error *err);

/* Log of the Metropolis ratio for the product of two targets, with which states with f_a and f_b,
 * at inverse temperatures beta_a and beta_b, change places: (beta_a - beta_b) (f_b - f_a).
 * Forbidden states stay where they are. */
double sali_swap_log_ratio(double beta_a, double beta_b, double f_a, double f_b);

/* Try the pairs (r, r + 1) within the shard with r of a parity, after the chains' present step; the
 * caller refreshes the sampler's caches. */
void sali_swap(sali_swaps *swaps, sali_chains *chains, int64_t parity);

/* The probability of a swap. As steps do (sali_stay_probability), states stay now and then whatever
 * the ratio is: replicas whose swaps are always accepted would change places for ever, in step with
 * the draws. */
double sali_swap_probability(const sal_space *space, double log_ratio);

/* Whether the states of slot `stream.chain` and the next one change places, with this probability;
 * counted in `swaps` if not NULL. */
bool sali_swap_is_made(sali_swaps *swaps, int64_t replica, sali_stream stream, double probability);

/* Forget what was counted; with `trips` also the round trips, which begin again. */
void sali_swaps_clear(sali_swaps *swaps, bool trips);

/* The temperatures. */
typedef struct sali_ladder {
    int64_t n;     /* replicas */
    int64_t every; /* steps from one swap to the next */
    bool adapt;    /* false: given */
    double *beta;  /* [n] from 1 down */
    int64_t updates;
    /* After the run, for its summary. */
    double *temperature, *rate; /* [n], [n - 1] */
    double barrier, round_trips;
} sali_ladder;

/* Make a ladder of n replicas with given temperatures, or if NULL with a first guess, to be
 * adapted; its arrays are of `memory`. */
sal_status sali_ladder_create(sali_ladder *ladder, sali_memory *memory, int64_t n,
                              const double *temperatures, sal_error *err);

/* Whether the ladder is to be recomputed between `before` and `done` steps of a warm-up: when 1/32,
 * 1/16, .. 1/2 of it are over. */
bool sali_ladder_is_due(const sali_ladder *ladder, int64_t before, int64_t done, int64_t total);

/* Spread the temperatures for equal rates of rejection, from what the shards counted since the last
 * update, and clear these counts; move the hot end to where f varies little at its temperature. */
void sali_ladder_update(sali_ladder *ladder, int64_t n_shards, sali_swaps *const *swaps);

/* Set the figures for the summary of a run with this number of chains. */
void sali_ladder_finish(sali_ladder *ladder, int64_t chains, int64_t n_shards,
                        sali_swaps *const *swaps);

/* The ladder of a run, of 1 without tempering; and the swaps of a shard, NULL without tempering. */
const sali_ladder *sali_run_ladder(const sal_run *run);
sali_swaps *sali_run_swaps(const sal_run *run, int64_t shard);

#endif
