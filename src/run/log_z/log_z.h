/* SPDX-License-Identifier: MIT */
/* Inside of sal_log_z: ladders of levels between independent variables and a model. */
#ifndef SALI_LOG_Z_H
#define SALI_LOG_Z_H

#include <saltus/log_z.h>
#include "core/memory.h"
#include "core/threads/shard.h"
#include "models/make/bridge.h"
#include "run/trajectory/trajectory.h"
#include "samplers/sampler.h"

/* More levels than any model needs that can be sampled. */
#define SALI_LOG_Z_MOST_LEVELS 500

/* The states of all ladders at one level. */
typedef struct sali_log_z_level {
    double beta;
    sali_bridge bridge; /* f_beta; at level 0 the model itself (beta 1), for its energies */
    sali_moved moved;   /* at level 0 its chains alone */
    double *energy;     /* [n] f - log p_0 of the states, -inf where f forbids one */
    bool *fresh;        /* [n] the state has come up from level 0 */
} sali_log_z_level;

/* All ladders. */
typedef struct sali_log_z_ladders {
    int64_t n;          /* ladders */
    int64_t L;          /* levels */
    sal_model *target;  /* of the last level; borrowed */
    const double *base; /* [R] log p_0; borrowed */
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    int64_t steps; /* of the sampler in a sweep */
    uint64_t seed;
    int threads;
    int64_t moved;            /* steps made in this sweep */
    int64_t sweep;            /* number of sweeps made; the random numbers depend on it */
    sali_log_z_level *levels; /* [SALI_LOG_Z_MOST_LEVELS], the first L of them made */
    double *uniform;          /* [V] scratch of draws from p_0 */
    int32_t *codes;           /* [V] scratch of exchanges */
    sali_pace pace;
    /* Since they were last cleared: sums over ladders and sweeps of the probability that the states
     * of levels k and k + 1 are exchanged [SALI_LOG_Z_MOST_LEVELS], sweeps, and states that came up
     * to the last level. */
    double *swaps;
    int64_t counted, arrivals;
} sali_log_z_ladders;

/* Make n ladders from `base` [R] to `target` with first guesses of the levels, at draws from p_0.
 * `options` are resolved, the sampler included. Call sali_log_z_ladders_free also after a failure;
 * *ladders is zero before. */
sal_status sali_log_z_ladders_create(sali_log_z_ladders *ladders, sal_model *target,
                                     const double *base, const sal_log_z_options *options,
                                     sal_error *err);
void sali_log_z_ladders_free(sali_log_z_ladders *ladders);

/* beta of level k, 0 for level 0. */
double sali_log_z_beta(const sali_log_z_ladders *ladders, int64_t k);

/* Move the states of all levels; `energies` [L x n] receives their energies, NULL: not wanted.
 * Between some steps stops(data) is asked; if true, the sweep is abandoned, and no other may
 * follow. Returns: SAL_ERR_MODEL (f is NaN or +inf). */
sal_status sali_log_z_sweep(sali_log_z_ladders *ladders, double *energies,
                            bool (*stops)(void *data), void *data, sal_error *err);

/* Exchange states between neighbours, of even and odd levels in turn, which ends a sweep. */
void sali_log_z_exchange(sali_log_z_ladders *ladders);

/* Forget what was counted. */
void sali_log_z_clear(sali_log_z_ladders *ladders);

/* Place the levels anew for equal rates of rejection, and choose their number, from what was
 * counted; then forget that. States stay at levels near their own. */
sal_status sali_log_z_place(sali_log_z_ladders *ladders, sal_error *err);

/* What sweeps recorded. */
typedef struct sali_log_z_record {
    int64_t n, L, sweeps; /* ladders, levels, sweeps */
    const double *beta;   /* [L] */
    const double *energy; /* [sweeps x L x n] */
    double epsilon;       /* of the numbers that f is computed with */
    const double *gap; /* [sweeps x n] f less the target's f at the last level: 0 or -inf; NULL: the
                          target is f */
    const double *f;   /* [sweeps x n] of the states of the last level; NULL: not recorded, and the
                          entropy is NaN */
} sali_log_z_record;

/* Estimate log Z from a record: fills log_z, standard_error, entropy, entropy_error, forward,
 * reverse, rhat, allowed, and `doubt` from these and from what *estimate has already (least_swaps,
 * arrivals). Returns: SAL_ERR_MODEL (no state is allowed), SAL_ERR_MEMORY. */
sal_status sali_log_z_estimate(const sali_log_z_record *record, sal_log_z_estimate *estimate,
                               sal_error *err);

#endif
