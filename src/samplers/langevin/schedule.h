/* SPDX-License-Identifier: MIT */
/* Schedules of the step size over a chain's absolute step number t, so that a run resumed at step t
 * goes on as it would have:
 *
 *   constant      eps
 *   polynomial    eps (1 + t / horizon)^-decay    Robbins & Monro 1951 ask for 0.5 < decay <= 1:
 * the sum of eps_t diverges, that of eps_t^2 does not (Welling & Teh 2011 for Langevin steps)
 *   exponential   eps exp(-decay t / horizon)     Xiang et al. 2023, sec. 7.2: for a search
 *
 * never less than 1e-6 eps, so that 1 / eps_t stays a number. */
#ifndef SALI_SCHEDULE_H
#define SALI_SCHEDULE_H

#include <math.h>
#include <stdint.h>

#include "core/specification.h"

enum { SALI_EPS_CONSTANT, SALI_EPS_POLYNOMIAL, SALI_EPS_EXPONENTIAL };

typedef struct sali_schedule {
    int form; /* of the above */
    double decay, horizon;
} sali_schedule;

/* Step t's size as a fraction of the first one's. */
static inline double sali_schedule_at(const sali_schedule *s, uint64_t t)
{
    double u = (double)t / s->horizon;
    switch (s->form) {
    case SALI_EPS_POLYNOMIAL:
        return fmax(pow(1 + u, -s->decay), 1e-6);
    case SALI_EPS_EXPONENTIAL:
        return fmax(exp(-s->decay * u), 1e-6);
    default:
        return 1;
    }
}

#endif
