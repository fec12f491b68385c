/* SPDX-License-Identifier: MIT */
/* The exact transition matrix of a sampler on a model with few states, and chains to step by hand.
 * States are numbered as in models/states.h. */
#ifndef SALI_TRANSITION_H
#define SALI_TRANSITION_H

#include "samplers/sampler.h"

/* Chains with a sampler. */
typedef struct sali_bench {
    const sali_sampler *sampler;
    sali_chains *chains;
    void *self, *shared;
    bool spread;
} sali_bench;

/* A sampler to inspect, with its settings, at an inverse temperature. */
typedef struct sali_inspection {
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    double beta;
    uint64_t seed;
} sali_inspection;

/* The sampler that the options of a run select. */
sal_status sali_inspection_of(const sal_model *model, const sal_run_options *options,
                              sali_inspection *inspection, sal_error *err);

/* Open n chains with ids 0 .. n - 1 at states of code 0, step counters at `step`. The caller sets
 * other codes, then calls sali_bench_start. After a failure nothing is left open. */
sal_status sali_bench_open(const sali_inspection *inspection, const sal_model *model, int64_t n,
                           uint64_t step, sali_bench *bench, sal_error *err);
void sali_bench_close(sali_bench *bench);

/* Put chain c at place c mod (number of places). A place is a state and, with D directions, a
 * direction: place i is state i / D with direction i mod D. Later calls of sali_bench_start set the
 * directions. */
void sali_bench_spread(sali_bench *bench);

/* Refresh the sampler after codes, temperatures or steps were set. */
void sali_bench_start(sali_bench *bench);

/* Number of pieces of the sampler's sweep; 1 if it has none. */
int64_t sali_bench_pieces(const sali_bench *bench);

/* Whether the sampler's transitions can be enumerated: SAL_ERR_UNSUPPORTED. */
sal_status sali_bench_can(const sali_bench *bench, sal_error *err);

/* log q(present state -> to) of the next step of a bench of one chain, summed over discrete
 * auxiliary variables and averaged over directions. SAL_ERR_UNSUPPORTED as above. */
sal_status sali_bench_log_q(sali_bench *bench, const int32_t *to, double *log_q, sal_error *err);

typedef struct sali_transition {
    int64_t n;          /* places: states times directions */
    int64_t directions; /* 1 without */
    double *f, *pi;     /* [n]; f times beta */
    double *P;          /* [n x n]; rows of forbidden states mean nothing */
    double *log_q;      /* [n x states], summed over auxiliary variables */
    bool taken;         /* every proposal is accepted */
    double stay;        /* probability of staying whatever the ratio, unless `taken` */
} sali_transition;

/* The exact matrix of the next step, of a bench with as many chains as there are places, spread and
 * started. SAL_ERR_UNSUPPORTED; SAL_ERR_MODEL; SAL_ERR_MEMORY. */
sal_status sali_transition_make(sali_bench *bench, sali_transition *t, sal_error *err);
void sali_transition_free(sali_transition *t);

/* Place i with its direction reversed. */
int64_t sali_bench_reverse(const sali_bench *bench, int64_t i);

/* The probability that a move from place i to j is accepted, given log q of the move and of its
 * reverse, and t->stay. */
double sali_transition_acceptance(const sali_transition *t, int64_t i, int64_t j, double forward,
                                  double reverse);

#endif
