/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "stats/autocovariance.h"
#include "stats/moments.h"
#include <saltus/stats.h>

/* The sum stops at this many autocorrelation times: a longer window adds noise, a shorter one cuts
 * the tail off. */
#define WINDOW 5.0

/* tau = 1 + 2 sum_t c[t] / c[0] over a window that grows with tau; c [n] holds sums of products at
 * lags 0 .. n - 1. The window is at least WINDOW lags: the running sum of an antithetic chain is
 * small or negative at first. */
static double integrated_time(const double *c, int64_t n)
{
    double tau = 1.0;
    for (int64_t t = 1; t < n && (double)(t - 1) < WINDOW * fmax(tau, 1.0); t++) {
        tau += 2.0 * c[t] / c[0];
    }
    return tau;
}

/* The autocorrelation time from the autocovariances of all chains, each about its own mean; NaN if
 * no chain moves or a value is not finite. */
static double pooled_time(sali_autocovariance *a, int64_t chains, const double *series)
{
    int64_t n = a->n;
    bool moves = false, finite = true;
    for (int64_t c = 0; c < chains; c++) {
        double mean, variance;
        sali_moments(n, series + c * n, &mean, &variance);
        finite = finite && isfinite(variance);
        moves = moves || variance > 0.0;
        sali_autocovariance_add(a, series + c * n, mean, NULL, 0.0);
    }
    const double *sums = sali_autocovariance_take(a);
    return finite && moves ? integrated_time(sums, n) : NAN;
}

sal_status sal_stats_autocorrelation_time(int64_t chains, int64_t draws, const double *series,
                                          double *tau, sal_error *err)
{
    if (chains < 1 || draws < 1 || !series || !tau) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_stats_autocorrelation_time: expected chains and draws >= 1, a series "
                         "and a place for the result; chains is %lld, draws %lld",
                         (long long)chains, (long long)draws);
    }
    if (draws < 4) {
        *tau = NAN;
        return SAL_OK;
    }
    sali_memory memory = { 0 };
    sali_autocovariance a;
    sal_status status = sali_autocovariance_init(&a, &memory, draws, err);
    if (status == SAL_OK) {
        *tau = pooled_time(&a, chains, series);
    }
    sali_memory_free(&memory);
    return status;
}
