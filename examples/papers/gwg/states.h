/* Samples of states, and how far they are from those of another sampler. */
#ifndef STATES_H
#define STATES_H

#include <saltus/saltus.h>

/* Run, and take the last state of each chain: codes [chains x V], of two-level variables. */
sal_status states_at_end(sal_model *model, const sal_run_options *options, uint8_t *states,
                         sal_error *err);

void states_to_bytes(int64_t n, const int32_t *codes, uint8_t *bytes);

/* log MMD from the unbiased estimate of its square, whose noise with 100 states is about 1e-4: what
 * is less, or negative, counts as that, -4.605. */
double log_mmd(double mmd2);

#endif

/* SPDX-License-Identifier: MIT */
