/* SPDX-License-Identifier: MIT */
/* A search in warm-up for what makes chains jump furthest: Rhodes & Gutmann 2022, app. H. The
 * candidates of a stage are tried in turns, and the candidate with the largest mean jump is chosen.
 * The caller decides what the candidates are and how chains use them. */
#ifndef SALI_JUMP_SEARCH_H
#define SALI_JUMP_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sali_jump_search {
    int64_t rungs;         /* independent searches that run at once */
    int64_t room;          /* most candidates of a stage */
    double *jump;          /* [rungs x room] of the candidates of this stage */
    int64_t begin, length; /* first step of the stage, and length of each turn, in steps */
    int64_t candidates;    /* candidates of the stage; 0: no stage is under way */
} sali_jump_search;

/* A stage begins when `done` steps of warm-up are over; length >= 1 if candidates > 0. */
void sali_jump_search_begin(sali_jump_search *s, int64_t candidates, int64_t length, int64_t done);

/* The candidate that group `group` of the chains tries after `done` steps. Each turn gives a group
 * another candidate, so that every group tries all of them. */
int64_t sali_jump_search_turn(const sali_jump_search *s, int64_t group, int64_t done);

/* Whether every candidate had its turn, so that the caller can end the stage with
 * sali_jump_search_best of every rung. */
bool sali_jump_search_over(const sali_jump_search *s, int64_t done);

/* Rung r's candidate with the largest jump; of equals the first. */
int64_t sali_jump_search_best(const sali_jump_search *s, int64_t r);

#endif
