/* SPDX-License-Identifier: MIT */
/* The section on a comparison of samplers: what 'saltus compare --json' printed. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <saltus/figure.h>
#include <saltus/stats.h>
#include "core/alloc.h"
#include "core/error.h"
#include "io/json_text.h"
#include "report/report.h"

#define TRACES 7 /* lines in the figure of errors */

/* Samplers with fewer than ENOUGH_ESS effective draws, of all chains together, are not ranked. The
 * second best counts as equally good from CLOSE of the ESS per second of the best. */
#define ENOUGH_ESS 100
#define CLOSE 0.9

/* Columns of the table. The most important come first, where a phone shows them. */
static const struct {
    const char *key, *title;
    int digits;
} figures[] = {
    { "ess_per_second", "ESS/s", 4 },  { "rhat_max", "R-hat", 4 },
    { "ess_per_step", "ESS/step", 3 }, { "autocorrelation_time", "IAT", 3 },
    { "step_size", "step size", 3 },   { "acceptance_rate", "accept", 3 },
    { "mean_jump", "jump", 3 },        { "marginal_error", "marginal", 3 },
    { "pair_l1", "pair L1", 3 },       { "covariance_error", "covar", 3 },
    { "total_variation", "TV", 3 },    { "statistic", "statistic", 4 },
    { "log_prob_mean", "mean f", 5 },  { "steps_per_second", "steps/s", 4 },
    { "seconds", "seconds", 3 },
};
#define N_FIGURES (sizeof figures / sizeof *figures)

static const char *name_of(const json_t *row)
{
    return json_string_value(json_object_get(row, "sampler"));
}

static bool did_run(const json_t *row)
{
    return !json_object_get(row, "reason");
}

/* ---- the verdict */

/* How many samplers ran, how many of these have chains that agree, and how many of those can be
 * ranked. */
typedef struct ranking {
    int64_t ran, agree, ranked;
    const json_t *best, *next; /* by ESS per second, of the ranked ones; or NULL */
} ranking;

static double speed_of(const json_t *row)
{
    return row ? sali_json_number(row, "ess_per_second") : 0;
}

/* Fill *r, all zeros at first, from the samplers in `rows`. */
static void rank_samplers(const json_t *rows, ranking *r)
{
    for (size_t k = 0; k < json_array_size(rows); k++) {
        const json_t *row = json_array_get(rows, k);
        bool agrees = did_run(row) && sali_json_number(row, "rhat_max") <= SAL_RHAT_LIMIT;
        r->ran += did_run(row);
        r->agree += agrees;
        if (!agrees || !(speed_of(row) > 0) || sali_json_number(row, "ess_total") < ENOUGH_ESS) {
            continue;
        }
        r->ranked++;
        if (speed_of(row) > speed_of(r->best)) {
            r->next = r->best;
            r->best = row;
        } else if (speed_of(row) > speed_of(r->next)) {
            r->next = row;
        }
    }
}

/* The sentence that names the best sampler, and the next one if that is about as good. */
static void put_best(sali_page *page, const ranking *r)
{
    char figure[SALI_PAGE_NUMBER], close[200] = "";
    sali_page_short(speed_of(r->best), 3, figure);
    if (speed_of(r->next) >= CLOSE * speed_of(r->best)) {
        snprintf(close, sizeof close, " %.100s is as good within %.0f%%.", name_of(r->next),
                 100 * (1 - CLOSE));
    }
    sali_page_paragraph(page,
                        "%s is the best by effective draws a second, %s, of %lld samplers whose "
                        "chains agree (R-hat up to %.1f), out of %lld that ran.%s%s",
                        name_of(r->best), figure, (long long)r->agree, SAL_RHAT_LIMIT,
                        (long long)r->ran, close,
                        json_is_false(json_object_get(r->best, "exact"))
                            ? " It is not exact: more draws do not take its error away."
                            : "");
}

/* A paragraph that names the best sampler, or says why the samplers are not ranked. */
static void put_verdict(sali_page *page, const json_t *root, const json_t *rows)
{
    ranking r = { 0 };
    rank_samplers(rows, &r);
    if (r.ran == 0) {
        sali_page_paragraph(page, "No sampler was run.");
    } else if (sali_json_number(root, "chains") == 1) {
        sali_page_paragraph(page, "One chain of each sampler does not tell which of them can be "
                                  "trusted; they are not ranked.");
    } else if (r.ranked > 0) {
        put_best(page, &r);
    } else if (r.agree > 0) {
        sali_page_paragraph(page, "Draws are too few, or timings too uncertain, to rank the "
                                  "samplers.");
    } else {
        sali_page_paragraph(page,
                            "Of no sampler it is known that its chains agree (R-hat up to %.1f): "
                            "ESS does not rank them.",
                            SAL_RHAT_LIMIT);
    }
}

/* ---- the table */

