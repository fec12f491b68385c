/* SPDX-License-Identifier: MIT */
#include "stats/ess.h"

#include <math.h>
#include <stddef.h>

#include "core/error.h"
#include "stats/moments.h"
#include <saltus/stats.h>

/* What the estimate of the autocorrelation at lag t needs, over all chains. */
typedef struct spectrum {
    const double *sum; /* [n] sums of products at each lag, all chains */
    double scale;      /* sum * scale = mean autocovariance, divisor n */
    double within;     /* mean variance, divisor n - 1 */
    double var_plus;   /* the pooled estimate of the variance */
} spectrum;

/* The estimated autocorrelation at lag t (Vehtari et al. 2021, eq. 10). */
static double rho(const spectrum *s, int64_t t)
{
    return t == 0 ? 1.0 : 1.0 - (s->within - s->sum[t] * s->scale) / s->var_plus;
}

/* The integrated autocorrelation time by Geyer's initial positive and monotone sequence. As in R's
 * package `posterior`: of the last pair inspected only the even term is added, once, which improves
 * antithetic chains; lags from n - 2 on are not used; and tau = 2 for series too short for any
 * pair. Where not even the first pair is positive, only the even term of that pair remains: tau =
 * 0, which the cap of Vehtari et al. (2021) bounds; `posterior` gives 2 in this case as well. (For
 * short discrete series the sum of a pair may be 0 in exact arithmetic; rounding then decides, in
 * `posterior` and here.) */
static double integrated_time(const spectrum *s, int64_t n)
{
    double even = 1.0, odd = rho(s, 1), sum = 0.0, previous = INFINITY;
    int64_t t = 0;
    while (t < n - 5 && even + odd > 0.0) {
        previous = fmin(previous, even + odd);
        sum += previous;
        t += 2;
        even = rho(s, t);
        odd = rho(s, t + 1);
    }
    if (n <= 5) {
        return 2.0;
    }
    double last = even > 0.0 || even + odd >= 0.0 ? even : 0.0;
    return -1.0 + 2.0 * sum + last;
}

double sali_ess(sali_autocovariance *a, int64_t chains, const double *x)
{
    int64_t n = a->n;
    if (n < 3 || sali_degenerate(chains * n, x)) {
        return NAN;
    }
    double first = 0.0, sum = 0.0, squares = 0.0; /* of the chains' means, less the first */
    for (int64_t c = 0; c < chains; c += 2) {
        const double *y = c + 1 < chains ? x + (c + 1) * n : NULL;
        double mean_x, mean_y = 0.0, variance;
        sali_moments(n, x + c * n, &mean_x, &variance);
        first = c == 0 ? mean_x : first;
        sum += mean_x - first;
        squares += (mean_x - first) * (mean_x - first);
        if (y) {
            sali_moments(n, y, &mean_y, &variance);
            sum += mean_y - first;
            squares += (mean_y - first) * (mean_y - first);
        }
        sali_autocovariance_add(a, x + c * n, mean_x, y, mean_y);
    }
    double m = (double)chains, length = (double)n;
    spectrum s = { .sum = sali_autocovariance_take(a), .scale = 1.0 / (m * length) };
    double biased = s.sum[0] * s.scale;
    s.within = biased * length / (length - 1.0);
    s.var_plus = biased + (chains > 1 ? (squares - sum * sum / m) / (m - 1.0) : 0.0);
    double tau = fmax(integrated_time(&s, n), 1.0 / log10(m * length));
    return m * length / tau;
}

double sali_ess_tfp(sali_autocovariance *a, const double *x)
{
    int64_t n = a->n;
    double mean, variance;
    sali_moments(n, x, &mean, &variance);
    if (n < 4 || !isfinite(variance) || variance == 0.0) {
        return NAN;
    }
    sali_autocovariance_add(a, x, mean, NULL, 0.0);
    const double *c = sali_autocovariance_take(a); /* c_k / c_0 = (n - k) / n rho_k */
    double sum = 0.0, length = (double)n;
    for (int64_t k = 0; k + 1 < n; k += 2) {
        double even = length / (double)(n - k) * c[k],
               odd = length / (double)(n - k - 1) * c[k + 1];
        if (even + odd < 0.0) {
            break;
        }
        sum += (c[k] + c[k + 1]) / c[0];
    }
    return length / (-1.0 + 2.0 * sum);
}

sal_status sal_stats_ess_tfp(int64_t n, const double *series, double *ess, sal_error *err)
{
    if (n < 1 || !series || !ess) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_stats_ess_tfp: expected n >= 1, a series and a place for the result; "
                         "n is %lld",
                         (long long)n);
    }
    sali_memory memory = { 0 };
    sali_autocovariance a;
    sal_status status = sali_autocovariance_init(&a, &memory, n, err);
    if (status == SAL_OK) {
        *ess = sali_ess_tfp(&a, series);
    }
    sali_memory_free(&memory);
    return status;
}
