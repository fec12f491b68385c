/* SPDX-License-Identifier: MIT */
/* Traces, autocorrelation and ranks by chain: of f, if it is in the file, and of the worst
 * variable.
 */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "report/report.h"
#include "stats/autocovariance.h"
#include "stats/rank.h"

#define SHOWN 7  /* chains in one panel */
#define RANKED 8 /* panels of ranks */
/* An autocorrelation is shown up to twice the lag at which it falls below DEAD, but at least up to
 * LEAST_LAGS. */
#define DEAD 0.05
#define LEAST_LAGS 10
#define BINS 20

typedef struct quantity {
    char name[80];
    double *values; /* [chains x draws] */
    double time;    /* integrated autocorrelation time */
} quantity;

/* ---- traces */

/* A figure of the traces of the first SHOWN chains; values [chains x n]. `hint` follows the title
 * in the caption if all chains are shown. */
static void put_trace(sali_page *page, const char *title, const char *name, const char *hint,
                      int64_t chains, int64_t n, const double *values)
{
    sal_panel panel = { .title = title, .x = { .label = "draw" }, .y = { .label = name } };
    sal_figure *figure = sali_report_figure(&panel);
    int64_t shown = chains < SHOWN ? chains : SHOWN;
    for (int64_t c = 0; figure && c < shown; c++) {
        char chain[32];
        snprintf(chain, sizeof chain, "chain %lld", (long long)c + 1);
        sal_figure_series(figure, &(sal_series){ .name = chain, .n = n, .y = values + c * n });
    }
    if (shown < chains) {
        sali_page_figure(page, figure, "%s, the first %lld of %lld chains.", title,
                         (long long)shown, (long long)chains);
    } else {
        sali_page_figure(page, figure, "%s.%s", title, hint);
    }
}

/* ---- autocorrelation */

/* out [lags] = the autocorrelation, from the autocovariances of all chains, each about its own
 * mean; NaN if no chain moves. */
static sal_status find_autocorrelation(int64_t chains, int64_t n, const double *values,
                                       int64_t lags, double *out, sal_error *err)
{
    sali_memory memory = { 0 };
    sali_autocovariance a;
    sal_status status = sali_autocovariance_init(&a, &memory, n, err);
    for (int64_t c = 0; status == SAL_OK && c < chains; c++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++) {
            mean += values[c * n + i] / (double)n;
        }
        sali_autocovariance_add(&a, values + c * n, mean, NULL, 0);
    }
    const double *sums = status == SAL_OK ? sali_autocovariance_take(&a) : NULL;
    for (int64_t k = 0; sums && k < lags; k++) {
        out[k] = sums[0] > 0 ? sums[k] / sums[0] : NAN;
    }
    sali_memory_free(&memory);
    return status;
}

/* How many of the lags are worth showing, for n curves [n x lags]. */
static int64_t living_lags(int64_t n, int64_t lags, const double *curves)
{
    int64_t longest = LEAST_LAGS;
    for (int64_t i = 0; i < n; i++) {
        int64_t k = 0;
        while (k < lags && fabs(curves[i * lags + k]) >= DEAD) {
            k++;
        }
        longest = 2 * k > longest ? 2 * k : longest;
    }
    return longest < lags ? longest : lags;
}

/* A figure of the autocorrelation of n_q quantities; the last one is the variable with the smallest
 * ESS. */
static sal_status put_autocorrelation(sali_page *page, const sali_run_record *run,
                                      const quantity *q, int64_t n_q, sal_error *err)
{
    double longest = 10;
    for (int64_t i = 0; i < n_q; i++) {
        longest = q[i].time > longest ? q[i].time : longest;
    }
    int64_t lags = (int64_t)fmin(4 * longest, (double)run->n_draws / 2);
    lags = lags < 2 ? (run->n_draws < 2 ? run->n_draws : 2) : lags;
    sal_panel panel = { .title = "Autocorrelation",
                        .x = { .label = "lag [draws]" },
                        .y = { .label = "autocorrelation" } };
    double *values = SALI_NEW_ARRAY(double, n_q *lags);
    sal_figure *figure = values ? sali_report_figure(&panel) : NULL;
    sal_status status = figure ? SAL_OK : sali_fail_memory(err);
    for (int64_t i = 0; status == SAL_OK && i < n_q; i++) {
        status = find_autocorrelation(run->chains, run->n_draws, q[i].values, lags,
                                      values + i * lags, err);
    }
    int64_t shown = status ? 0 : living_lags(n_q, lags, values);
    for (int64_t i = 0; status == SAL_OK && i < n_q; i++) {
        sal_figure_series(figure,
                          &(sal_series){ .name = q[i].name, .n = shown, .y = values + i * lags });
    }
    sali_free(values);
    if (status != SAL_OK) {
        sal_figure_destroy(figure);
        return status;
    }
    sal_figure_mark(figure, NAN, 0, NULL);
    sali_page_figure(page, figure,
                     "Autocorrelation, the mean over the chains. Of the variables %s has the "
                     "smallest effective sample size.",
                     q[n_q - 1].name);
    return SAL_OK;
}

/* ---- ranks */

/* Divide the ranks of all draws into BINS equal parts and count each chain's draws in each part:
 * out [chains x BINS]. Equal draws share their ranks. */
