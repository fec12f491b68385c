/* SPDX-License-Identifier: MIT */
#ifndef SALI_CLOCK_H
#define SALI_CLOCK_H

/* Seconds of a clock that does not jump. */
double sali_now(void);

#endif
