/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/error.h"
#include "stats/autocovariance.h"
#include "stats/diagnose.h"
#include "stats/ess.h"
#include "stats/moments.h"
#include "stats/rank.h"
#include "stats/rhat.h"
#include <saltus/stats.h>

/* One series on its way through the estimators: split once, sorted once. */
typedef struct series_work {
    sali_memory memory;           /* owns all arrays */
    int64_t chains, draws, total; /* total = chains * draws */
    int64_t m, n, used;           /* half-chains, their length, m * n */
    const double *series;         /* [total] */
    double *split;                /* [used] = [m x n] */
    double *y;                    /* [used] the series under analysis: scores, indicators, .. */
    int64_t numbers;              /* draws that are not NaN */
    sali_ranked *sorted;          /* [numbers] those draws in order of value; index into series */
    sali_ranked *order;   /* [used] the draws of the split in order of value; index into split */
    sali_ranked *scratch; /* [total] */
    sali_autocovariance halves; /* for series of n */
    sali_autocovariance whole;  /* for series of draws */
} series_work;

/* Set the sizes and allocate the arrays for a series [chains x draws], which is borrowed. Free
 * w->memory in any case. SAL_ERR_MEMORY. */
static sal_status work_init(series_work *w, int64_t chains, int64_t draws, const double *series,
                            sal_error *err)
{
    bool halve = draws > 1;
    *w = (series_work){
        .chains = chains, .draws = draws, .total = chains * draws, .series = series
    };
    w->m = halve ? 2 * chains : chains;
    w->n = halve ? draws / 2 : draws;
    w->used = w->m * w->n;
    w->split = SALI_TAKE(&w->memory, double, w->used);
    w->y = SALI_TAKE(&w->memory, double, w->used);
    w->sorted = SALI_TAKE(&w->memory, sali_ranked, w->total);
    w->order = SALI_TAKE(&w->memory, sali_ranked, w->used);
    w->scratch = SALI_TAKE(&w->memory, sali_ranked, w->total);
    sal_status status = sali_memory_status(&w->memory, err);
    status = status ? status : sali_autocovariance_init(&w->halves, &w->memory, w->n, err);
    return status ? status : sali_autocovariance_init(&w->whole, &w->memory, draws, err);
}

/* Where draw `index` of the series is in the split; -1 for the middle one of an odd number of
 * draws, which is left out. */
static int64_t split_index(const series_work *w, int64_t index)
{
    int64_t c = index / w->draws, t = index % w->draws;
    if (w->m == w->chains || t < w->n) {
        return c * (w->used / w->chains) + t;
    }
    int64_t second = t - (w->draws - w->n);
    return second >= 0 ? (2 * c + 1) * w->n + second : -1;
}

/* Fill `split`, `sorted` and `order` from the series; NaN is left out of the sorted lists. */
static void split_and_sort(series_work *w)
{
    for (int64_t i = 0; i < w->total; i++) {
        int64_t to = split_index(w, i);
        if (to >= 0) {
            w->split[to] = w->series[i];
        }
        if (!isnan(w->series[i])) {
            w->sorted[w->numbers++] = (sali_ranked){ w->series[i], i };
        }
    }
    sali_rank_sort(w->numbers, w->sorted, w->scratch);
    int64_t next = 0;
    for (int64_t i = 0; i < w->numbers; i++) {
        int64_t to = split_index(w, w->sorted[i].index);
        if (to >= 0) {
            w->order[next++] = (sali_ranked){ w->sorted[i].value, to };
        }
    }
}

/* Whether a draw in the split is NaN: then there are no ranks. */
static bool split_has_nan(const series_work *w)
{
    for (int64_t i = 0; i < w->used; i++) {
        if (isnan(w->split[i])) {
            return true;
        }
    }
    return false;
}

/* Rank-normalised R-hat and bulk ESS. These need only an order, so infinities are fine; no draw of
 * the split may be NaN. */
