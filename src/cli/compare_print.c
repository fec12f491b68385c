/* SPDX-License-Identifier: MIT */
/* What saltus compare prints. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "cli/compare.h"
#include "cli/json.h"

/* A number of a row: its key in JSON, and its title and how it is printed in the table, where it
 * has a column there. */
typedef struct column {
    const char *key, *title, *format;
    size_t offset;
} column;

#define OF(member) offsetof(compare_row, member)

static const column columns[] = {
    { "step_size", NULL, NULL, OF(summary.step_size) },
    { "acceptance_rate", "accept", "%.3f", OF(summary.acceptance_rate) },
    { "mean_jump", "jump", "%.3g", OF(summary.mean_jump) },
    { "ess_per_step", "ESS/step", "%.2e", OF(summary.ess_per_step) },
    { "ess_per_second", "ESS/s", "%.4g", OF(summary.ess_per_second) },
    { "ess_total", NULL, NULL, OF(summary.ess_total) },
    { "autocorrelation_time", "IAT", "%.4g", OF(summary.autocorrelation_time) },
    { "rhat_max", "R-hat", "%.3f", OF(summary.rhat_max) },
    { "marginal_error", "marginal", "%.5f", OF(errors.marginal_mean) },
    { "marginal_l1", NULL, NULL, OF(errors.marginal_l1) },
    { "marginal_max", NULL, NULL, OF(errors.marginal_max) },
    { "pair_l1", "pair L1", "%.5f", OF(errors.pair_l1) },
    { "covariance_error", "covar", "%.4g", OF(errors.covariance) },
    { "total_variation", "TV", "%.4f", OF(variation.distance) },
    { "total_variation_ideal", "ideal TV", "%.4f", OF(variation.ideal) },
    { "meeting_time", "meeting", "%.6g", OF(meeting.median) },
    { "steps_to_25", "TV<.25", "%.6g", OF(meeting.steps_25) },
    { "steps_to_01", "TV<.01", "%.6g", OF(meeting.steps_01) },
    { "log_prob_mean", NULL, NULL, OF(summary.log_prob_mean) },
    { "statistic", "statistic", "%.6g", OF(summary.statistic_mean) },
    { "steps_per_second", NULL, NULL, OF(summary.steps_per_second) },
    { "seconds", NULL, NULL, OF(summary.seconds) },
    { "warmup_seconds", NULL, NULL, OF(summary.warmup_seconds) },
};

#define N_COLUMNS (sizeof columns / sizeof *columns)

static double column_number(const compare_row *row, const column *c)
{
    return *(const double *)(const void *)((const char *)row + c->offset);
}

/* The row with the most effective draws a second among the exact samplers whose chains agree; NULL:
 * there is none. */
static const compare_row *best_row(const compare_report *r)
{
    const compare_row *best = NULL;
    for (int64_t k = 0; k < r->n; k++) {
        const compare_row *row = &r->rows[k];
        const sal_run_summary *s = &row->summary;
        if (!row->reason[0] && row->exact && s->rhat_max < SAL_RHAT_LIMIT && s->unmoved == 0 &&
            s->ess_per_second > (best ? best->summary.ess_per_second : 0)) {
            best = row;
        }
    }
    return best;
}

/* A remark on a row's ESS per second, or the reason why the row has none; NULL: nothing to
 * remark. */
static const char *note_of(const compare_row *row)
{
    const sal_run_summary *s = &row->summary;
    if (row->reason[0]) {
        return NULL;
    }
    if (s->draws == 0) {
        return "no ESS: stopped before the first draw";
    }
    if (isnan(s->ess_per_second)) {
        return s->unmoved > 0 ? "no ESS: a chain never moved"
                              : "no ESS: too few draws, or a chain that hardly moves";
    }
    return row->unsteady ? "other work on this machine made timings differ; the ESS a second is "
                           "that of the fastest run (try again later, or --time 10s)"
                         : NULL;
}

/* ---- JSON */

