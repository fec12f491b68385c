/* Lesson 15. Critical slowing down, and clusters.
 *
 * At theta = log(1 + sqrt 2) / 4 the Ising lattice is between order and disorder: islands of equal
 * spins have all sizes up to that of the lattice. A sampler that flips one spin at a time must move
 * the borders of such an island step by step. The number of sweeps to an independent state grows
 * with the side of the lattice as side^z, and z is 2.17.
 *
 * Swendsen & Wang (1987) let chance decide which islands there are. Every pair of equal neighbours
 * gets a bond with probability 1 - exp(-4 theta), and every cluster that bonds join is turned over
 * or not, by a fair coin. Wolff (1989) builds one cluster only, from a random spin, and turns it.
 * Both leave the distribution as it is, whatever theta is; here z is about 0.3.
 *
 *     15_critical      prints the autocorrelation time of f, in sweeps, and what z is */
#include <math.h>
#include <saltus/saltus.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLERS = 3, SIDES = 3 };
static const char *const samplers[SAMPLERS] = { "gibbs", "swendsen-wang", "wolff" };
static const int sides[SIDES] = { 8, 16, 32 };

/* The autocorrelation time of f in sweeps, that is in steps that ask as many spins as there are. */
static sal_status measure(int side, const char *sampler, double *tau, double *per_second,
                          sal_error *err)
{
    char specification[64];
    const int single = strcmp(sampler, "gibbs") == 0, spins = side * side;
    sal_run_options o = { .sampler = sampler, .chains = 8, .warmup = 1000, .draws = 8000 };
    sal_model *model = NULL;
    sal_run *run = NULL;
    sal_run_summary s;
    snprintf(specification, sizeof specification, "ising:side=%d,theta=%.7f", side,
             log(1 + sqrt(2)) / 4);
    if (single) { /* a step asks one spin; longer times need more draws to be as sure of */
        o.warmup *= spins;
        o.thin = spins;
        o.chains = 64;
    }
    sal_status status = sal_model_open(specification, 0, &model, err);
    status = status ? status : sal_sample(model, &o, &run, err);
    status = status ? status : sal_run_summarise(run, &s, err);
    status = status ? status
                    : sal_stats_autocorrelation_time(o.chains, o.draws, sal_run_log_probs(run), tau,
                                                     err);
    if (status == SAL_OK) {
        *per_second = (double)(o.chains * o.draws) / *tau / s.seconds;
        /* a step of wolff turns a part of the spins: a spin that turns moves by 2 */
        *tau *= strcmp(sampler, "wolff") == 0 ? s.mean_jump / (2 * spins) : 1;
    }
    sal_run_destroy(run);
    sal_model_destroy(model);
    return status;
}

int main(void)
{
    sal_error err;
    sal_status status = SAL_OK;
    for (int k = 0; k < SAMPLERS && status == SAL_OK; k++) {
        double tau[SIDES], per_second[SIDES];
        for (int i = 0; i < SIDES && status == SAL_OK; i++) {
            status = measure(sides[i], samplers[k], &tau[i], &per_second[i], &err);
        }
        for (int i = 0; i < SIDES && status == SAL_OK; i++) {
            printf("%-13s  side %2d: %5.1f sweeps\n", samplers[k], sides[i], tau[i]);
        }
        if (status == SAL_OK) {
            const double growth = log(tau[SIDES - 1] / tau[0]);
            printf("%-13s  they grow as side^%.1f\n", "",
                   growth / log(sides[SIDES - 1] / sides[0]));
            printf("%-13s  at side %d %.0f effective draws of f per second\n\n", "",
                   sides[SIDES - 1], per_second[SIDES - 1]);
        }
    }
    if (status != SAL_OK) {
        fprintf(stderr, "15_critical: %s\n", err.message);
    }
    return status != SAL_OK;
}

/* SPDX-License-Identifier: MIT */
