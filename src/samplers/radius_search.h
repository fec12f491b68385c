/* SPDX-License-Identifier: MIT */
/* The radius of a window, or another number that moves depend on, searched for in warm-up by the
 * mean jump (Rhodes & Gutmann 2022, app. H):
 * after a first quarter at 1, the radii 1, 5, 10, 15, 20 are tried in the second quarter, and in
 * the third those from r to r', the two neighbours among these with the largest sum of mean jumps.
 * All chains try the same at a time. In a short warm-up, where a turn would be shorter than a
 * window, not all of them are tried; one that never ends is searched in as one of
 * SALI_RADIUS_ENDLESS steps. Another number has first + unit (r - 1) in the place of a radius r. */
#ifndef SALI_RADIUS_SEARCH_H
#define SALI_RADIUS_SEARCH_H

#include "samplers/jump_search.h"
#include "samplers/shared.h"

/* The value of a setting that asks for the search, and the words of such settings. */
#define SALI_RADIUS_SEARCHED (-1)
extern const char *const sali_radius_words[];

/* The setting of samplers that have a window which may be searched for. */
#define SALI_RADIUS_SEARCH_SETTING                                                              \
    {                                                                                           \
        "radius", 0, SALI_RADIUS_SEARCHED, INT32_MAX, true,                                     \
            "window of moves in levels; 0: all, and counts by 1; search: for the largest mean " \
            "jump",                                                                             \
            sali_radius_words                                                                   \
    }

/* Candidates of a stage, at most. */
#define SALI_RADII 6
#define SALI_RADIUS_ENDLESS 4000

enum { SALI_RADIUS_WAITS, SALI_RADIUS_COARSE, SALI_RADIUS_FINE, SALI_RADIUS_FOUND };

typedef struct sali_radius_search {
    bool on;
    const char *name;   /* of what is searched for */
    double first, unit; /* 1 and 1 of radii */
    double most;        /* a radius that reaches everything, or the largest number */
    double radius;      /* in use, from `first` to `most` */
    int64_t stage;
    int64_t base;  /* of the fine stage: where the best interval of the coarse one begins */
    int64_t tried; /* number of the candidate in use */
    double jump[SALI_RADII];
    int64_t steps[SALI_RADII]; /* that the candidates made in this stage */
    sali_jump_search search;   /* over `jump` */
} sali_radius_search;

/* Of a window, by the value of that setting: to the widest window, all levels; counts without a cap
 * move by 1. */
void sali_radius_search_begin_window(sali_radius_search *r, const sal_space *space, double value);

/* `most` is at least 1, or at least `first`. The struct must stay where it is. */
void sali_radius_search_begin(sali_radius_search *r, bool on, double most);
void sali_radius_search_begin_for(sali_radius_search *r, bool on, const char *name, double first,
                                  double unit, double most);

/* After a window of warm-up: whether the radius in use changed. */
bool sali_radius_search_adapt(sali_radius_search *r, const sali_warmup *warmup);

/* A search as an adaptive piece: its items, none unless `on`, and what they must be together. */
extern const sali_adaptive sali_radius_adaptive;

#endif
