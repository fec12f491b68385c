/* SPDX-License-Identifier: MIT */
/* Slices: the states of a stretch whose codes have a fixed sum, or fixed numbers of each code. They
 * are numbered in the order of their codes, read as words. */
#ifndef SALI_SLICE_H
#define SALI_SLICE_H

#include "core/rng.h"
#include "core/space.h"

/* The most variables of a permutation: each has as many labels. */
#define SALI_MOST_PERMUTED 4096

/* Number of states of a fixed stretch; INFINITY past double's range, and past what can be
 * enumerated where a sum of more than two levels is fixed. */
double sali_slice_count(const sali_stretch *s);

/* log10 of the number of states of a stretch, fixed or not; counts without a cap are left out. */
double sali_stretch_log10(const sali_stretch *s);

/* The functions below need a count below 2^40. */

/* Advance codes [count of the stretch] to the next state. Returns false after the last one, and the
 * first one follows. */
bool sali_slice_next(const sali_stretch *s, int32_t *codes);

/* The state of number `index` in 0 .. count - 1; and the number of a state. */
void sali_slice_at(const sali_stretch *s, int64_t index, int32_t *codes);
int64_t sali_slice_index(const sali_stretch *s, const int32_t *codes);

/* A random state: uniform where numbers of codes are fixed; where a sum is, one in which no
 * variable has more than about twice its part. Reads `count` elements of the stream from `element`
 * on (core/rng.h). Cost: O(count + states). */
void sali_slice_random(const sali_stretch *s, const sali_stream *stream, uint32_t element,
                       int32_t *codes);

#endif
