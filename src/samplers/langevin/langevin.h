/* SPDX-License-Identifier: MIT */
/* Langevin-like samplers: all variables move at once and independently, by rows of log-weights that
 * are computed from a direction at the present state; most samplers use
 *
 *   q(s') proportional to exp(D'(s' - s) / 2 - sum over k of (s'_k - s_k)^2 / (2 eps d_k))
 *
 * with a direction D in place of a gradient: the gradient itself (ncg, dula) or differences (mana,
 * una); with acceptance or without. d is the scale of a diagonal preconditioner, 1 without. A cap
 * restricts this proposal to the s' that differ from s in at most so many variables (cap.h). */
#ifndef SALI_LANGEVIN_H
#define SALI_LANGEVIN_H

#include "core/object.h"
#include "samplers/fixed_rows.h"
#include "samplers/followed_gradient.h"
#include "samplers/kernels.h"
#include "samplers/sampler.h"
#include "samplers/langevin/cap.h"
#include "samplers/langevin/schedule.h"

/* The settings of all norm-constrained samplers, first in their lists; a sampler's own settings
 * begin at SALI_LANGEVIN_SETTINGS. */
#define SALI_LANGEVIN_SETTINGS 4
extern const char *const sali_schedule_forms[];
#define SALI_LANGEVIN_PARAMETERS                                                                  \
    { "schedule", 0, 0, 0, true, "of the step size over the steps", sali_schedule_forms },        \
        { "decay", 0.6, 0, 10, false, "exponent or rate of the schedule", NULL },                 \
        { "horizon", 1000, 1e-3, 1e18, false, "steps before the schedule begins to fall", NULL }, \
    {                                                                                             \
        "most", 0, 0, 1e9, true, "variables that a step changes at most; 0: any number", NULL     \
    }

typedef struct sali_langevin {
    const sali_factorised_kernels *kernels;
    sali_move_rows moves;
    sali_cap cap;
    sali_fixed_rows fixed;
    double *log_q; /* [n] log q of the proposal */
    bool adjusted; /* accept by Metropolis-Hastings; else accept every proposal that is not
                      forbidden */
    sali_schedule schedule;

    /* Fill the row of chain c at codes [V] and x [N], where beta D is d [N]; norm-constrained
     * unless the sampler has its own. */
    void (*weigh)(struct sali_langevin *l, const sali_chains *chains, int64_t c,
                  const int32_t *codes, const void *x, const void *d, sali_move_row *row);
    /* Evaluate the proposed or the present states: f_new or f, and beta D into
     * chains->gradient. */
    void (*evaluate)(struct sali_langevin *l, sali_chains *chains, bool proposed);
    sali_followed_gradient followed; /* holds beta D while it is active */

    /* Where a row serves one step only (unadjusted, or a step size that changes), rows are
     * recomputed at every step from `held`; otherwise the rows of accepted states are kept. */
    void *held;          /* real [n x N] beta D, or NULL */
    const double *scale; /* [V] d of the preconditioner, or NULL */
    void *w;             /* real [N] 1 / d, if there is a scale */

    /* For forward differences (newton.c). */
    sali_evaluator *open; /* evaluator of f without its hard limits; NULL: slopes are of f itself */
    double *f_open;       /* [n] */
    bool fewer_reals;     /* labels of K states are coded by K - 1 reals */
    int32_t *to;          /* [n x V] */
    void *slots;          /* real [n x S] */
    void *y;              /* real [N] */
} sali_langevin;

/* Why the space of a model cannot be served, or not with the setting `most`, as "it ..."; NULL if
 * it can. */
const char *sali_langevin_obstacle(const sal_model *model, double most);

/* Fill the fields that all these samplers use, in a new object `l` (core/object.h) or at the
 * beginning of one; NULL returns NULL. The caller sets `evaluate` and the fields that it needs. */
sali_langevin *sali_langevin_open(sali_langevin *l, const sali_chains *chains,
                                  const sali_sampler_settings *settings);

/* Create the couplings that sali_langevin_follow uses, in the shared state; none in training.
 * Returns: SAL_ERR_MEMORY. */
sal_status sali_langevin_couplings(sali_shared *shared, const sal_model *model,
                                   const sali_sampler_settings *settings, sal_error *err);

/* An `evaluate` by the gradient; where f is quadratic, by the rows of the variables that move. */
void sali_langevin_follow(sali_langevin *l, sali_chains *chains, bool proposed);

/* Functions of all engines of this kind. */
#define SALI_LANGEVIN_FUNCTIONS \
    .refresh = sali_langevin_refresh, .step = sali_langevin_step, .log_q = sali_langevin_log_q
void sali_langevin_refresh(void *self, sali_chains *chains);
void sali_langevin_step(void *self, sali_chains *chains);

/* The steps of a cycle, for engines that have one; 1 without. */
int64_t sali_langevin_pieces(const void *self, const sali_chains *chains);
void sali_langevin_log_q(void *self, sali_chains *chains, const int32_t *to, double *log_q);

#endif