static void diagnose_ranks(series_work *w, sal_diagnostics *d)
{
    sali_rank_normalize(w->used, w->order, w->y);
    d->rhat_bulk = sali_rhat(w->m, w->n, w->y);
    d->ess_bulk = sali_ess(&w->halves, w->m, w->y);
    double median = w->numbers == w->total ? sali_rank_median(w->total, w->sorted) : NAN;
    if (isfinite(median)) {
        sali_rank_fold(w->used, w->order, median, w->scratch);
        sali_rank_normalize(w->used, w->scratch, w->y);
        d->rhat_folded = sali_rhat(w->m, w->n, w->y);
        d->rhat = fmax(d->rhat_bulk, d->rhat_folded); /* the bulk's if all folded draws are equal */
    }
}

/* ESS of the indicator x <= q, where q is the quantile `prob` of all draws. If q is the largest
 * value, that indicator is constant, and x < q is used. */
static double ess_quantile(series_work *w, double prob)
{
    double q = sali_rank_quantile(w->total, w->sorted, prob);
    const bool largest = q == w->sorted[w->total - 1].value;
    for (int64_t i = 0; i < w->used; i++) {
        w->y[i] = (largest ? w->split[i] < q : w->split[i] <= q) ? 1.0 : 0.0;
    }
    return sali_ess(&w->halves, w->m, w->y);
}

/* Standard error of the sd, by the delta method on var = mean (x - mean)^2, which is itself a mean
 * of squares. */
static double mcse_sd(series_work *w, double mean)
{
    double second = 0.0, fourth = 0.0;
    for (int64_t i = 0; i < w->total; i++) {
        double square = (w->series[i] - mean) * (w->series[i] - mean);
        second += square;
        fourth += square * square;
    }
    second /= (double)w->total;
    fourth /= (double)w->total;
    for (int64_t i = 0; i < w->used; i++) {
        w->y[i] = (w->split[i] - mean) * (w->split[i] - mean);
    }
    double ess = sali_ess(&w->halves, w->m, w->y);
    return sqrt((fourth - second * second) / ess / second / 4.0);
}

/* Compute all diagnostics of the series into *d, which holds NaN wherever one is undefined. */
static void diagnose_series(series_work *w, sal_diagnostics *d)
{
    double variance;
    split_and_sort(w);
    sali_moments(w->total, w->series, &d->mean, &variance);
    d->sd = sqrt(variance);
    if (!split_has_nan(w)) {
        diagnose_ranks(w, d);
    }
    d->rhat_basic = sali_rhat(w->m, w->n, w->split);
    d->ess_basic = sali_ess(&w->halves, w->m, w->split);
    d->autocorrelation_time = (double)w->used / d->ess_basic;
    d->mcse_mean = d->sd / sqrt(d->ess_basic);
    if (!sali_degenerate(w->total, w->series)) {
        double low = ess_quantile(w, 0.05), high = ess_quantile(w, 0.95);
        d->ess_tail = isnan(low) || isnan(high) ? NAN : fmin(low, high);
        d->mcse_sd = mcse_sd(w, d->mean);
    }
    d->ess_tfp = 0.0;
    for (int64_t c = 0; c < w->chains; c++) {
        d->ess_tfp += sali_ess_tfp(&w->whole, w->series + c * w->draws);
    }
}

sal_status sal_stats_diagnose(int64_t chains, int64_t draws, const double *series,
                              sal_diagnostics *result, sal_error *err)
{
    if (chains < 1 || draws < 1 || chains > INT64_MAX / 2 / draws || !series || !result) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_stats_diagnose: expected at least 1 chain of at least 1 draw, a "
                         "series and a place for the result; got %lld x %lld",
                         (long long)chains, (long long)draws);
    }
    series_work w;
    sal_status status = work_init(&w, chains, draws, series, err);
    if (status == SAL_OK) {
        *result =
            (sal_diagnostics){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
        diagnose_series(&w, result);
    }
    sali_memory_free(&w.memory);
    return status;
}

void sali_diagnostics_unmoved(sal_diagnostics *d)
{
    *d = (sal_diagnostics){ .mean = d->mean,
                            .sd = d->sd,
                            .rhat = NAN,
                            .rhat_bulk = NAN,
                            .rhat_folded = NAN,
                            .rhat_basic = NAN,
                            .ess_bulk = NAN,
                            .ess_tail = NAN,
                            .ess_basic = NAN,
                            .ess_tfp = NAN,
                            .autocorrelation_time = NAN,
                            .mcse_mean = NAN,
                            .mcse_sd = NAN };
}
