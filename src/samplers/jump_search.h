/* SPDX-License-Identifier: MIT */
/* A search in warm-up for what makes chains jump furthest: Rhodes & Gutmann 2022, app. H. The
 * candidates of a stage are tried in turns, and the one of the largest mean jump is taken. What the
 * candidates are and how chains take them is the caller's. */
#ifndef SALI_JUMP_SEARCH_H
#define SALI_JUMP_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sali_jump_search {
    int64_t rungs;         /* things that are searched for at once, each by itself */
    int64_t room;          /* candidates of a stage, at most */
    double *jump;          /* [rungs x room] of the candidates of this stage */
    int64_t begin, length; /* of the stage, and of each turn within it, in steps */
    int64_t candidates;    /* of the stage; 0: none is under way */
} sali_jump_search;

/* A stage begins when `done` steps of warm-up are over; length >= 1 if candidates > 0. */
void sali_jump_search_begin(sali_jump_search *s, int64_t candidates, int64_t length, int64_t done);

/* What group `group` of the chains tries after `done` steps: in turns each group tries another
 * candidate, so that all groups try all of them. */
int64_t sali_jump_search_turn(const sali_jump_search *s, int64_t group, int64_t done);

/* Whether every candidate had its turn; then the stage can be ended by _best of every rung. */
bool sali_jump_search_over(const sali_jump_search *s, int64_t done);

/* Rung r's candidate of the largest jump; the first of equal ones. */
int64_t sali_jump_search_best(const sali_jump_search *s, int64_t r);

#endif
