/* SPDX-License-Identifier: MIT */
/* How PAVG finds its preconditioner in warm-up: Rhodes & Gutmann 2022, app. F.1, F.4, F.5, with
 * gamma as the authors' program changes it (for gamma <= -1 the printed rule goes the wrong way).
 *
 * 1. The first steps are ignored (100, or a tenth of a short warm-up). From the end of the first
 *    window until M is chosen, chains may have a step size of its own (the authors' "postadapt"
 *    step size is then the chains').
 * 2. Successive states are collected (of 1000 steps, or of half a short warm-up; every k-th step so
 *    that they fit into SALI_HISTORY_BYTES).
 * 3. Candidates are the covariance of the states and its inverse. Each is scaled by the slope of
 *    y = f(s') - f(s) - g(s)'(s' - s) on x = (s' - s)'M (s' - s) / 2, by least squares with an
 *    intercept; the one with the smaller loss becomes M.
 * 4. gamma starts at 1 and changes every 100 steps, by ever smaller amounts, on as long as the mean
 *    jump rises and back when it falls. It is frozen at the end of warm-up, if that ends: the
 *    authors' program never stops. With a given matrix gamma changes from the start.
 *
 * A pair is a state and the next one of one step, so chains may be given other states between two
 * windows. */
#ifndef SALI_HISTORY_H
#define SALI_HISTORY_H

#include "samplers/sampler.h"

#define SALI_HISTORY_BYTES ((int64_t)64 << 20)

/* Steps of the chains of one shard. */
typedef struct sali_history {
    int64_t room, n;    /* pairs */
    int64_t every;      /* steps from one that is kept to the next */
    int64_t seen;       /* steps */
    int32_t *from, *to; /* [room x V] codes */
    double *y;          /* [room] f(s') - f(s) - g(s)'(s' - s), or NaN: f is not finite */
} sali_history;

/* The step about to be decided, of every chain: `gradient` real [n x N] is beta times that of the
 * present states. Then, which were accepted; the coldest chains' steps are kept. */
void sali_history_propose(sali_history *history, const sali_chains *chains, const void *gradient);
void sali_history_decide(sali_history *history, const sali_chains *chains);

struct sali_preconditioner;

/* Candidates for M. */
enum { SALI_COVARIANCE = 1, SALI_PRECISION = 2 };

/* Where the adaptation stands. A matrix that is given needs no collecting; without any there is no
 * gamma to adapt. */
enum {
    SALI_PHASE_START,
    SALI_PHASE_IGNORE,
    SALI_PHASE_COLLECT,
    SALI_PHASE_GAMMA,
    SALI_PHASE_NO_MATRIX,
    SALI_PHASE_TOO_SHORT /* warm-up ended before states could be collected */
};

typedef struct sali_adaptation_history {
    unsigned candidates;
    double step_size; /* of all chains until M is chosen; 0: their own */
    int64_t phase;
    int64_t begin, end; /* steps of warm-up at which collecting begins and ends */
    int64_t n_shards;
    sali_history *shards; /* [n_shards] while collecting, else NULL; has the arrays */
    int64_t room;         /* pairs of all shards; their arrays are parts of */
    int32_t *from, *to;   /* [room x V] */
    double *y;            /* [room] */
    int64_t *progress;    /* [n_shards x 2] n and seen of each, as saved */

    /* gamma */
    double jump, jump_before; /* sum over this block of steps; mean of the last, < 0: none */
    int64_t steps;            /* of this block */
    double direction, rate;
} sali_adaptation_history;

/* Plan for a warm-up of `total` steps, in windows of `window`; collecting if `empirical`. */
void sali_history_plan(sali_adaptation_history *a, int64_t total, int64_t window, bool empirical);

/* Whether states are collected, or ignored before that. */
bool sali_history_collects(const sali_adaptation_history *a);

/* The steps that other ranks' shards have kept since the last time. SAL_ERR_MEMORY, SAL_ERR_IO. */
sal_status sali_history_gather(sali_adaptation_history *a, const sali_warmup *warmup,
                               sal_error *err);

/* The step size of all chains meanwhile; 0: they have their own. */
double sali_history_step_size(const sali_adaptation_history *a);

/* Room for the steps between begin and end. */
sal_status sali_history_open(sali_adaptation_history *a, const sali_warmup *warmup, sal_error *err);
void sali_history_clear(sali_adaptation_history *a);

/* The state of the adaptation (samplers/sampler.h), gamma's included; while collecting, the shards'
 * pairs too. */
int64_t sali_history_state(sali_adaptation_history *a, const sal_space *space,
                           sali_state_item *items);
/* After these were filled: opens the shards' histories if it was collecting, and checks them once
 * they are there. */
sal_status sali_history_changed(sali_adaptation_history *a, bool empirical, const sali_warmup *at,
                                sal_error *err);

/* Choose M from what was collected, and go on to gamma. M stays as it is when there is nothing to
 * learn from: no step whose curvature by a candidate differs from the others'. */
sal_status sali_history_choose(const sal_model *model, struct sali_preconditioner *p,
                               sal_error *err);

/* After a window of warm-up: whether gamma changed. */
bool sali_gamma_adapt(sali_adaptation_history *a, const sali_warmup *warmup, double *gamma);

/* gamma moved on by `rate` in `direction`, which is turned first if the jump fell. */
double sali_gamma_next(double gamma, bool fell, double *direction, double rate);

#endif
