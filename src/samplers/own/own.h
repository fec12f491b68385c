/* SPDX-License-Identifier: MIT */
/* The random numbers of users' own samplers, which own.c hands out and own_helpers.c makes. */
#ifndef SALI_OWN_H
#define SALI_OWN_H

#include "samplers/sampler.h"

struct sal_random {
    sali_stream stream;
    uint32_t next;     /* index of the next number */
    double buffer[16]; /* numbers from next & ~15 on, filled when the first of them is taken */
};

#endif
