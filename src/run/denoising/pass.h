/* SPDX-License-Identifier: MIT */
/* A pass down a denoising chain in parts, for callers that need the states between levels. `self`
 * and `chains` are the sampler and the chains of an opened sali_denoising_record. The beginning,
 * the levels T - 1 .. 0 in turn, and the end are one step of the sampler. After each part
 * chains->codes are the states; the other arrays of the chains are updated at the end. */
#ifndef SALI_PASS_H
#define SALI_PASS_H

#include "run/trajectory/trajectory.h"

/* Draw x_T from p_0. */
void sali_pass_begin(void *self, sali_chains *chains);

/* Move from x_(t+1) to x_t. */
void sali_pass_level(void *self, sali_chains *chains, int64_t t);

/* End a pass. Call it also for a pass that is broken off, so that the next one draws other
 * noise. */
void sali_pass_end(void *self, sali_chains *chains);

#endif
