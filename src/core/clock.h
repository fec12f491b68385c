/* SPDX-License-Identifier: MIT */
#ifndef SALI_CLOCK_H
#define SALI_CLOCK_H

/* Seconds of a monotonic clock, from an arbitrary starting point. */
double sali_now(void);

#endif
