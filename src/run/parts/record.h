/* SPDX-License-Identifier: MIT */
/* Records of every draw: f, a distance, counts of states, and if wanted the states. */
#ifndef SALI_RECORD_H
#define SALI_RECORD_H

#include "run/part.h"

/* Mean of some draws, and sum of their squared deviations from the mean (Welford 1962). */
typedef struct sali_running {
    double mean, squares;
} sali_running;

/* Add x, the value of the n-th draw. */
static inline void sali_running_add(sali_running *r, int64_t n, double x)
{
    double off = x - r->mean;
    r->mean += off / (double)n;
    r->squares += off * (x - r->mean);
}

/* The records. Arrays by chain and draw are [rows x options.draws] while the run is made and [rows
 * x draws_made] when it is over; rows belong to chains row0 .. row0 + rows - 1: all chains at rank
 * 0 and in runs that heat again, else the rank's own chains. */
typedef struct sali_draw_record {
    sal_run *run;
    int64_t row0, rows;
    double *log_prob;      /* [rows x draws] */
    double *distance;      /* [rows x draws] L1 distance to the reference state */
    uint32_t *counts;      /* [rows x 2 x bins] draws by half of the run, chain and bin: two-level
                              variables count code 1 */
    sali_running *moments; /* [rows x 2 x V] of counts without a cap; NULL if there are none */
    void *draws;           /* [rows x draws x V of base], or NULL */
    int draw_bytes;        /* of a code in draws: 1 or 4 */
    int32_t *reference;    /* [V] a random state */
    /* 0: the halves of the run divide options.draws. Otherwise the run may end at any draw, and the
     * halves divide the draws so far: draw number `grows` 2^k begins a second half, and all draws
     * before become the first half. */
    int64_t grows;
} sali_draw_record;

/* Every run has one. */
static inline const sali_draw_record *sali_run_record(const sal_run *run)
{
    return run->selves[SALI_PART_record];
}

/* The number of draws in the first half, of `made` draws of a chain. */
int64_t sali_record_first_half(const sali_draw_record *record, int64_t made);

/* Bring to rank 0 what other ranks recorded so far. Collective. Returns: IO, MEMORY. */
sal_status sali_record_collect(const sali_draw_record *record, sal_error *err);

/* Where the draws of a chain's row begin in arrays by chain and draw. */
static inline int64_t sali_record_at(const sali_draw_record *record, int64_t row)
{
    return row * (record->run->over ? record->run->draws_made : record->run->options.draws);
}

/* The code of variable v of the whole space in a draw of a chain; the run must have kept them, and
 * be over. */
static inline int32_t sali_run_draw(const sal_run *run, int64_t chain, int64_t draw, int64_t v)
{
    const sali_draw_record *record = sali_run_record(run);
    int64_t at = (chain * run->draws_made + draw) * run->base->space->n_variables + v;
    return record->draw_bytes == 1 ? ((const uint8_t *)record->draws)[at]
                                   : ((const int32_t *)record->draws)[at];
}

#endif