/* A trace as an object of arrays; null if there is none. */
static json_t *trace_json(const compare_trace *trace)
{
    if (trace->n == 0) {
        return json_null();
    }
    json_t *draws = json_array(), *seconds = json_array(), *errors = json_array();
    for (int64_t k = 0; k < trace->n; k++) {
        json_array_append_new(draws, json_integer(trace->draws[k]));
        json_array_append_new(seconds, json_real(trace->seconds[k]));
        json_array_append_new(errors, json_real(trace->error[k]));
    }
    return json_pack("{s:o, s:o, s:o}", "draws", draws, "seconds", seconds, "marginal_error",
                     errors);
}

/* A row as an object: its figures, or only the reason why the sampler did not run. */
static json_t *row_json(const compare_row *row)
{
    const sal_run_summary *s = &row->summary;
    json_t *o = json_pack("{s:s, s:b}", "sampler", row->sampler, "exact", row->exact);
    if (row->reason[0]) {
        json_object_set_new(o, "reason", cli_json_text(row->reason));
        return o;
    }
    json_object_set_new(o, "warmup", json_integer(s->warmup));
    json_object_set_new(o, "draws", json_integer(s->draws));
    json_object_set_new(o, "thin", json_integer(s->thin));
    for (size_t k = 0; k < N_COLUMNS; k++) {
        cli_json_number(o, columns[k].key, column_number(row, &columns[k]));
    }
    if (row->meeting.pairs > 0) {
        json_object_set_new(o, "lag", json_integer(row->meeting.lag));
        json_object_set_new(o, "pairs", json_integer(row->meeting.pairs));
        json_object_set_new(o, "pairs_not_met", json_integer(row->meeting.not_met));
    }
    json_object_set_new(o, "note", note_of(row) ? json_string(note_of(row)) : json_null());
    json_object_set_new(o, "error_trace", trace_json(&row->trace));
    return o;
}

int compare_print_json(const compare_report *r)
{
    json_t *rows = json_array(), *reference = json_null();
    for (int64_t k = 0; k < r->n; k++) {
        json_array_append_new(rows, row_json(&r->rows[k]));
    }
    if (r->reference->marginals) {
        reference = json_pack("{s:s, s:b}", "source", r->reference->source, "pairs",
                              r->reference->pairs != NULL);
        cli_json_number(reference, "log_z", r->reference->log_z);
    }
    const int threads = r->options->threads;
    json_t *object =
        json_pack("{s:o, s:I, s:I, s:I, s:I}", "model", cli_json_text(r->model), "variables",
                  (json_int_t)r->variables, "chains", (json_int_t)r->options->chains, "seed",
                  (json_int_t)r->options->seed, "threads", (json_int_t)sal_threads_number(threads));
    json_object_set_new(object, "time", r->time > 0 ? json_real(r->time) : json_null());
    json_object_set_new(object, "reference", reference);
    json_object_set_new(object, "samplers", rows);
    const compare_row *best = best_row(r);
    json_object_set_new(object, "best", best ? json_string(best->sampler) : json_null());
    return cli_json_print(object);
}

/* ---- a table */

enum { WIDTH = 10 };

/* Whether the table shows a column: the column has a title, and a number in some row. */
static bool is_column_shown(const compare_report *r, const column *c)
{
    for (int64_t k = 0; c->title && k < r->n; k++) {
        if (!r->rows[k].reason[0] && !isnan(column_number(&r->rows[k], c))) {
            return true;
        }
    }
    return false;
}

/* Whether the table shows the column with this title. */
static bool shown_titled(const compare_report *r, const char *title)
{
    bool found = false;
    for (size_t k = 0; k < N_COLUMNS; k++) {
        found = found || (is_column_shown(r, &columns[k]) && strcmp(columns[k].title, title) == 0);
    }
    return found;
}

/* The width of the first column, at most 40. */
static int name_width(const compare_report *r)
{
    size_t width = strlen("sampler");
    for (int64_t k = 0; k < r->n; k++) {
        size_t length = strlen(r->rows[k].sampler);
        width = length > width ? length : width;
    }
    return width > 40 ? 40 : (int)width;
}

