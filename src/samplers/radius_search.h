/* SPDX-License-Identifier: MIT */
/* Searches in warm-up for the radius of a window, or another number that moves depend on, with the
 * largest mean jump (Rhodes & Gutmann 2022, app. H).
 *
 * The first quarter of warm-up uses radius 1. The second quarter tries 1, 5, 10, 15 and 20, and the
 * third the radii from r to r', the two neighbours among these with the largest sum of mean jumps.
 * All chains try the same radius at a time. In a short warm-up, where a turn would be shorter than
 * a window, not all radii are tried; a warm-up that never ends is searched as one of
 * SALI_RADIUS_ENDLESS steps. Where another number is searched for, it is first + unit (r - 1)
 * instead of r. */
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

/* The most candidates of a stage. */
#define SALI_RADII 6
#define SALI_RADIUS_ENDLESS 4000

enum { SALI_RADIUS_WAITS, SALI_RADIUS_COARSE, SALI_RADIUS_FINE, SALI_RADIUS_FOUND };

typedef struct sali_radius_search {
    bool on;
    const char *name;   /* name of the number that is searched for */
    double first, unit; /* 1 and 1 of radii */
    double most;        /* a radius that reaches everything, or the largest number */
    double radius;      /* in use, from `first` to `most` */
    int64_t stage;
    int64_t base;  /* fine stage: lower end of the best interval of the coarse stage */
    int64_t tried; /* number of the candidate in use */
    double jump[SALI_RADII];
    int64_t steps[SALI_RADII]; /* steps that each candidate made in this stage */
    sali_jump_search search;   /* over `jump` */
} sali_radius_search;

/* Begin a search for the radius of a window, if `value` of the setting asks for one, up to the
 * widest window, which is all levels; counts without a cap move by 1. */
void sali_radius_search_begin_window(sali_radius_search *r, const sal_space *space, double value);

/* Begin a search for a radius (begin) or for the number `name` (begin_for) if `on`. `most` is at
 * least 1, or at least `first`. The struct must not move afterwards. */
void sali_radius_search_begin(sali_radius_search *r, bool on, double most);
void sali_radius_search_begin_for(sali_radius_search *r, bool on, const char *name, double first,
                                  double unit, double most);

/* Call after a window of warm-up. Returns whether the radius in use changed. */
bool sali_radius_search_adapt(sali_radius_search *r, const sali_warmup *warmup);

/* The search as an adaptive piece (samplers/shared.h). */
extern const sali_adaptive sali_radius_adaptive;

#endif
