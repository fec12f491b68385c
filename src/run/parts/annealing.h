/* SPDX-License-Identifier: MIT */
#ifndef SALI_ANNEALING_H
#define SALI_ANNEALING_H

#include "run/part.h"

/* A chain and its present f, to sort all chains. */
typedef struct sali_standing {
    double f;
    sali_run_shard *shard;
    int64_t chain; /* of the run */
} sali_standing;

/* Annealing that heats again. */
typedef struct sali_heating {
    int64_t reheats;          /* so far */
    int64_t begun;            /* the step after warm-up at which the present cooling began */
    int64_t looked;           /* draws made at the last look for stagnation */
    double peak;              /* the temperature to rise to; 0: not known yet */
    sali_standing *standings; /* [chains] to sort them; NULL: nothing heats */
    int32_t *best;            /* [V] the best state of all */
    bool *moved;              /* [n_shards] a chain of the shard was just moved to the best state */
} sali_heating;

typedef struct sali_annealing {
    sal_run *run;
    double from, to; /* temperatures */
    sali_heating heating;
} sali_annealing;

#define SALI_HEAT_BINS 16

/* The annealing of a run; NULL without. */
static inline const sali_annealing *sali_run_annealing(const sal_run *run)
{
    return run->selves[SALI_PART_annealing];
}

/* The temperature at a step after warm-up. */
double sali_anneal_temperature_at(const sal_run *run, int64_t step);

/* sali_heat_edge: the index of the last of n falling temperatures at which the specific heat is a
 * tenth of the largest or more. sali_heat_temperature: the temperature a little above that one,
 * where chains freeze, from all draws made of a run that anneals. */
int64_t sali_heat_edge(int64_t n, const double *heat);
double sali_heat_temperature(const sal_run *run);

/* Move the quarter of the chains with the smallest f (of equal ones the first) to the best state
 * met, in a run that heats again. Collective. Cost: O(chains log chains). */
sal_status sali_share_best(const sal_run *run, sal_error *err);

#endif
