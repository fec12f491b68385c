/* SPDX-License-Identifier: MIT */
#include "stats/rhat.h"

#include <math.h>

#include "core/error.h"
#include "stats/moments.h"
#include <saltus/stats.h>

/* Running sums over chains: of their variances, and of their means and squared means, both relative
 * to the mean of the first chain. */
typedef struct tally {
    double first, means, squares, variances;
} tally;

/* Add the mean and variance of chain number `chain`; chain 0 comes first and resets the tally. */
static void tally_add(tally *t, int64_t chain, double mean, double variance)
{
    if (chain == 0) {
        *t = (tally){ .first = mean };
    }
    t->means += mean - t->first;
    t->squares += (mean - t->first) * (mean - t->first);
    t->variances += variance;
}

/* R-hat of `chains` chains of n draws (Vehtari et al. 2021, eq. 4). */
static double tally_rhat(const tally *t, int64_t chains, int64_t n)
{
    double m = (double)chains, length = (double)n;
    double between = (t->squares - t->means * t->means / m) / (m - 1.0); /* B / n */
    double within = t->variances / m;
    return sqrt(between / within + (length - 1.0) / length);
}

double sali_rhat(int64_t chains, int64_t n, const double *x)
{
    if (chains < 2 || n < 2 || sali_degenerate(chains * n, x)) {
        return NAN;
    }
    tally t = { 0 };
    for (int64_t c = 0; c < chains; c++) {
        double mean, variance;
        sali_moments(n, x + c * n, &mean, &variance);
        tally_add(&t, c, mean, variance);
    }
    return tally_rhat(&t, chains, n);
}

double sali_rhat_moments(int64_t chains, int64_t n, const double *mean, const double *variance)
{
    tally t = { 0 };
    for (int64_t c = 0; c < chains; c++) {
        tally_add(&t, c, mean[c], variance[c]);
    }
    return chains < 2 || n < 2 ? NAN : tally_rhat(&t, chains, n);
}

sal_status sali_rhat_counts(int64_t halves, int64_t draws, const int64_t *ones, double *rhat,
                            sal_error *err)
{
    if (halves < 2 || draws < 2 || !ones || !rhat) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sali_rhat_counts: expected at least 2 half-chains of at least 2 "
                         "draws, counts and a place for the result; got %lld of %lld",
                         (long long)halves, (long long)draws);
    }
    tally t = { 0 };
    for (int64_t j = 0; j < halves; j++) {
        if (ones[j] < 0 || ones[j] > draws) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "sali_rhat_counts: half-chain %lld counts %lld ones among %lld "
                             "draws; expected 0 to %lld",
                             (long long)j, (long long)ones[j], (long long)draws, (long long)draws);
        }
        double n = (double)draws, k = (double)ones[j];
        tally_add(&t, j, k / n, k * (n - k) / (n * (n - 1.0)));
    }
    *rhat = tally_rhat(&t, halves, draws);
    return SAL_OK;
}
