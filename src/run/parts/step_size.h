/* SPDX-License-Identifier: MIT */
/* Step sizes, by temperature. By default a Robbins-Monro recursion on log eps leads the mean
 * acceptance probability of a window to SALI_TARGET_ACCEPTANCE. On request the step size is
 * searched for by the mean jump distance (Rhodes & Gutmann 2022, app. H), first over magnitudes,
 * then over deciles, while chains try different candidates at the same time. Step sizes change in
 * warm-up only; with annealing, whose temperature falls, also after it. */
#ifndef SALI_STEP_SIZE_H
#define SALI_STEP_SIZE_H

#include "core/memory.h"
#include "samplers/jump_search.h"
#include "samplers/sampler.h"

/* Robbins-Monro on log eps towards that acceptance, for each rung separately. */
typedef struct sali_adaptation {
    int64_t n;        /* rungs */
    int64_t *windows; /* [n] so far */
    double *log_step; /* [n] */
    double low, high;
} sali_adaptation;

/* All rungs at the same step size, in arrays of `memory`. SAL_ERR_MEMORY. */
sal_status sali_adapt_begin(sali_adaptation *a, sali_memory *memory, int64_t n,
                            const sal_space *space, double step_size, sal_error *err);

/* Whether the step size of rung r is at the upper bound, 1, or at the lower one, -1; else 0. */
int sali_adapt_bound(const sali_adaptation *a, int64_t r);

/* The next step size of rung r, after a window with this mean acceptance. */
double sali_adapt_next(sali_adaptation *a, int64_t r, double acceptance);

/* The next step size of rung r, with a small constant gain, for targets that keep changing. */
double sali_adapt_follow(sali_adaptation *a, int64_t r, double acceptance);

/* The items of its state (core/state.h), 2 of them. */
int64_t sali_adaptation_state(sali_adaptation *a, sali_state_item *items);

/* Candidates of the two stages of the search. */
#define SALI_MAGNITUDES 5
#define SALI_DECILES 9

/* The shortest warm-up in which the search fits. */
#define SALI_SEARCH_LEAST 40

typedef struct sali_step_sizes {
    sal_step_size_rule rule;    /* USUAL: nothing is to be found */
    int64_t rungs;              /* temperatures */
    double unit;                /* by which the space scales step sizes */
    double *value;              /* [rungs] in use, or found so far */
    sali_adaptation adaptation; /* of the rungs */
    sali_jump_search search;    /* of the rungs */
} sali_step_sizes;

/* All rungs at `step_size`, or at their own given ones if not NULL; arrays of `memory`. */
sal_status sali_step_sizes_create(sali_step_sizes *s, sali_memory *memory, const sal_space *space,
                                  int64_t rungs, sal_step_size_rule rule, double step_size,
                                  const double *given, sal_error *err);

/* The most steps of the window that begins when `done` of `total` steps of warm-up are over: the
 * quarter before the search and each of its turns end with a window. */
int64_t sali_step_sizes_window(const sali_step_sizes *s, int64_t done, int64_t total, int64_t most);

/* After a window of warm-up: learn from the sums of all chains, whose random streams number them:
 * number i is of rung i mod rungs, and successive ones are in a shard. Set the chains' step sizes
 * for the next window. Whether any changed. */
bool sali_step_sizes_learn(sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains,
                           int64_t window, int64_t done, int64_t total);

/* List the items that a resumed run needs; the number of items, SALI_MOST_STATE at most; And, once
 * they were filled into new step sizes of the same rule and rungs, with `done` of `total` steps of
 * warm-up over: SAL_ERR_DATA if they cannot be used. Set the chains by sali_step_sizes_set then,
 * except during a search, in which chains keep their step sizes. With an endless warm-up the rule
 * cannot be SEARCH. */
int64_t sali_step_sizes_state(sali_step_sizes *s, sali_state_item *items);
sal_status sali_step_sizes_restored(sali_step_sizes *s, sal_dtype dtype, int64_t done,
                                    int64_t total, sal_error *err);

/* Set the step sizes of the chains to those in use. */
void sali_step_sizes_set(const sali_step_sizes *s, int64_t n_shards, sali_chains *const *chains);

/* The step sizes of a run. */
const sali_step_sizes *sali_run_step_sizes(const sal_run *run);

#endif
