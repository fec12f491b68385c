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
    int64_t every;      /* every so many steps one is kept */
    int64_t seen;       /* steps */
    int32_t *from, *to; /* [room x V] codes */
    double *y;          /* [room] f(s') - f(s) - g(s)'(s' - s), or NaN: f is not finite */
} sali_history;

/* propose: record the step of every chain that is about to be decided; `gradient` real [n x N] is
 * beta times the gradient at the present states. decide: keep the recorded steps of the coldest
 * chains, as moves or stays, after the chains' decision. */
void sali_history_propose(sali_history *history, const sali_chains *chains, const void *gradient);
void sali_history_decide(sali_history *history, const sali_chains *chains);

struct sali_preconditioner;

/* Candidates for M. */
enum { SALI_COVARIANCE = 1, SALI_PRECISION = 2 };

/* Phases of the adaptation. With a given matrix nothing is collected; without a matrix there is no
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
    double step_size; /* step size of all chains until M is chosen; 0: each chain's own */
    int64_t phase;
    int64_t begin, end; /* steps of warm-up at which collecting begins and ends */
    int64_t n_shards;
    sali_history *shards; /* [n_shards] while collecting, else NULL; owns the arrays below */
    int64_t room;         /* capacity, in pairs, of the three arrays below; each shard uses a
                             slice of them */
    int32_t *from, *to;   /* [room x V] */
    double *y;            /* [room] */
    int64_t *progress;    /* [n_shards x 2] n and seen of each shard, for saving */

    /* gamma */
    double jump, jump_before; /* jump: sum over this block of steps; jump_before: mean of the
                                 block before, < 0: none */
    int64_t steps;            /* steps of this block */
    double direction, rate;
} sali_adaptation_history;

/* Plan the adaptation for a warm-up of `total` steps in windows of `window`. `empirical`: collect
 * states to choose M from. */
void sali_history_plan(sali_adaptation_history *a, int64_t total, int64_t window, bool empirical);

/* Whether states are being collected, or still ignored before collecting begins. */
bool sali_history_collects(const sali_adaptation_history *a);

/* Receive the steps that shards of other ranks have kept since the last call. SAL_ERR_MEMORY,
 * SAL_ERR_IO. */
sal_status sali_history_gather(sali_adaptation_history *a, const sali_warmup *warmup,
                               sal_error *err);

/* The step size of all chains while states are collected; 0: chains have their own. */
double sali_history_step_size(const sali_adaptation_history *a);

/* Allocate the shards' histories, for the steps between `begin` and `end`. */
sal_status sali_history_open(sali_adaptation_history *a, const sali_warmup *warmup, sal_error *err);
void sali_history_clear(sali_adaptation_history *a);

/* The state of the adaptation (samplers/sampler.h), gamma's included; while collecting, the shards'
 * pairs too. */
int64_t sali_history_state(sali_adaptation_history *a, const sal_space *space,
                           sali_state_item *items);
/* Call after the state was filled. Opens the shards' histories if collecting was under way, and on
 * the second call checks and takes their numbers of pairs. */
sal_status sali_history_changed(sali_adaptation_history *a, bool empirical, const sali_warmup *at,
                                sal_error *err);

/* Choose M from the collected steps; the next phase adapts gamma. M stays as it is when there is
 * nothing to learn from: no step has a curvature by a candidate that differs from the other steps.
 */
sal_status sali_history_choose(const sal_model *model, struct sali_preconditioner *p,
                               sal_error *err);

/* Call after a window of warm-up. Returns whether *gamma changed. */
bool sali_gamma_adapt(sali_adaptation_history *a, const sali_warmup *warmup, double *gamma);

/* The next gamma, `rate` further in *direction, which is reversed first if the jump fell. */
double sali_gamma_next(double gamma, bool fell, double *direction, double rate);

#endif
