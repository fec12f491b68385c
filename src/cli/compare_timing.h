/* SPDX-License-Identifier: MIT */
/* How fast a sampler is, from runs that are repeated until their rates agree. */
#ifndef COMPARE_TIMING_H
#define COMPARE_TIMING_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds of a run that say how fast a sampler is. */
#define COMPARE_TRIAL_SECONDS 0.05

/* The two fastest of the rates so far: what else the machine does only makes runs slower. Zeroed at
 * the start. */
typedef struct compare_timing {
    int trials;
    double fastest, next;
} compare_timing;

/* Steps from draw to draw with which a run that took `seconds` with `thin` takes long enough. */
int64_t compare_timing_thin(int64_t thin, double seconds);

/* Whether another run is wanted: the two fastest do not agree, and there were not too many. */
bool compare_timing_wants(const compare_timing *t);
void compare_timing_add(compare_timing *t, double rate);

/* Whether another run came near the fastest one. */
bool compare_timing_agrees(const compare_timing *t);

#endif
