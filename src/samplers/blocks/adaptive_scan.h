/* SPDX-License-Identifier: MIT */
/* Probabilities with which a random scan visits the variables, adapted in warm-up (van den Hoek
 * 2022, 2.1.2, which gives no rule; ours is)
 *
 *     p_i = 0.1 / V + 0.9 m_i / sum_j m_j,
 *
 * where m_i is the mean over visits of 1 - p(present s_i | rest), the probability that the variable
 * moves. */
#ifndef SALI_ADAPTIVE_SCAN_H
#define SALI_ADAPTIVE_SCAN_H

#include "samplers/sampler.h"

typedef struct sali_adaptive_scan {
    int64_t n;     /* variables */
    double *p;     /* [n] */
    double *sum;   /* [n] sum of 1 - p(present s_i | rest) over the visits */
    double *count; /* [n] visits; sum and count begin with one visit that found 1/2 */
    int64_t steps; /* steps since the last adaptation */
} sali_adaptive_scan;

/* Create a scan with equal probabilities, which belongs to `object` (core/object.h). NULL: no
 * memory, which the object records. */
sali_adaptive_scan *sali_adaptive_scan_open(void *object, int64_t n);

/* Functions of the scan as an adaptive piece (samplers/shared.h). */
int64_t sali_adaptive_scan_state(void *piece, sali_state_item *items);
sal_status sali_adaptive_scan_changed(void *piece, const sali_warmup *at, sal_error *err);

/* Count the window's steps. Returns whether p should be updated: each chain has made as many steps
 * as there are variables, or warm-up is over. */
bool sali_adaptive_scan_due(sali_adaptive_scan *scan, const sali_warmup *warmup);

/* Add a shard's sums of 1 - p and its visits, [n] each. */
void sali_adaptive_scan_collect(sali_adaptive_scan *scan, const double *wishes,
                                const double *visits);

/* Recompute p from all sums collected so far. */
void sali_adaptive_scan_learn(sali_adaptive_scan *scan);

#endif
