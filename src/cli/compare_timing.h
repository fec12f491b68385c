/* SPDX-License-Identifier: MIT */
/* How fast a sampler is, from runs that are repeated until their rates agree. */
#ifndef COMPARE_TIMING_H
#define COMPARE_TIMING_H

#include <stdbool.h>
#include <stdint.h>

/* A run of this many seconds shows how fast a sampler is. */
#define COMPARE_TRIAL_SECONDS 0.05

/* The two highest rates so far: other work on the machine only makes runs slower. Zeroed at the
 * start. */
typedef struct compare_timing {
    int trials;
    double fastest, next;
} compare_timing;

/* The thin that makes a run long enough, if the run took `seconds` with `thin`. */
int64_t compare_timing_thin(int64_t thin, double seconds);

/* Whether another run is wanted: the two fastest runs do not agree, and there were not too many. */
bool compare_timing_wants(const compare_timing *t);
void compare_timing_add(compare_timing *t, double rate);

/* Whether the two fastest runs agree. */
bool compare_timing_agrees(const compare_timing *t);

#endif
