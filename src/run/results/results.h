/* SPDX-License-Identifier: MIT */
/* What is computed or told of a run that is over, at rank 0. */
#ifndef SALI_RESULTS_H
#define SALI_RESULTS_H

#include <stdio.h>

#include "run/run.h"

/* A chain of fewer draws has no ESS even if it moves. */
#define SALI_FEW_DRAWS 4

/* For people: the sampler, settings other than the standard ones, and what warm-up found, but for
 * lists (tuning.c). */
void sali_run_print_sampler(const sal_run *run, FILE *stream);

/* Draws down a denoising chain are independent: nothing has to mix from one to the next. */
bool sali_run_is_from_scratch(const sal_run_summary *s);

/* The first variables that never changed, "3, 17, ..". */
void sali_unchanged_list(const sal_run_summary *s, char *text, size_t room);

/* Variables that never changed in any chain, in a summary that has its unmoved chains
 * (unchanged.c). Cost: O(chains R), and f of some thousand states if there are any. */
sal_status sali_unchanged_summarise(const sal_run *run, sal_run_summary *s, sal_error *err);

/* States that f allows and that the sampler cannot reach, where there are at most 256
 * (unreached.c). Cost: f of all states, and a transition matrix if f forbids some and they are few,
 * or O(states V) where the sampler moves known blocks. */
sal_status sali_unreached_summarise(const sal_run *run, sal_run_summary *s, sal_error *err);

/* The number of states that f [all states] allows and that moves of blocks of `size` consecutive
 * variables, each to any state that f allows, do not reach from a most probable state. Returns:
 * SAL_ERR_MEMORY. Cost: O(states V / size). */
sal_status sali_unreached_by_blocks(const sal_space *space, const double *f, int64_t size,
                                    int64_t *unreached, sal_error *err);

#endif
