/* SPDX-License-Identifier: MIT */
/* How well the chains of a run mixed: a table and two figures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "report/report.h"
#include "stats/diagnose.h"

/* At most this many draws, of all variables together, are analysed. */
#define MOST_DRAWS 1e8

/* Rows of the table for variables; f has one more. */
#define ROWS 10

const char *sali_report_name(const sali_run_record *run, int64_t variable, char out[80])
{
    if (run->names) {
        snprintf(out, 80, "%s", run->names[variable]);
    } else {
        snprintf(out, 80, "variable %lld", (long long)variable);
    }
    return out;
}

static double code_of(const sali_run_record *run, int64_t variable, int64_t draw)
{
    return run->draws.values[draw * run->V + variable];
}

/* The most common code of a nominal variable; codes are below 256. */
static int64_t most_common(const sali_run_record *run, int64_t variable)
{
    int64_t counts[256] = { 0 }, best = 0;
    for (int64_t i = 0; i < run->chains * run->n_draws; i++) {
        double code = code_of(run, variable, i);
        if (code >= 0 && code < 256) {
            counts[(int)code]++;
        }
    }
    for (int64_t k = 1; k < 256; k++) {
        best = counts[k] > counts[best] ? k : best;
    }
    return best;
}

static bool is_nominal(const sali_run_record *run, int64_t variable)
{
    return run->nominal && run->nominal[variable];
}

const char *sali_report_quantity(const sali_run_record *run, int64_t variable, char out[80])
{
    sali_report_name(run, variable, out);
    if (is_nominal(run, variable)) {
        size_t used = strnlen(out, 60);
        snprintf(out + used, 80 - used, " = %lld", (long long)most_common(run, variable));
    }
    return out;
}

double *sali_report_series(const sali_run_record *run, int64_t variable)
{
    int64_t n = run->chains * run->n_draws;
    double *series = SALI_NEW_ARRAY(double, n);
    const double *levels = run->levels ? run->levels[variable] : NULL;
    const bool nominal = is_nominal(run, variable);
    const double common = nominal ? (double)most_common(run, variable) : 0;
    for (int64_t i = 0; series && i < n; i++) {
        double code = code_of(run, variable, i);
        series[i] = nominal ? code == common : levels ? levels[(int64_t)code] : code;
    }
    return series;
}

/* ---- */

/* With fewer draws, a chain that moves may look as if it did not. */
#define FEW_DRAWS 4

/* Whether no chain moves: the draws of each chain are all the same. False with fewer than FEW_DRAWS
 * draws. */
static bool stands_still(const sali_run_record *run)
{
    bool same = run->n_draws >= FEW_DRAWS;
    for (int64_t c = 0; same && c < run->chains; c++) {
        const double *first = run->draws.values + c * run->n_draws * run->V;
        for (int64_t i = 1; same && i < run->n_draws; i++) {
            same = memcmp(first, first + i * run->V, (size_t)run->V * sizeof *first) == 0;
        }
    }
    return same;
}

static double rhat_of(const sal_diagnostics *d)
{
    return isnan(d->rhat) ? d->rhat_bulk : d->rhat;
}

/* Order for qsort: ascending ESS, variables without an ESS last. */
static int by_ess(const void *a, const void *b)
{
    const sal_diagnostics *x = *(const sal_diagnostics *const *)a;
    const sal_diagnostics *y = *(const sal_diagnostics *const *)b;
    double u = isnan(x->ess_bulk) ? INFINITY : x->ess_bulk;
    double v = isnan(y->ess_bulk) ? INFINITY : y->ess_bulk;
    return u != v ? (u > v) - (u < v) : (x > y) - (x < y);
}

/* Set d->worst, by ascending ESS, and d->apart, the largest R-hat. SAL_ERR_MEMORY. */
static sal_status rank_worst(sali_diagnosed *d, sal_error *err)
{
    const sal_diagnostics **sorted = SALI_NEW_ARRAY(const sal_diagnostics *, d->n);
    if (!sorted) {
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < d->n; i++) {
        sorted[i] = &d->variables[i];
    }
    qsort(sorted, (size_t)d->n, sizeof *sorted, by_ess);
    d->apart = -1;
    for (int64_t i = 0; i < d->n; i++) {
        d->worst[i] = sorted[i] - d->variables;
        const double most = d->apart < 0 ? -INFINITY : rhat_of(&d->variables[d->apart]);
        d->apart = rhat_of(&d->variables[i]) > most ? i : d->apart;
    }
    sali_free(sorted);
    return SAL_OK;
}

/* Fill in all of *d but the fields that sali_report_diagnose has set. Diagnostics of mixing are NaN
 * if a chain did not move. */
