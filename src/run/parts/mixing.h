/* SPDX-License-Identifier: MIT */
#ifndef SALI_MIXING_H
#define SALI_MIXING_H

#include "run/part.h"

/* ESS, R-hat and mean of f of the draws that a run has made so far, and R-hat of its variables,
 * into a summary that knows its unmoved chains. At rank 0, which must have all draws
 * (sali_record_collect). Returns: MEMORY. Cost: O(chains draws log draws + V). */
sal_status sali_mixing_summarise(const sal_run *run, sal_run_summary *s, sal_error *err);

/* Add R-hat of the variables, numbered as in the whole space, to a summary that has R-hat of f
 * (agreement.c). */
sal_status sali_agreement_summarise(const sal_run *run, sal_run_summary *s, sal_error *err);

#endif
