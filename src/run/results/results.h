/* SPDX-License-Identifier: MIT */
/* What is computed and printed of a finished run, at rank 0. */
#ifndef SALI_RESULTS_H
#define SALI_RESULTS_H

#include <stdio.h>

#include "run/run.h"

/* A chain of fewer draws has no ESS even if it moves. */
#define SALI_FEW_DRAWS 4

/* Print, for people, the sampler, its settings other than the defaults, and the numbers (not the
 * lists) that warm-up found (tuning.c). */
void sali_run_print_sampler(const sal_run *run, FILE *stream);

/* Whether the draws are made down a denoising chain: they are independent, and need not mix. */
bool sali_run_is_from_scratch(const sal_run_summary *s);

/* Write the first variables that never changed into `text`, as "3, 17, ..". */
void sali_unchanged_list(const sal_run_summary *s, char *text, size_t room);

/* Set the fields of variables that never changed in any chain; s->unmoved must be set
 * (unchanged.c). Cost: O(chains R), and f of some thousand states if there are such variables. */
sal_status sali_unchanged_summarise(const sal_run *run, sal_run_summary *s, sal_error *err);

/* Set s->unreached, the number of states that f allows and the sampler cannot reach; -1: not known
 * (unreached.c). Cost: f of all states, and a transition matrix if f forbids some and there are
 * few, or O(states V) where the sampler moves known blocks. */
sal_status sali_unreached_summarise(const sal_run *run, sal_run_summary *s, sal_error *err);

/* Set *unreached to the number of states that f [all states] allows and that are out of reach from
 * a most probable state by moves of blocks of `size` consecutive variables, each move to any state
 * that f allows. Returns: SAL_ERR_MEMORY. Cost: O(states V / size). */
sal_status sali_unreached_by_blocks(const sal_space *space, const double *f, int64_t size,
                                    int64_t *unreached, sal_error *err);

#endif