static sal_status diagnose_all(const sali_run_record *run, sali_diagnosed *d, sal_error *err)
{
    sal_status status = SAL_OK;
    const double *f = run->noted[SALI_NOTED_LP];
    if (f) {
        d->has_f = true;
        status = sal_stats_diagnose(run->chains, run->n_draws, f, &d->f, err);
    }
    for (int64_t i = 0; status == SAL_OK && i < d->n; i++) {
        double *series = sali_report_series(run, i * d->every);
        status = series
                     ? sal_stats_diagnose(run->chains, run->n_draws, series, &d->variables[i], err)
                     : sali_fail_memory(err);
        sali_free(series);
    }
    if (d->unmoved > 0) {
        sali_diagnostics_unmoved(&d->f);
        for (int64_t i = 0; i < d->n; i++) {
            sali_diagnostics_unmoved(&d->variables[i]);
        }
    }
    return status ? status : rank_worst(d, err);
}

sal_status sali_report_diagnose(const sali_run_record *run, sali_diagnosed *out, sal_error *err)
{
    double draws = (double)run->chains * (double)run->n_draws * (double)run->V;
    sali_diagnosed d = { .every = 1 + (int64_t)(draws / MOST_DRAWS) };
    d.n = (run->V + d.every - 1) / d.every;
    d.unmoved = run->draws.unmoved > 0 ? run->draws.unmoved : stands_still(run) ? run->chains : 0;
    d.variables = SALI_NEW_ARRAY(sal_diagnostics, d.n);
    d.worst = SALI_NEW_ARRAY(int64_t, d.n);
    sal_status status = d.variables && d.worst ? diagnose_all(run, &d, err) : sali_fail_memory(err);
    if (status != SAL_OK) {
        sali_diagnosed_free(&d);
        return status;
    }
    *out = d;
    return SAL_OK;
}

void sali_diagnosed_free(sali_diagnosed *d)
{
    sali_free(d->variables);
    sali_free(d->worst);
    *d = (sali_diagnosed){ 0 };
}

/* ---- the verdict */

/* Above this R-hat, more draws are needed (Vehtari et al. 2021). */
#define ALMOST 1.01

/* The name of the variable at `place` in d->variables; "f" for -1. */
static const char *place_name(const sali_run_record *run, const sali_diagnosed *d, int64_t place,
                              char out[80])
{
    return place < 0 ? "f" : sali_report_quantity(run, place * d->every, out);
}

/* A paragraph saying that chains never moved: the warning of the run's summary, if the file has
 * it. */
static void put_unmoved(sali_page *page, const sali_run_record *run, int64_t unmoved)
{
    if (run->draws.unmoved > 0 && run->draws.warning) {
        sali_page_paragraph(page, "%s", run->draws.warning);
    } else if (unmoved == run->chains) {
        sali_page_paragraph(page, "Nothing moved: the draws of each chain are all the same, and "
                                  "say nothing.");
    } else {
        sali_page_paragraph(page, "%lld of %lld chains never moved: they have no ESS.",
                            (long long)unmoved, (long long)run->chains);
    }
}

void sali_report_diagnostics_verdict(sali_page *page, const sali_run_record *run,
                                     const sali_diagnosed *d)
{
    char worst[80], least[80];
    int64_t apart = d->apart, fewest = d->worst[0], disagreeing = 0, unknown = 0;
    double rhat = apart < 0 ? 0 : rhat_of(&d->variables[apart]);
    double ess = d->variables[fewest].ess_bulk;
    if (d->unmoved > 0) {
        put_unmoved(page, run, d->unmoved);
        return;
    }
    if (d->has_f && rhat_of(&d->f) >= rhat) {
        rhat = rhat_of(&d->f);
        apart = -1;
    }
    if (d->has_f && (isnan(ess) || d->f.ess_bulk <= ess)) {
        ess = d->f.ess_bulk;
        fewest = -1;
    }
    for (int64_t i = 0; i < d->n; i++) {
        disagreeing += rhat_of(&d->variables[i]) > SAL_RHAT_LIMIT;
        unknown += isnan(rhat_of(&d->variables[i]));
    }
    const char *of = place_name(run, d, apart, worst);
    if (rhat > SAL_RHAT_LIMIT) {
        sali_page_paragraph(page,
                            "The chains disagree: R-hat is %.2f for %s, and above %.1f for %lld of "
                            "%lld variables. Do not trust the averages.",
                            rhat, of, SAL_RHAT_LIMIT, (long long)disagreeing, (long long)d->n);
    } else if (rhat == 0 || unknown == d->n) {
        sali_page_paragraph(page, "The draws do not tell whether the chains agree: they are too "
                                  "few, or do not move.");
    } else {
        sali_page_paragraph(page,
                            "%s: the largest R-hat is %.3f (%s), the smallest effective sample "
                            "size %.0f (%s)%s%s",
                            run->chains == 1 ? "There is one chain, whose halves agree"
                            : rhat > ALMOST  ? "The chains nearly agree; more draws would tell"
                                             : "The chains agree",
                            rhat, of, ess, place_name(run, d, fewest, least),
                            unknown > 0 ? "; some variables never change" : "",
                            run->chains == 1 ? "; several chains would tell more." : ".");
    }
}

