/* SPDX-License-Identifier: MIT */
/* Schedules of the step size over a chain's absolute step number t, so that a run resumed at step t
 * has the step sizes of an uninterrupted run:
 *
 *   constant      eps
 *   polynomial    eps (1 + t / horizon)^-decay    Robbins & Monro 1951 ask for 0.5 < decay <= 1:
 * the sum of eps_t diverges, that of eps_t^2 does not (Welling & Teh 2011 for Langevin steps)
 *   exponential   eps exp(-decay t / horizon)     Xiang et al. 2023, sec. 7.2: for a search
 *
 * never less than 1e-6 eps, so that 1 / eps_t stays a number.
 *
 * With a cycle of K steps, this is multiplied as follows (Pynadath, Bhattacharya, Hariharan & Zhang
 * 2024): with k = t mod K, the step size by cos(pi k / K) + 1, while the gradient has the weight
 * beta_k = (beta_0 - 1/2) / 2 cos(pi k / K) + (beta_0 + 1/2) / 2 instead of 1/2: from beta_0 down
 * towards 1/2. */
#ifndef SALI_SCHEDULE_H
#define SALI_SCHEDULE_H

#include <math.h>
#include <stdint.h>

#include "core/specification.h"

enum { SALI_EPS_CONSTANT, SALI_EPS_POLYNOMIAL, SALI_EPS_EXPONENTIAL };

typedef struct sali_schedule {
    int form; /* one of SALI_EPS_* */
    double decay, horizon;
    int64_t cycle;       /* K; 0 or 1: no cycle */
    const double *beta0; /* beta_0 of a cycle; may change in warm-up */
} sali_schedule;

/* cos(pi k / K) at step t. */
static inline double sali_schedule_phase(const sali_schedule *s, uint64_t t)
{
    const double half_turn = 3.14159265358979323846, K = (double)s->cycle;
    return cos(half_turn * (double)(t % (uint64_t)s->cycle) / K);
}

/* The weight of the gradient at step t. */
static inline double sali_schedule_balance(const sali_schedule *s, uint64_t t)
{
    const double beta0 = s->cycle > 1 ? *s->beta0 : 0.5;
    return s->cycle > 1 ? (beta0 - 0.5) / 2 * sali_schedule_phase(s, t) + (beta0 + 0.5) / 2 : 0.5;
}

/* The step size of step t relative to eps. */
static inline double sali_schedule_at(const sali_schedule *s, uint64_t t)
{
    const double u = (double)t / s->horizon,
                 turn = s->cycle > 1 ? sali_schedule_phase(s, t) + 1 : 1;
    switch (s->form) {
    case SALI_EPS_POLYNOMIAL:
        return turn * fmax(pow(1 + u, -s->decay), 1e-6);
    case SALI_EPS_EXPONENTIAL:
        return turn * fmax(exp(-s->decay * u), 1e-6);
    default:
        return turn;
    }
}

#endif
