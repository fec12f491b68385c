/* SPDX-License-Identifier: MIT */
/* All moves of up to r variables at once, enumerated: a Hamming ball around a state. */
#ifndef SALI_BALL_H
#define SALI_BALL_H

#include "core/space.h"
#include <saltus/status.h>

/* The most moves of a ball; a row of weights has one entry for each. */
#define SALI_BALL_MOST 65536
/* The largest radius: 2^16 - 1 moves of 16 two-level variables. */
#define SALI_BALL_RADIUS 16

/* Sets of slots (core/space.h) of different variables, in lexicographic order. */
typedef struct sali_ball {
    int64_t radius, size;
    int32_t *slots; /* [size x radius] ascending, filled up with the number of slots */
} sali_ball;

/* Number of moves in the ball, including the slots for staying of multi-level variables;
 * SALI_BALL_MOST + 1 stands for all larger numbers. */
int64_t sali_ball_size(const sal_space *space, int64_t radius);

/* Create a ball of at most SALI_BALL_MOST moves. `slots` belong to `object` (core/object.h), which
 * records a failed allocation. */
void sali_ball_create(void *object, const sal_space *space, int64_t radius, sali_ball *ball);

/* The move that changes the variables where `from` and `to` differ to the codes of `to`; -1 if it
 * is not in the ball, as where a count without a cap changes by more than 1. */
int64_t sali_ball_find(const sali_ball *ball, const sal_space *space, const int32_t *from,
                       const int32_t *to);

#endif