/* ---- the table */

/* Whether any row of the table has an ESS of the tails; draws of few values have none. */
static bool has_tail(const sali_diagnosed *d)
{
    bool any = d->has_f && !isnan(d->f.ess_tail);
    for (int64_t i = 0; i < d->n && i < ROWS; i++) {
        any = any || !isnan(d->variables[d->worst[i]].ess_tail);
    }
    return any;
}

/* Columns of the table; those that show whether to trust the rest come first, where a phone shows
 * them. */
static const sali_column columns[] = { { "quantity", 0 },    { "R-hat", 4 },       { "ESS", 4 },
                                       { "mean", 5 },        { "sd", 4 },          { "MCSE", 2 },
                                       { "IAT [draws]", 3 }, { "ESS of tails", 4 } };

/* One row of the table; `tail`: with the column for the ESS of the tails. */
static void put_row(sali_page *page, const char *name, const sal_diagnostics *d, bool tail)
{
    const double values[] = { rhat_of(d), d->ess_bulk,  d->mean,
                              d->sd,      d->mcse_mean, d->autocorrelation_time,
                              d->ess_tail };
    sali_put(&page->w, "<tr><td>%s</td>", name);
    for (int k = 0; k < 6 + tail; k++) {
        sali_page_number(page, values[k], columns[1 + k].digits);
    }
    sali_put_raw(&page->w, "</tr>");
}

static void put_variable(sali_page *page, const sali_run_record *run, const sali_diagnosed *d,
                         int64_t place, bool tail)
{
    char name[80];
    put_row(page, sali_report_quantity(run, place * d->every, name), &d->variables[place], tail);
}

void sali_report_diagnostics_table(sali_page *page, const sali_run_record *run,
                                   const sali_diagnosed *d)
{
    bool tail = has_tail(d);
    sali_page_table(page,
                    d->has_f ? "f and the variables with the largest R-hat and the smallest "
                               "effective sample sizes"
                             : "The variables with the largest R-hat and the smallest effective "
                               "sample sizes",
                    7 + tail, columns);
    if (d->has_f) {
        put_row(page, "f", &d->f, tail);
    }
    if (d->apart >= 0) {
        put_variable(page, run, d, d->apart, tail);
    }
    for (int64_t i = 0, rows = d->apart >= 0; i < d->n && rows < ROWS; i++) {
        if (d->worst[i] != d->apart) {
            put_variable(page, run, d, d->worst[i], tail);
            rows++;
        }
    }
    sali_put_raw(&page->w, SALI_TABLE_END);
    if (d->every > 1) {
        sali_page_paragraph(page, "Every %lldth variable was looked at.", (long long)d->every);
    }
}

/* ---- the figures */

/* A figure of R-hat or, if not `rhat`, of ESS by variable, with the recommended limit; `total` is
 * the number of chains. */
static void put_figure(sali_page *page, const sali_diagnosed *d, bool rhat, double total)
{
    double *values = SALI_NEW_ARRAY(double, d->n);
    double *at = SALI_NEW_ARRAY(double, d->n);
    sal_panel panel = { .title = rhat ? "R-hat of the variables" : "ESS of the variables",
                        .x = { .label = "variable" },
                        .y = { .label = rhat ? "R-hat" : "effective draws",
                               .logarithmic = !rhat } };
    sal_figure *figure = values && at ? sali_report_figure(&panel) : NULL;
    int64_t missing = 0;
    for (int64_t i = 0; figure && i < d->n; i++) {
        values[i] = rhat ? rhat_of(&d->variables[i]) : d->variables[i].ess_bulk;
        at[i] = (double)(i * d->every);
        missing += !isfinite(values[i]);
    }
    sal_figure_series(figure,
                      &(sal_series){ .mark = SAL_MARK_POINTS, .n = d->n, .x = at, .y = values });
    sal_figure_mark(figure, NAN, rhat ? ALMOST : 100 * total, rhat ? "1.01" : "100 a chain");
    sali_free(values);
    sali_free(at);
    if (rhat) {
        sali_page_figure(page, figure,
                         "R-hat compares chains with one another; chains that agree are near 1. "
                         "%lld of %lld variables have none: their draws do not move enough.",
                         (long long)missing, (long long)d->n);
    } else {
        sali_page_figure(page, figure,
                         "Bulk effective sample size of all chains together; below the dotted "
                         "line R-hat and means are not to be trusted (Vehtari et al. 2021).");
    }
}

void sali_report_diagnostics_figures(sali_page *page, const sali_run_record *run,
                                     const sali_diagnosed *d)
{
    if (d->n > 1 && d->unmoved == 0) {
        put_figure(page, d, false, (double)run->chains);
        put_figure(page, d, true, (double)run->chains);
    }
}
