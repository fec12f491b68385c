/* SPDX-License-Identifier: MIT */
/* Probabilities with which a random scan visits the variables, adapted in warm-up (van den Hoek
 * 2022, 2.1.2, which gives no rule; ours is)
 *
 *     p_i = 0.1 / V + 0.9 m_i / sum_j m_j,
 *
 * m_i the running mean of 1 - p(present s_i | rest), by how much the variable wants to move. Its
 * mean moves by 1 / visits: less and less. */
#ifndef SALI_ADAPTIVE_SCAN_H
#define SALI_ADAPTIVE_SCAN_H

#include "samplers/sampler.h"

typedef struct sali_adaptive_scan {
    int64_t n;     /* variables */
    double *p;     /* [n] */
    double *sum;   /* [n] of 1 - p(present s_i | rest), */
    double *count; /* [n] over so many visits; both with a first visit that found 1/2 */
    int64_t steps; /* since the last adaptation */
} sali_adaptive_scan;

/* A scan with the same probability for all, which belongs to `object` (core/object.h). NULL: no
 * memory, which the object knows. */
sali_adaptive_scan *sali_adaptive_scan_open(void *object, int64_t n);

/* Of a scan as an adaptive piece (samplers/shared.h). */
int64_t sali_adaptive_scan_state(void *piece, sali_state_item *items);
sal_status sali_adaptive_scan_changed(void *piece, const sali_warmup *at, sal_error *err);

/* Whether it is time to learn: each chain has made as many steps as there are variables. */
bool sali_adaptive_scan_due(sali_adaptive_scan *scan, const sali_warmup *warmup);

/* Add what a shard saw [n] each: the sums of 1 - p, and the visits. Both are zeroed. */
void sali_adaptive_scan_collect(sali_adaptive_scan *scan, const double *wishes,
                                const double *visits);

/* p from all that was collected. */
void sali_adaptive_scan_learn(sali_adaptive_scan *scan);

#endif
