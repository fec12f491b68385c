/* Sansone 2022: LSB 1 is a mixture of the four functions (proposition 1), LSB 2 is min(h(t), t
 * h(1/t)) with h = softplus(m(log t)) of a monotonic network m (proposition 2). Their parameters
 * are among what a run tunes. */
#include "learned.h"

#include <math.h>

enum { BLOCKS = 20, UNITS = 20 };

/* In the order of the mixture's weights. */
static const int mixed[] = { SQRT, BARKER, MIN, MAX };

static double ready_made(int method, double t)
{
    switch (method) {
    case BARKER:
        return t / (1 + t);
    case SQRT:
        return sqrt(t);
    case MIN:
        return fmin(1, t);
    default:
        return fmax(1, t);
    }
}

static double mixture(const double *theta, double t)
{
    double sum = 0, total = 0;
    for (int k = 0; k < 4; k++) {
        total += exp(theta[k]);
        sum += exp(theta[k]) * ready_made(mixed[k], t);
    }
    return sum / total;
}

/* theta: logarithms of the lines' slopes, then their heights. */
static double h(const double *theta, double t)
{
    double least = INFINITY;
    for (int b = 0; b < BLOCKS; b++) {
        double largest = -INFINITY;
        for (int k = b * UNITS; k < (b + 1) * UNITS; k++) {
            largest = fmax(largest, exp(theta[k]) * log(t) + theta[BLOCKS * UNITS + k]);
        }
        least = fmin(least, largest);
    }
    return log1p(exp(least));
}

sal_status balancing_function(const sal_run *run, int method, int n, const double *t, double *g,
                              sal_error *err)
{
    sal_tuning *tuning = NULL;
    const double *theta = NULL;
    sal_status status = SAL_OK;
    if (method == LSB1 || method == LSB2) {
        status = sal_run_tuning(run, &tuning, err);
        status = status ? status : sal_tuning_values(tuning, "sampler.theta", &theta, NULL, err);
    }
    for (int k = 0; k < n && status == SAL_OK; k++) {
        g[k] = method == LSB1   ? mixture(theta, t[k])
               : method == LSB2 ? fmin(h(theta, t[k]), t[k] * h(theta, 1 / t[k]))
                                : ready_made(method, t[k]);
    }
    sal_tuning_destroy(tuning);
    return status;
}

/* SPDX-License-Identifier: MIT */