/* Print a row's figures in the columns that are shown. */
static void print_row(const compare_report *r, const compare_row *row, int width)
{
    char text[64];
    printf("%-*s  %-5s", width, row->sampler, row->exact ? "yes" : "no");
    for (size_t k = 0; k < N_COLUMNS; k++) {
        double value = column_number(row, &columns[k]);
        if (is_column_shown(r, &columns[k])) {
            snprintf(text, sizeof text, columns[k].format, value);
            printf(" %*s", WIDTH, isnan(value) ? "-" : text);
        }
    }
    putchar('\n');
}

/* Print why a sampler did not run: the message up to the list of samplers that would do. */
static void print_reason(const compare_row *row)
{
    printf("%s: %.*s\n", row->sampler, (int)strcspn(row->reason, ";"), row->reason);
}

/* Print which sampler is best, if several ran. */
static void print_best(const compare_report *r)
{
    const compare_row *best = best_row(r);
    int64_t ran = 0;
    for (int64_t k = 0; k < r->n; k++) {
        ran += !r->rows[k].reason[0];
    }
    if (ran < 2) {
        return;
    }
    if (best) {
        printf("\nmost effective draws a second: %s (of exact samplers with R-hat below %g)\n",
               best->sampler, SAL_RHAT_LIMIT);
    } else {
        printf("\nno exact sampler has an R-hat below %g: give them more --draws or --time\n",
               SAL_RHAT_LIMIT);
    }
}

/* Print the lines above the table: the model, the sizes of runs, and the source of exact
 * answers. */
static void print_head(const compare_report *r)
{
    printf("%s, %lld variables; %lld chains, ", r->model, (long long)r->variables,
           (long long)r->options->chains);
    if (r->time > 0) {
        printf("%g s each\n", r->time);
    } else {
        printf("%lld draws each, thin %lld\n", (long long)r->options->draws,
               (long long)r->options->thin);
    }
    if (r->reference->marginals) {
        printf("exact answers by %s\n", r->reference->source);
    }
    putchar('\n');
}

/* Print the remarks on rows (note_of), and which pairs of coupled chains did not meet. */
static void print_notes(const compare_report *r)
{
    const char *before = "\n";
    for (int64_t k = 0; k < r->n; k++) {
        if (note_of(&r->rows[k])) {
            printf("%s%s: %s\n", before, r->rows[k].sampler, note_of(&r->rows[k]));
            before = "";
        }
        const sal_meeting *m = &r->rows[k].meeting;
        if (m->not_met > 0) {
            printf("%s%s: %lld of %lld pairs did not meet in %lld steps: no bound on TV\n", before,
                   r->rows[k].sampler, (long long)m->not_met, (long long)m->pairs,
                   (long long)m->most_steps);
            before = "";
        }
    }
}

int compare_print_table(const compare_report *r)
{
    int width = name_width(r);
    print_head(r);
    printf("%-*s  %-5s", width, "sampler", "exact");
    for (size_t k = 0; k < N_COLUMNS; k++) {
        if (is_column_shown(r, &columns[k])) {
            printf(" %*s", WIDTH, columns[k].title);
        }
    }
    putchar('\n');
    bool approximate = false, missing = false;
    const char *name = NULL;
    for (int64_t k = 0; k < r->n; k++) {
        if (!r->rows[k].reason[0]) {
            print_row(r, &r->rows[k], width);
            approximate = approximate || !r->rows[k].exact;
            name = r->rows[k].summary.statistic;
        }
        missing = missing || r->rows[k].reason[0];
    }
    print_best(r);
    if (name) {
        printf("\nstatistic: mean %s of the draws\n", name);
    }
    if (r->check_exact && !shown_titled(r, "TV")) {
        puts("\nno total variation (--check-exact): the states are too many to list (--limit), or "
             "their draws to keep.");
    }
    print_notes(r);
    if (approximate) {
        puts("\nexact no: approximate by nature; more steps do not take its error away.");
    }
    if (missing) {
        puts("\nnot run:");
    }
    for (int64_t k = 0; k < r->n; k++) {
        if (r->rows[k].reason[0]) {
            print_reason(&r->rows[k]);
        }
    }
    return ferror(stdout) ? CLI_IO : CLI_OK;
}
