/* SPDX-License-Identifier: MIT */
/* Relaxed Hamiltonian Monte Carlo (Grathwohl et al. 2021, sec. 5): leapfrog steps of size sqrt(eps)
 * in the relaxation's y (samplers/relaxed/relaxation.h) with Metropolis-Hastings on its density.
 * One leapfrog step is a step of MALA with step size eps (Neal 2011, sec. 5.2): r-mala. */
#include <math.h>
#include <string.h>

#include "core/object.h"
#include "samplers/relaxed/relaxation.h"

enum { LEAPFROG = SALI_RELAXATION_SETTINGS };

static const sal_setting mala_settings[] = { SALI_TEMPERATURE_SETTING, { 0 } };
static const sal_setting hmc_settings[] = {
    SALI_TEMPERATURE_SETTING,
    { "leapfrog", 5, 1, 10000, true, "leapfrog steps of a proposal", NULL },
    { 0 },
};

typedef struct relaxed_hmc {
    sali_relaxation relaxation;
    int64_t leapfrog;
    double *p;       /* [n x V] momentum */
    double *kinetic; /* [n] |p|^2 / 2 at the start */
} relaxed_hmc;

/* Creates a shard's state; r-mala has one leapfrog step. */
static sal_status create(const sali_chains *chains, const sali_sampler_settings *settings,
                         void *shared, void **self, sal_error *err)
{
    relaxed_hmc *h = SALI_OBJECT(relaxed_hmc);
    (void)shared;
    if (h) {
        bool mala = settings->sampler->settings == mala_settings;
        h->leapfrog = mala ? 1 : (int64_t)settings->values[LEAPFROG];
        h->p = SALI_OBJECT_ARRAY(h, double, chains->n * chains->space->n_variables);
        h->kinetic = SALI_OBJECT_ARRAY(h, double, chains->n);
        sali_relaxation_create(&h->relaxation, chains,
                               settings->values[SALI_RELAXATION_TEMPERATURE]);
    }
    return sali_object_give(h, self, err);
}

static double kinetic_energy(const double *p, int64_t V)
{
    double sum = 0;
    for (int64_t v = 0; v < V; v++) {
        sum += p[v] * p[v];
    }
    return sum / 2;
}

/* p += fraction sqrt(eps) slope, of all chains. */
static void kick_momenta(relaxed_hmc *h, const sali_chains *chains, const double *slope,
                         double fraction)
{
    int64_t V = chains->space->n_variables;
    for (int64_t c = 0; c < chains->n; c++) {
        double size = fraction * sqrt(chains->step_size[c] / h->relaxation.unit);
        for (int64_t k = c * V; k < (c + 1) * V; k++) {
            h->p[k] += size * slope[k];
        }
    }
}

/* y += sqrt(eps) p. */
static void drift_points(relaxed_hmc *h, const sali_chains *chains, double *y)
{
    int64_t V = chains->space->n_variables;
    for (int64_t c = 0; c < chains->n; c++) {
        double size = sqrt(chains->step_size[c] / h->relaxation.unit);
        for (int64_t k = c * V; k < (c + 1) * V; k++) {
            y[k] += size * h->p[k];
        }
    }
}

/* Leapfrog steps of all chains from new momenta, accepted by the relaxed density. */
static void hmc_step(void *self, sali_chains *chains)
{
    relaxed_hmc *h = self;
    sali_relaxation *r = &h->relaxation;
    int64_t V = chains->space->n_variables;
    for (int64_t c = 0; c < chains->n; c++) {
        sali_stream stream = sali_chains_stream(chains, c, SALI_RNG_PROPOSAL);
        sali_rng_normal(&stream, V, h->p + c * V);
        h->kinetic[c] = kinetic_energy(h->p + c * V, V);
    }
    memcpy(r->next.y, r->now.y, (size_t)(chains->n * V) * sizeof *r->now.y);
    kick_momenta(h, chains, r->now.slope, 0.5);
    for (int64_t leap = 1; leap <= h->leapfrog; leap++) {
        drift_points(h, chains, r->next.y);
        sali_relaxation_evaluate(r, chains, &r->next);
        kick_momenta(h, chains, r->next.slope, leap < h->leapfrog ? 1 : 0.5);
    }
    sali_relaxation_propose(r, chains);
    for (int64_t c = 0; c < chains->n; c++) {
        chains->log_ratio[c] = sali_mh_log_ratio(r->now.log_p[c], r->next.log_p[c], -h->kinetic[c],
                                                 -kinetic_energy(h->p + c * V, V));
    }
    sali_relaxation_decide(r, chains);
}

#define FUNCTIONS                                                                      \
    .create = create, .destroy = sali_object_free, .refresh = sali_relaxation_refresh, \
    .state = sali_relaxation_state, .step = hmc_step

const sali_sampler sali_sampler_r_mala = {
    .name = "r-mala",
    .doc = "relaxed MALA: Langevin steps on a continuous relaxation, thresholded",
    .source = "Grathwohl et al. 2021, sec. 5",
    .needs_gradient = true,
    .has_step_size = true,
    .unadjusted = true,
    .kinds = SAL_MOVES_BINARY | SAL_MOVES_SPIN,
    .settings = mala_settings,
    .engine =
        &(const sal_sampler_engine){
            FUNCTIONS,
        },
};

const sali_sampler sali_sampler_r_hmc = {
    .name = "r-hmc",
    .doc = "relaxed HMC: leapfrog steps on a continuous relaxation, thresholded",
    .source = "Grathwohl et al. 2021, sec. 5",
    .needs_gradient = true,
    .has_step_size = true,
    .unadjusted = true,
    .kinds = SAL_MOVES_BINARY | SAL_MOVES_SPIN,
    .settings = hmc_settings,
    .engine =
        &(const sal_sampler_engine){
            FUNCTIONS,
        },
};
