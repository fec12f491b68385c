/* What the thesis compares samplers by: effective samples, and the time that they take. */
#ifndef VAN_DEN_HOEK_COMPARE_H
#define VAN_DEN_HOEK_COMPARE_H

#include "../panel.h"

enum { RANDOM_SCAN, GWG, SYSTEMATIC_SCAN, SAMPLERS };

/* The thesis's two, then Gibbs with the sites in turn. */
extern const char *const samplers[SAMPLERS];      /* as sal_sample knows them */
extern const char *const sampler_names[SAMPLERS]; /* as figures do */

typedef struct figures {
    double ess;        /* in 1000 draws of a chain, a draw being one step; 0: no chain moved */
    double draw;       /* microseconds: processor time of one thread, 16 chains side by side, with
                          starts and the keeping of draws */
    double per_sample; /* of an effective sample; NaN without any */
    double rhat;       /* the largest */
} figures;

/* Sample `draws` kept states of each of 16 chains after a quarter as many of warm-up. They are kept
 * four times in the time of a scan of all sites: what lies between is not worth looking at. */
sal_status compare_measure(sal_model *model, const char *sampler, int64_t draws, uint64_t seed,
                           figures *out, sal_error *err);

/* What only the first run of a process pays for, before anything is measured. */
sal_status compare_begin(sal_error *err);

/* A table of several models, a row each: compare_head, then what tells the model in 14 characters
 * and compare_row. */
void compare_head(const char *title, const char *model);

/* Measure all samplers, and print. A star: the chains do not agree, so the sampler has not seen the
 * whole distribution, and its effective samples count within a part of it. */
sal_status compare_row(const char *specification, int64_t draws, figures out[SAMPLERS],
                       sal_error *err);

/* One of the figures, for a panel. */
typedef enum compare_shown { SHOW_ESS, SHOW_DRAW, SHOW_PER_SAMPLE } compare_shown;

/* A panel of lattices of N[sides] sites a side, a curve a sampler. */
void compare_panel(const char *title, int sides, const double *N, const figures (*of)[SAMPLERS],
                   compare_shown what, sal_figure *figure);

#endif

/* SPDX-License-Identifier: MIT */
