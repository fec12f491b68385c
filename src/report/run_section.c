/* SPDX-License-Identifier: MIT */
/* The section on a run. */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "report/report.h"

/* List the settings of the run, except those that the section shows elsewhere. */
static void put_configuration(sali_page *page, const sali_run_record *run)
{
    json_t *object = run->configuration ? json_loads(run->configuration, 0, NULL) : NULL;
    const char *key;
    json_t *value;
    static const char *const said[] = { "model", "sampler", "seed", "chains", "draws" };
    for (size_t k = 0; k < sizeof said / sizeof *said; k++) {
        json_object_del(object, said[k]);
    }
    json_object_foreach(object, key, value)
    {
        sali_page_fact_json(page, key, value);
    }
    json_decref(object);
}

/* The mean of the finite values [n]; NaN if there are none, or `values` is NULL. */
static double mean_of(const double *values, int64_t n)
{
    double sum = 0;
    int64_t finite = 0;
    for (int64_t i = 0; values && i < n; i++) {
        if (isfinite(values[i])) {
            sum += values[i];
            finite++;
        }
    }
    return sum / (double)finite;
}

static void put_number(sali_page *page, const char *name, double value, int digits)
{
    char text[SALI_PAGE_NUMBER];
    sali_page_short(value, digits, text);
    sali_page_fact(page, name, isnan(value) ? NULL : text);
}

/* List the date of the run, "2026-11-22T05:11:38+00:00" as "2026-11-22 05:11 UTC". */
static void put_date(sali_page *page, const char *created)
{
    char date[64];
    if (!created) {
        return;
    }
    snprintf(date, sizeof date, "%s", created);
    size_t size = strlen(date);
    if (size == 25 && date[10] == 'T' && strcmp(date + 19, "+00:00") == 0) {
        date[10] = ' ';
        strcpy(date + 16, " UTC");
    }
    sali_page_fact(page, "date", date);
}

/* Round f [n] to 1e-9 of its range: each chain has its own rounding errors in f, which would look
 * like chains that disagree if f has few values. */
static void round_f(double *f, int64_t n)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; f && i < n; i++) {
        low = fmin(low, f[i]);
        high = fmax(high, f[i]);
    }
    double grid = 1e-9 * (high - low);
    for (int64_t i = 0; f && i < n && grid > 0 && isfinite(grid); i++) {
        f[i] = low + grid * round((f[i] - low) / grid);
    }
}

/* The list of facts on a run: what was run, how, and averages over all steps. */
static void put_facts(sali_page *page, const sali_run_record *run)
{
    int64_t n = run->chains * run->n_draws;
    sali_put_raw(&page->w, "<dl>");
    sali_page_fact(page, "model", run->model);
    sali_page_fact(page, "sampler", run->sampler);
    sali_page_fact(page, "seed", run->seed);
    put_number(page, "chains", (double)run->chains, 10);
    put_number(page, "draws of each chain", (double)run->n_draws, 12);
    put_number(page, "variables", (double)run->V, 12);
    put_configuration(page, run);
    put_number(page, "mean f", mean_of(run->noted[SALI_NOTED_LP], n), 6);
    put_number(page, "acceptance rate", mean_of(run->noted[SALI_NOTED_ACCEPTANCE], n), 4);
    put_number(page, "mean jump a draw", mean_of(run->noted[SALI_NOTED_JUMP], n), 4);
    put_number(page, "seconds of sampling", run->seconds, 4);
    sali_page_fact(page, "made by saltus", run->version);
    put_date(page, run->created);
    sali_put_raw(&page->w, "</dl>");
}

sal_status sali_report_run(sali_page *page, int64_t k, const char *path,
                           const sal_report_options *options, sal_error *err)
{
    sali_run_record run = { 0 };
    sali_diagnosed diagnosed = { 0 };
    sal_status status = sali_run_record_read(path, &run, err);
    if (status != SAL_OK) {
        return status;
    }
    round_f(run.noted[SALI_NOTED_LP], run.chains * run.n_draws);
    status = sali_report_diagnose(&run, &diagnosed, err);
    if (status == SAL_OK) {
        sali_page_section(page, k, path, "draws of a run");
        sali_report_diagnostics_verdict(page, &run, &diagnosed);
        put_facts(page, &run);
        sali_put_raw(&page->w, "<h3>Convergence</h3>");
        sali_report_diagnostics_table(page, &run, &diagnosed);
        sali_put_raw(&page->w, SALI_FIGURES);
        status = sali_report_chains(page, &run, &diagnosed, err);
        sali_report_diagnostics_figures(page, &run, &diagnosed);
        sali_report_steps(page, &run);
        sali_put_raw(&page->w, "</div>");
        status = status ? status : sali_report_marginals(page, &run, options, err);
        sali_put_raw(&page->w, "</section>");
    }
    sali_diagnosed_free(&diagnosed);
    sali_run_record_free(&run);
    return status;
}