static bool any_number(const json_t *rows, const char *key)
{
    bool any = false;
    for (size_t k = 0; k < json_array_size(rows); k++) {
        any = any || !isnan(sali_json_number(json_array_get(rows, k), key));
    }
    return any;
}

/* The table of all samplers that ran, with the columns of which at least one has a number. */
static void put_table(sali_page *page, const json_t *rows)
{
    sali_column columns[2 + N_FIGURES] = { { "sampler", 0 }, { "exact", 0 } };
    size_t shown[N_FIGURES];
    int64_t n = 0;
    for (size_t f = 0; f < N_FIGURES; f++) {
        if (any_number(rows, figures[f].key)) {
            columns[2 + n] = (sali_column){ figures[f].title, figures[f].digits };
            shown[n++] = f;
        }
    }
    sali_page_table(page, "The samplers; exact: whether they leave the distribution as it is",
                    2 + n, columns);
    for (size_t k = 0; k < json_array_size(rows); k++) {
        const json_t *row = json_array_get(rows, k);
        if (!did_run(row)) {
            continue;
        }
        sali_put(&page->w, "<tr><td>%s</td><td>%s</td>", name_of(row),
                 json_is_true(json_object_get(row, "exact")) ? "yes" : "no");
        for (int64_t i = 0; i < n; i++) {
            sali_page_number(page, sali_json_number(row, figures[shown[i]].key),
                             figures[shown[i]].digits);
        }
        sali_put_raw(&page->w, "</tr>");
    }
    sali_put_raw(&page->w, SALI_TABLE_END);
}

/* The table of samplers that were not run, and why; nothing if all were run. */
static void put_missing(sali_page *page, const json_t *rows)
{
    bool any = false;
    for (size_t k = 0; k < json_array_size(rows); k++) {
        any = any || !did_run(json_array_get(rows, k));
    }
    if (!any) {
        return;
    }
    static const sali_column columns[] = { { "not run", 0 }, { "why", 0 } };
    sali_page_table(page, "Samplers that do not serve this model", 2, columns);
    for (size_t k = 0; k < json_array_size(rows); k++) {
        const json_t *row = json_array_get(rows, k);
        const char *reason = json_string_value(json_object_get(row, "reason"));
        if (reason) { /* up to the list of samplers that would do */
            char text[256];
            snprintf(text, sizeof text, "%.*s", (int)strcspn(reason, ";"), reason);
            sali_put(&page->w, "<tr><td>%s</td><td>%s</td></tr>", name_of(row), text);
        }
    }
    sali_put_raw(&page->w, SALI_TABLE_END);
}

/* ---- figures */

/* A bar chart of the number `key` of all samplers that ran, on a logarithmic axis where the numbers
 * are far apart; nothing if none is positive. */
static void put_bars(sali_page *page, const json_t *rows, const char *key, const char *title,
                     const char *label, const char *caption)
{
    size_t all = json_array_size(rows);
    const char **names = sali_alloc((int64_t)all, sizeof *names);
    double *values = sali_alloc((int64_t)all, sizeof *values);
    int64_t n = 0;
    double low = INFINITY, high = 0;
    for (size_t k = 0; names && values && k < all; k++) {
        const json_t *row = json_array_get(rows, k);
        if (did_run(row)) {
            names[n] = name_of(row);
            values[n] = sali_json_number(row, key);
            low = values[n] > 0 ? fmin(low, values[n]) : low;
            high = fmax(high, values[n]);
            n++;
        }
    }
    if (high > 0 || !values || !names) {
        sal_panel panel = { .title = title,
                            .x = { .categories = names, .n_categories = n },
                            .y = { .label = label, .logarithmic = high > 50 * low } };
        if (panel.y.logarithmic) {
            panel.y.low = low / 2;
            panel.y.high = high * 1.5;
        }
        sal_figure *figure = values && names ? sali_report_figure(&panel) : NULL;
        sal_figure_series(figure, &(sal_series){ .mark = SAL_MARK_BARS, .n = n, .y = values });
        sali_page_figure(page, figure, "%s", caption);
    }
    sali_free(names);
    sali_free(values);
}

/* How a sampler's error falls over time. */
typedef struct trace {
    const char *name;
    const json_t *seconds, *errors;
    double last;
} trace;

static int by_last(const void *a, const void *b)
{
    const trace *x = a, *y = b;
    return x->last != y->last ? (x->last > y->last) - (x->last < y->last)
                              : strcmp(x->name, y->name);
}

/* List the error traces of the samplers that ran, the smallest final error first. Returns their
 * number. */
static int64_t find_traces(const json_t *rows, trace *traces)
{
    int64_t n = 0;
    for (size_t k = 0; k < json_array_size(rows); k++) {
        const json_t *row = json_array_get(rows, k), *t = json_object_get(row, "error_trace");
        const json_t *seconds = json_object_get(t, "seconds");
        const json_t *errors = json_object_get(t, "marginal_error");
        size_t size = json_array_size(errors);
        if (did_run(row) && size > 0 && json_array_size(seconds) == size) {
            double last = json_number_value(json_array_get(errors, size - 1));
            traces[n++] = (trace){ name_of(row), seconds, errors, last };
        }
    }
    qsort(traces, (size_t)n, sizeof *traces, by_last);
    return n;
}

