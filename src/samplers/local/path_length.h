/* SPDX-License-Identifier: MIT */
/* The length L of a path of single-site moves, or the number of hops of gwg: given, or adapted in
 * warm-up to an acceptance of 0.574 (Sun et al. 2022; of hops: Goshvadi et al. 2023).
 *
 * With L > 1 a step's path has L or L - 1 moves, whatever the state: on two-level variables paths
 * of an even length keep the parity of the state, and so would never reach half of the states. One
 * step in 32 has any number of moves from 1 to L: where f leaves fewer than L variables free to
 * move, longer paths move all of them in each step. */
#ifndef SALI_PATH_LENGTH_H
#define SALI_PATH_LENGTH_H

#include "models/structure/couplings.h"
#include "samplers/sampler.h"

/* The value of a setting that asks for adaptation, and the words of such settings. */
#define SALI_PATH_ADAPTED 0
extern const char *const sali_path_words[];

typedef struct sali_path_length {
    const char *name; /* of the setting, and of what is kept */
    bool adapted;
    double running, most;      /* not rounded; upper bound */
    double length;             /* in use, a whole number */
    sali_couplings *couplings; /* for gradients along paths; NULL: they are evaluated */
} sali_path_length;

/* By a setting's value, on a model; `most` is a bound beside the number of variables. */
void sali_path_length_begin(sali_path_length *path, const sal_model *model, const char *name,
                            double given, double start, double most);

/* The settings of path samplers, for their descriptors, in this order. */
enum { SALI_PATH_LENGTH, SALI_PATH_BALANCE, SALI_PATH_RADIUS };
extern const sal_setting sali_path_settings[];

/* The descriptors' functions of the shared state, a sali_path_length. */
#define SALI_PATH_LENGTH_FUNCTIONS                                        \
    .share = sali_path_length_share, .unshare = sali_path_length_unshare, \
    .adapt = sali_path_length_adapt, .state = sali_path_length_state
sal_status sali_path_length_share(const sal_model *model, const sali_sampler_settings *settings,
                                  void **shared, sal_error *err);
void sali_path_length_unshare(void *shared);
sal_status sali_path_length_adapt(void *shared, const sali_warmup *warmup, bool *changed,
                                  sal_error *err);
int64_t sali_path_length_state(void *shared, void *self, sali_state_item *items);

/* The probability that the number of moves is any one. */
#define SALI_PATH_ANY (1. / 32)

/* Moves of a path, by a uniform u. */
static inline int64_t sali_path_length_draw(const sali_path_length *path, double u)
{
    const int64_t length = (int64_t)path->length;
    if (u < SALI_PATH_ANY) {
        return 1 + (int64_t)(u / SALI_PATH_ANY * (double)length);
    }
    return length > 1 && u < (1 + SALI_PATH_ANY) / 2 ? length - 1 : length;
}

/* The log-probability of a number of moves, 1 to L, when L > 1. */
double sali_path_length_log_q(const sali_path_length *path, int64_t moves);

#endif
