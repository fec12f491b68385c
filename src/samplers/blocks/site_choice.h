/* SPDX-License-Identifier: MIT */
/* The item, a variable or a piece of a sweep, that a chain's step takes, as a function of the
 * chain's step number and of the second half of a block of its random numbers. */
#ifndef SALI_SITE_CHOICE_H
#define SALI_SITE_CHOICE_H

#include <stdint.h>

#include "samplers/blocks/shuffle.h"

/* In the order of the words of the setting `scan`. */
enum { SALI_SCAN_SYSTEMATIC, SALI_SCAN_SHUFFLED, SALI_SCAN_RANDOM, SALI_SCAN_ADAPTIVE };

typedef struct sali_site_choice {
    int scan;
    int64_t n;                /* items */
    sali_shuffle *shuffle;    /* the orders of a shuffled scan */
    const double *cumulative; /* [n] sums of an adaptive scan's probabilities */
} sali_site_choice;

/* The item of chain c at a step, with words 2 and 3 (low, high) of its block of random numbers: for
 * a random scan sali_rng_below(stream, 1, n), for an adaptive one the first i with u <
 * cumulative[i], u being element 1 of sali_rng_uniform_at times the last of the sums. */
static inline int64_t sali_choose_site(const sali_site_choice *how, int64_t c, uint64_t step,
                                       uint32_t low, uint32_t high)
{
    uint64_t n = (uint64_t)how->n;
    if (how->scan == SALI_SCAN_SYSTEMATIC) {
        return (int64_t)(step % n);
    }
    if (how->scan == SALI_SCAN_SHUFFLED) {
        return sali_shuffle_order(how->shuffle, c, step / n)[step % n];
    }
    if (how->scan == SALI_SCAN_RANDOM) {
        return (int64_t)((high * n + (low * n >> 32)) >> 32);
    }
    uint64_t bits = ((uint64_t)high << 32 | low) >> 12;
    double u = ((double)bits * 0x1p-52 + 0x1p-53) * how->cumulative[n - 1];
    int64_t first = 0, last = how->n - 1;
    while (first < last) {
        int64_t middle = (first + last) / 2;
        first = u < how->cumulative[middle] ? first : middle + 1;
        last = u < how->cumulative[middle] ? middle : last;
    }
    return first;
}

#endif
