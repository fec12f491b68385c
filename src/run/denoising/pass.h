/* SPDX-License-Identifier: MIT */
/* A pass down a denoising chain in parts, for whoever looks at the states between levels. `self`
 * and `chains` are those of an opened sali_denoising_record. The beginning, the levels T - 1 .. 0
 * in turn, and the end are one step of the sampler. After each part chains->codes are the states;
 * the rest of the chains follows at the end. */
#ifndef SALI_PASS_H
#define SALI_PASS_H

#include "run/trajectory/trajectory.h"

/* Draw x_T from p_0. */
void sali_pass_begin(void *self, sali_chains *chains);

/* From x_(t+1) to x_t. */
void sali_pass_level(void *self, sali_chains *chains, int64_t t);

/* Also of a pass that is broken off: the next one draws other noise. */
void sali_pass_end(void *self, sali_chains *chains);

#endif