/* Add a sampler's error against time to the figure; false: out of memory. */
static bool add_trace(sal_figure *figure, const trace *t)
{
    int64_t n = (int64_t)json_array_size(t->errors);
    double *x = SALI_NEW_ARRAY(double, 2 * n);
    if (!x) {
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        x[i] = json_number_value(json_array_get(t->seconds, (size_t)i));
        x[n + i] = json_number_value(json_array_get(t->errors, (size_t)i));
    }
    sal_figure_series(figure, &(sal_series){ .name = t->name, .n = n, .x = x, .y = x + n });
    sali_free(x);
    return true;
}

/* A figure of error against time for the TRACES best samplers; nothing if no sampler has a
 * trace. */
static void put_traces(sali_page *page, const json_t *rows)
{
    trace *traces = SALI_NEW_ARRAY(trace, (int64_t)json_array_size(rows));
    int64_t n = traces ? find_traces(rows, traces) : 0;
    if (n > 0 || !traces) {
        sal_panel panel = { .title = "Error against time",
                            .x = { .label = "seconds of sampling", .logarithmic = true },
                            .y = { .label = "mean error of marginals", .logarithmic = true } };
        sal_figure *figure = traces ? sali_report_figure(&panel) : NULL;
        for (int64_t k = 0; figure && k < n && k < TRACES; k++) {
            if (!add_trace(figure, &traces[k])) {
                sal_figure_destroy(figure);
                figure = NULL;
            }
        }
        sali_page_figure(page, figure,
                         "Mean difference between the marginals of the draws so far and the exact "
                         "ones; draws are taken to be evenly spaced in time.%s",
                         n > TRACES ? " The seven samplers with the smallest final error." : "");
    }
    sali_free(traces);
}

/* ---- all of it */

/* A list of the comparison's settings, and of what the exact answers came from. */
static void put_facts(sali_page *page, const json_t *root)
{
    const char *key;
    const json_t *value, *reference = json_object_get(root, "reference");
    sali_put_raw(&page->w, "<dl>");
    json_object_foreach((json_t *)root, key, value)
    {
        if (!json_is_object(value) && !json_is_array(value)) {
            sali_page_fact_json(page, key, value);
        }
    }
    sali_page_fact_json(page, "exact answers by", json_object_get(reference, "source"));
    sali_page_fact_json(page, "log Z", json_object_get(reference, "log_z"));
    sali_put_raw(&page->w, "</dl>");
}

/* Section k of the page, from the JSON object of a comparison. */
static void put_section(sali_page *page, int64_t k, const char *path, const json_t *root)
{
    const json_t *rows = json_object_get(root, "samplers");
    sali_page_section(page, k, path, "samplers side by side");
    put_verdict(page, root, rows);
    put_facts(page, root);
    put_table(page, rows);
    sali_put_raw(&page->w, SALI_FIGURES);
    put_bars(page, rows, "ess_per_second", "Effective draws per second", "ESS/s",
             "Effective sample size of the slowest variable, of all chains together, for each "
             "second of sampling.");
    put_bars(page, rows, "ess_per_step", "Effective draws per step", "ESS/step",
             "The same for each step of a chain, whatever it costs.");
    put_traces(page, rows);
    put_bars(page, rows, "mean_jump", "Jump distance", "mean L1 distance",
             "How far a step moves, on average; rejected proposals count as 0.");
    put_bars(page, rows, "marginal_error", "Error of marginals", "mean error",
             "Mean difference between the marginals of all draws and the exact ones.");
    sali_put_raw(&page->w, "</div>");
    put_missing(page, rows);
    sali_put_raw(&page->w, "</section>");
}

/* Whether a JSON object is what 'saltus compare --json' prints: a model and a list of named
 * samplers. */
static bool is_comparison(const json_t *root)
{
    const json_t *rows = json_object_get(root, "samplers");
    bool is = json_is_array(rows) && json_is_string(json_object_get(root, "model"));
    for (size_t k = 0; is && k < json_array_size(rows); k++) {
        is = name_of(json_array_get(rows, k)) != NULL;
    }
    return is;
}

sal_status sali_report_compare(sali_page *page, int64_t k, const char *path, sal_error *err)
{
    json_t *root = NULL;
    sal_status status = sali_json_read(path, &root, err);
    if (status != SAL_OK) { /* reported already */
    } else if (!root || !is_comparison(root)) {
        status = sali_fail(err, SAL_ERR_DATA,
                           "%.300s: expected draws (.nc, .npy), what 'saltus compare --json' "
                           "printed, or a directory of 'saltus train'",
                           path);
    } else {
        put_section(page, k, path, root);
    }
    json_decref(root);
    return status;
}
