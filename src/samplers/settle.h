/* SPDX-License-Identifier: MIT */
/* Burn-in sweeps for states that are not draws themselves: by the Gibbs sampler or, for counts
 * without a cap, by `lb`. */
#ifndef SALI_SETTLE_H
#define SALI_SETTLE_H

#include "samplers/sampler.h"

/* The sampler with its settings and shared state, for any number of calls. */
typedef struct sali_settling {
    const sal_model *model;
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    void *shared;
} sali_settling;

/* Whether the Gibbs sampler serves a model. */
bool sali_settles(const sal_model *model);
sal_status sali_settling_open(sali_settling *s, const sal_model *model, sal_error *err);
void sali_settling_close(sali_settling *s);

/* Create n chains whose evaluator serves the burn-in sampler. */
sal_status sali_settling_chains(const sali_settling *s, int64_t n, uint64_t seed,
                                sali_chains **chains, sal_error *err);

/* Burn in all chains from their codes, at their temperatures. Where a step needs evaluations, at
 * most `most` steps are made; calls numbered 0, 1, .. each continue with the variables where the
 * call before stopped. The random numbers of these steps are used by no other steps. NaN or +inf is
 * noted in the chains. Returns: SAL_ERR_MEMORY. */
sal_status sali_settle(const sali_settling *s, sali_chains *chains, int64_t sweeps, int64_t most,
                       int64_t number, sal_error *err);

#endif
