/* SPDX-License-Identifier: MIT */
#include "cli/compare_timing.h"

#include <math.h>

#define TRIALS 6
#define AGREE 0.9
#define MOST_LONGER 1000

int64_t compare_timing_thin(int64_t thin, double seconds)
{
    double longer = fmin(COMPARE_TRIAL_SECONDS / fmax(seconds, 1e-6), MOST_LONGER);
    return thin * (int64_t)ceil(longer);
}

bool compare_timing_agrees(const compare_timing *t)
{
    return t->trials > 1 && t->next >= AGREE * t->fastest;
}

bool compare_timing_wants(const compare_timing *t)
{
    return t->trials < TRIALS && !compare_timing_agrees(t);
}

void compare_timing_add(compare_timing *t, double rate)
{
    t->trials++;
    t->next = fmax(t->next, fmin(rate, t->fastest));
    t->fastest = fmax(t->fastest, rate);
}
