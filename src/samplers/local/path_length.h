/* SPDX-License-Identifier: MIT */
/* The length L of a path of single-site moves, or the number of hops of gwg: given, or adapted in
 * warm-up to an acceptance of 0.574 (Sun et al. 2022; of hops: Goshvadi et al. 2023).
 *
 * Each step draws its number of moves, L or L - 1: on two-level variables, paths of an even length
 * keep the parity of the state, and so would never reach half of the states. A path whose moves are
 * all of different variables has L/2 to L moves: where f leaves no more than L variables free to
 * move, paths of about that length move all of them in each step. Where fewer variables can move at
 * all, L is their number. One step in 32 has any number of moves from 1 to L. */
#ifndef SALI_PATH_LENGTH_H
#define SALI_PATH_LENGTH_H

#include "samplers/shared.h"

/* The value of a setting that asks for adaptation, and the words of such settings. */
#define SALI_PATH_ADAPTED 0
extern const char *const sali_path_words[];

typedef struct sali_path_length {
    const char *name; /* name of the setting, and of the state item */
    bool adapted;
    bool copied;          /* shards take `length` over at a refresh */
    double running, most; /* running: the length before rounding; most: upper bound */
    double length;        /* in use, a whole number */
} sali_path_length;

/* Set up the length by the value `given` of the setting; adaptation begins at `start`. The upper
 * bound is `most` or the number of variables that can move, whichever is less. */
void sali_path_length_begin(sali_path_length *path, const sal_model *model, const char *name,
                            double given, double start, double most);

/* The settings of path samplers, for their descriptors, in this order. */
enum { SALI_PATH_LENGTH, SALI_PATH_BALANCE, SALI_PATH_RADIUS };
extern const sal_setting sali_path_settings[];

/* The length as an adaptive piece (samplers/shared.h). */
extern const sali_adaptive sali_path_adaptive;

/* What shards of path samplers share, and the `share` of their engines. */
typedef struct sali_path_shared {
    sali_shared common; /* with couplings for gradients along paths */
    sali_path_length path;
} sali_path_shared;
sal_status sali_path_share(const sal_model *model, const sali_sampler_settings *settings,
                           void **shared, sal_error *err);

/* The probability of a step whose number of moves is uniform in 1 .. L. */
#define SALI_PATH_ANY (1. / 32)

/* Value of `most` for paths in which variables may move again. */
#define SALI_PATH_REVISITS INT64_MAX

/* The number of moves that the uniform u selects, for a path of at most `most` different variables;
 * 0 if `most` is 0. */
int64_t sali_path_length_draw(const sali_path_length *path, int64_t most, double u);

/* The log-probability that sali_path_length_draw returns `moves` >= 1; -inf if it never does. */
double sali_path_length_log_q(const sali_path_length *path, int64_t most, int64_t moves);

#endif
