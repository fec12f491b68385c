/* Sansone 2022: LSB 1 is a mixture of the four functions (proposition 1), LSB 2 is min(h(t), t
 * h(1/t)) with h = softplus(m(t)) of a monotonic network m (proposition 2), whose lines are in
 * log t or t / (1 + t) - 1/2. Their parameters are among what a run tunes. */
#include "learned.h"

#include <math.h>
#include <string.h>

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
static double h(const double *theta, bool share, double t)
{
    double least = INFINITY, at = share ? t / (1 + t) - 0.5 : log(t);
    for (int b = 0; b < BLOCKS; b++) {
        double largest = -INFINITY;
        for (int k = b * UNITS; k < (b + 1) * UNITS; k++) {
            largest = fmax(largest, exp(theta[k]) * at + theta[BLOCKS * UNITS + k]);
        }
        least = fmin(least, largest);
    }
    return log1p(exp(least));
}

void ready_made_function(int method, int n, const double *t, double *g)
{
    for (int k = 0; k < n; k++) {
        g[k] = ready_made(method, t[k]);
    }
}

void mixture_function(const double *theta, int n, const double *t, double *g)
{
    for (int k = 0; k < n; k++) {
        g[k] = mixture(theta, t[k]);
    }
}

sal_status balancing_function(const sal_run *run, int method, int n, const double *t, double *g,
                              sal_error *err)
{
    sal_tuning *tuning = NULL;
    const double *theta = NULL;
    sal_run_summary s;
    if (method < LSB1) {
        ready_made_function(method, n, t, g);
        return SAL_OK;
    }
    sal_status status = sal_run_summarise(run, &s, err);
    status = status ? status : sal_run_tuning(run, &tuning, err);
    status = status ? status : sal_tuning_values(tuning, "sampler.theta", &theta, NULL, err);
    bool share = status == SAL_OK && strstr(s.sampler, "lines=share") != NULL;
    if (status == SAL_OK && method == LSB1) {
        mixture_function(theta, n, t, g);
    }
    for (int k = 0; k < n && status == SAL_OK && method != LSB1; k++) {
        g[k] = fmin(h(theta, share, t[k]), t[k] * h(theta, share, 1 / t[k]));
    }
    sal_tuning_destroy(tuning);
    return status;
}
