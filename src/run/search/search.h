/* SPDX-License-Identifier: MIT */
/* Searches of several coolings. */
#ifndef SALI_SEARCH_H
#define SALI_SEARCH_H

#include "run/run.h"

/* Whether the options ask for more than one cooling. */
bool sali_is_search(const sal_run_options *options);

/* Cool again and again, and keep the best run; as sal_sample. The k-th cooling has the same bits
 * whenever it is made. */
sal_status sali_search(sal_model *model, const sal_run_options *options, sal_run **out,
                       sal_error *err);

/* Draws of cooling `number`, counted from 0, if the caller gives no number of draws; and its seed,
 * computed from the search's seed. */
int64_t sali_cooling_draws(int64_t number);
uint64_t sali_cooling_seed(uint64_t seed, int64_t number);

/* The trial of a colder start takes its seed by this number; there are fewer coolings. */
#define SALI_TRIAL_NUMBER INT64_C(0xffffffff)

#endif