static void count_ranks(const sali_ranked *sorted, int64_t chains, int64_t n, double *out)
{
    int64_t total = chains * n;
    double width = (double)total / BINS;
    for (int64_t begin = 0, end; begin < total; begin = end) {
        for (end = begin + 1; end < total && sorted[end].value == sorted[begin].value; end++) {
        }
        int64_t first = (int64_t)((double)begin / width);
        for (int64_t b = first; b < BINS && (double)b * width < (double)end; b++) {
            double from = fmax((double)begin, (double)b * width);
            double to = fmin((double)end, (double)(b + 1) * width);
            double share = (to - from) / (double)(end - begin);
            for (int64_t i = begin; share > 0 && i < end; i++) {
                out[sorted[i].index / n * BINS + b] += share;
            }
        }
    }
}

/* Panels with the ranks of the first RANKED chains as bars, counts [chains x BINS]; NULL when out
 * of memory. */
static sal_figure *rank_figure(int64_t chains, int64_t n, const double *counts)
{
    sal_figure *figure = NULL;
    sal_figure_options options = {
        .title = "Ranks by chain", .columns = 2, .panel_width = 150, .panel_height = 76
    };
    double at[BINS], most = 0;
    if (sal_figure_create(&options, &figure, NULL) != SAL_OK) {
        return NULL;
    }
    int64_t shown = chains < RANKED ? chains : RANKED;
    for (int64_t i = 0; i < shown * BINS; i++) {
        most = fmax(most, counts[i]);
    }
    for (int b = 0; b < BINS; b++) {
        at[b] = (b + 0.5) / BINS;
    }
    for (int64_t c = 0; c < shown; c++) {
        char title[32];
        snprintf(title, sizeof title, "chain %lld", (long long)c + 1);
        sal_panel panel = {
            .title = title,
            .x = { .label = c >= shown - 2 ? "rank share" : NULL, .low = 0, .high = 1 },
            .y = { .label = c % 2 == 0 ? "draws" : NULL, .low = 0, .high = 1.05 * most }
        };
        sal_figure_panel(figure, &panel);
        sal_figure_series(
            figure,
            &(sal_series){ .mark = SAL_MARK_BARS, .n = BINS, .x = at, .y = counts + c * BINS });
        sal_figure_mark(figure, NAN, (double)n / BINS, NULL);
    }
    return figure;
}

/* A figure of the ranks of a quantity's draws by chain; none if a draw is NaN. */
static sal_status put_ranks(sali_page *page, const sali_run_record *run, const quantity *q,
                            sal_error *err)
{
    int64_t n = run->chains * run->n_draws;
    sali_memory memory = { 0 };
    sali_ranked *ranked = SALI_TAKE(&memory, sali_ranked, n);
    sali_ranked *scratch = SALI_TAKE(&memory, sali_ranked, n);
    double *counts = SALI_TAKE(&memory, double, run->chains *BINS);
    sal_status status = sali_memory_status(&memory, err);
    bool ranks = status == SAL_OK;
    for (int64_t i = 0; ranks && i < n; i++) {
        ranked[i] = (sali_ranked){ q->values[i], i };
        ranks = !isnan(q->values[i]);
    }
    if (ranks) {
        sali_rank_sort(n, ranked, scratch);
        count_ranks(ranked, run->chains, run->n_draws, counts);
        sali_page_figure(page, rank_figure(run->chains, run->n_draws, counts),
                         "Ranks of %s among the draws of all chains, as shares%s: even bars where "
                         "a chain draws as the others do; the dotted line is their mean.",
                         q->name, run->chains > RANKED ? ", of the first 8 chains" : "");
    }
    sali_memory_free(&memory);
    return status;
}

/* ---- all of it */

sal_status sali_report_chains(sali_page *page, const sali_run_record *run, const sali_diagnosed *d,
                              sal_error *err)
{
    quantity list[2] = { 0 };
    int64_t n = 0, worst = d->worst[0];
    double *series = sali_report_series(run, worst * d->every);
    if (!series) {
        return sali_fail_memory(err);
    }
    if (d->has_f) {
        list[n].values = run->noted[SALI_NOTED_LP];
        list[n].time = d->f.autocorrelation_time;
        snprintf(list[n++].name, sizeof list[0].name, "f");
    }
    list[n].values = series;
    list[n].time = d->variables[worst].autocorrelation_time;
    sali_report_quantity(run, worst * d->every, list[n++].name);
    char title[120];
    snprintf(title, sizeof title, "Trace of %s", list[0].name);
    put_trace(page, title, list[0].name, " Chains that mix well look alike.", run->chains,
              run->n_draws, list[0].values);
    sal_status status = put_autocorrelation(page, run, list, n, err);
    for (int64_t i = 0; status == SAL_OK && i < n; i++) {
        status = put_ranks(page, run, &list[i], err);
    }
    sali_free(series);
    if (run->n_warmup > 0 && run->warmup_noted[SALI_NOTED_LP]) {
        put_trace(page, "Trace of f in warm-up", "f", "", run->chains, run->n_warmup,
                  run->warmup_noted[SALI_NOTED_LP]);
    }
    return status;
}
