/* SPDX-License-Identifier: MIT */
/* How long is a warm-up? Two chains that make their moves with the same random numbers, one of them
 * a lag of L steps ahead, meet after some steps, and then stay together. The times at which many
 * such pairs meet bound how far chains are from the model after t steps, whatever the chains agree
 * on: R-hat cannot see states that no chain has found.
 *
 * Each chain of a pair moves by the kernel of its sampler, and the bound holds however the two are
 * coupled; a good coupling meets sooner. "gwg", "lb", "lsb1" and "lsb2" choose the same move, or
 * moves towards each other, nearly as often as the weights of both chains allow; samplers that move
 * all variables ("ncg", "dlmc", "avg" and their relatives) draw the same new code of each two-level
 * variable as often as its probabilities allow; other samplers use the same numbers. The handbook
 * (docs/diagnosing.md) says which pairs may never meet.
 *
 *     sal_meeting meeting;
 *     sal_run_options options = { .sampler = "gibbs" };
 *     sal_meeting_times(model, &options, NULL, NULL, &meeting, &err);
 *     printf("within .01 after %g steps\n", meeting.steps_01);
 */
#ifndef SALTUS_MEETING_H
#define SALTUS_MEETING_H

#include <stdint.h>
#include <saltus/model.h>
#include <saltus/sample.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options of sal_meeting_times; a zero is the default. */
typedef struct sal_meeting_options {
    int64_t pairs;      /* independent pairs of chains; 0: 100 */
    int64_t lag;        /* L, at least 1, rounded up to whole sweeps of the sampler or cycles of its
                           step size; 0: the .9 quantile of the times in which as many other pairs
                           meet at the least lag. A larger lag takes longer, and its bound is
                           nearer to the distance */
    int64_t most_steps; /* of the first chain of a pair, which has not met if it makes so many
                           without; 0: 20000, or 200 sweeps if these are more */
} sal_meeting_options;

/* What the meeting times of pairs say. Bounds are NaN if a pair did not meet: a bound by the other
 * pairs could be too small. */
typedef struct sal_meeting {
    int64_t pairs;      /* as in the options */
    int64_t lag;        /* L: as in the options, rounded up, or the one that was chosen */
    int64_t most_steps; /* as in the options */
    int64_t warmup;     /* steps of the warm-up of such a run */
    int64_t not_met;    /* number of pairs that did not meet */
    double median;      /* of the steps that pairs made together until they met; NaN if half of the
                           pairs did not meet */
    double warmed_up;   /* bound on the total variation between the model and the law of a chain
                           after `warmup` steps */
    double warmed_up_error; /* its standard error over the pairs */
    double steps_25;        /* steps after which the bound is .25 or less; NaN: unknown */
    double steps_05;        /* steps after which the bound is .05 or less; NaN: unknown */
    double steps_01;        /* steps after which the bound is .01 or less; NaN: unknown */
} sal_meeting;

/* Measure after how many steps pairs of coupled chains meet. Both chains start where sal_sample
 * starts chains, from different random numbers, and move by the same kernel, which is fixed: what
 * the sampler adapts is found first by a warm-up run, or given as `tuning`.
 * Math:    tau = min {t > L: X_t = Y_(t-L)}; the steps together are tau - L. The total variation
 *          between the law of X_t and the model is at most E max(0, ceil((tau - L - t) / L)).
 * Params:  options    as for sal_sample: sampler, chains and warmup (of the warm-up run), seed,
 *                     threads, step_size, step_size_rule, preconditioner, tuning, clamps,
 *                     own_samplers, callbacks.progress. Others are refused. A sampler of your own
 *                     must not depend on the step number, but for what it draws. If `progress`
 *                     returns other than 0, pairs that have not met yet count as pairs that do
 *                     not meet. NULL: the defaults.
 *          meeting    NULL: the defaults.
 *          tau        [pairs] receives tau of each pair, -1 if it did not meet; NULL: not wanted.
 *          result     receives the figures.
 * Returns: SAL_ERR_ARGUMENT (an option out of range or refused; names it), SAL_ERR_UNSUPPORTED (a
 *          sampler that is approximate or couples its chains, or whose step size depends on the
 * step in another way than by a cycle), and as sal_sample. tau and *result are then untouched.
 * Cost:    2 pairs chains of L and their common steps, after a warm-up of chains; twice if L is to
 *          be chosen. A step of a pair compares two states, and of gwg, lb, lsb1 and lsb2 draws a
 *          number for every move.
 * Threads: several calls may share a model whose parameters do not change.
 * Source:  Biswas, Jacob & Vanetti 2019, Estimating convergence of Markov chains with L-lag
 *          couplings, theorem 2.5. */
SAL_API sal_status sal_meeting_times(sal_model *model, const sal_run_options *options,
                                     const sal_meeting_options *meeting, int64_t *tau,
                                     sal_meeting *result, sal_error *err);

/* Compute the bound on the total variation after t >= 0 steps, and its standard error over the
 * pairs, from what sal_meeting_times found.
 * Params:  tau    [pairs] with -1 for a pair that did not meet: bound and error are then NaN.
 *          bound  at most 1.
 *          error  NaN for one pair; NULL: not wanted. A bound of 0 by n pairs has the error 0; with
 *                 95 % confidence their mean is then below 3 / n.
 * Cost:    O(pairs).
 * Threads: any. */
SAL_API void sal_meeting_bound(int64_t pairs, const int64_t *tau, int64_t lag, int64_t t,
                               double *bound, double *error);

#ifdef __cplusplus
}
#endif
#endif
