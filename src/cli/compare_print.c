/* SPDX-License-Identifier: MIT */
/* What saltus compare prints. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "cli/compare.h"
#include "cli/json.h"

/* ---- JSON */

/* Null where there is none. */
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

static json_t *row_json(const compare_row *row)
{
    const sal_run_summary *s = &row->summary;
    json_t *o = json_pack("{s:s, s:b}", "sampler", row->sampler, "exact", row->exact);
    if (row->reason[0]) {
        json_object_set_new(o, "reason", cli_json_text(row->reason));
        return o;
    }
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        { "step_size", s->step_size },
        { "acceptance_rate", s->acceptance_rate },
        { "mean_jump", s->mean_jump },
        { "ess_per_step", s->ess_per_step },
        { "ess_per_second", s->ess_per_second },
        { "ess_total", s->ess_total },
        { "autocorrelation_time", s->autocorrelation_time },
        { "rhat_max", s->rhat_max },
        { "marginal_error", row->errors.marginal_mean },
        { "marginal_l1", row->errors.marginal_l1 },
        { "marginal_max", row->errors.marginal_max },
        { "pair_l1", row->errors.pair_l1 },
        { "covariance_error", row->errors.covariance },
        { "total_variation", row->variation.distance },
        { "total_variation_ideal", row->variation.ideal },
        { "log_prob_mean", s->log_prob_mean },
        { "statistic", s->statistic_mean },
        { "steps_per_second", s->steps_per_second },
        { "seconds", s->seconds },
        { "warmup_seconds", s->warmup_seconds },
    };
    json_object_set_new(o, "warmup", json_integer(s->warmup));
    json_object_set_new(o, "draws", json_integer(s->draws));
    json_object_set_new(o, "thin", json_integer(s->thin));
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        cli_json_number(o, numbers[k].key, numbers[k].value);
    }
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
                  (json_int_t)r->options->seed, "threads",
                  (json_int_t)(threads > 0 ? threads : omp_get_max_threads()));
    json_object_set_new(object, "time", r->time > 0 ? json_real(r->time) : json_null());
    json_object_set_new(object, "reference", reference);
    json_object_set_new(object, "samplers", rows);
    return cli_json_print(object);
}

/* ---- a table */

enum { WIDTH = 10 };

/* A column: its title, and how a row's number is printed there. */
typedef struct column {
    const char *title, *format;
    double (*of)(const compare_row *row);
} column;

static double acceptance(const compare_row *row)
{
    return row->summary.acceptance_rate;
}
static double jump(const compare_row *row)
{
    return row->summary.mean_jump;
}
static double ess_per_step(const compare_row *row)
{
    return row->summary.ess_per_step;
}
static double ess_per_second(const compare_row *row)
{
    return row->summary.ess_per_second;
}
static double autocorrelation_time(const compare_row *row)
{
    return row->summary.autocorrelation_time;
}
static double rhat(const compare_row *row)
{
    return row->summary.rhat_max;
}
static double marginal_error(const compare_row *row)
{
    return row->errors.marginal_mean;
}
static double pair_error(const compare_row *row)
{
    return row->errors.pair_l1;
}
static double covariance_error(const compare_row *row)
{
    return row->errors.covariance;
}
static double variation(const compare_row *row)
{
    return row->variation.distance;
}
static double variation_ideal(const compare_row *row)
{
    return row->variation.ideal;
}
static double statistic(const compare_row *row)
{
    return row->summary.statistic_mean;
}

static const column columns[] = {
    { "accept", "%.3f", acceptance },        { "jump", "%.3g", jump },
    { "ESS/step", "%.2e", ess_per_step },    { "ESS/s", "%.4g", ess_per_second },
    { "IAT", "%.4g", autocorrelation_time }, { "R-hat", "%.3f", rhat },
    { "marginal", "%.5f", marginal_error },  { "pair L1", "%.5f", pair_error },
    { "covar", "%.4g", covariance_error },   { "TV", "%.4f", variation },
    { "ideal TV", "%.4f", variation_ideal }, { "statistic", "%.6g", statistic },
};

#define N_COLUMNS (sizeof columns / sizeof *columns)

/* Columns without any number are left out. */
static bool shown(const compare_report *r, const column *c)
{
    for (int64_t k = 0; k < r->n; k++) {
        if (!r->rows[k].reason[0] && !isnan(c->of(&r->rows[k]))) {
            return true;
        }
    }
    return false;
}

static bool shown_titled(const compare_report *r, const char *title)
{
    bool found = false;
    for (size_t k = 0; k < N_COLUMNS; k++) {
        found = found || (strcmp(columns[k].title, title) == 0 && shown(r, &columns[k]));
    }
    return found;
}

static int name_width(const compare_report *r)
{
    size_t width = strlen("sampler");
    for (int64_t k = 0; k < r->n; k++) {
        size_t length = strlen(r->rows[k].sampler);
        width = length > width ? length : width;
    }
    return width > 40 ? 40 : (int)width;
}

static void print_row(const compare_report *r, const compare_row *row, int width)
{
    char text[64];
    printf("%-*s  %-5s", width, row->sampler, row->exact ? "yes" : "no");
    for (size_t k = 0; k < N_COLUMNS; k++) {
        double value = columns[k].of(row);
        if (shown(r, &columns[k])) {
            snprintf(text, sizeof text, columns[k].format, value);
            printf(" %*s", WIDTH, isnan(value) ? "-" : text);
        }
    }
    putchar('\n');
}

/* The sentence of a message up to the list of samplers that would do. */
static void print_reason(const compare_row *row)
{
    printf("%s: %.*s\n", row->sampler, (int)strcspn(row->reason, ";"), row->reason);
}

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

int compare_print_table(const compare_report *r)
{
    int width = name_width(r);
    print_head(r);
    printf("%-*s  %-5s", width, "sampler", "exact");
    for (size_t k = 0; k < N_COLUMNS; k++) {
        if (shown(r, &columns[k])) {
            printf(" %*s", WIDTH, columns[k].title);
        }
    }
    putchar('\n');
    bool approximate = false, missing = false, unsteady = false;
    const char *name = NULL;
    for (int64_t k = 0; k < r->n; k++) {
        if (!r->rows[k].reason[0]) {
            print_row(r, &r->rows[k], width);
            approximate = approximate || !r->rows[k].exact;
            unsteady = unsteady ||
                       (r->rows[k].summary.draws > 0 && isnan(r->rows[k].summary.steps_per_second));
            name = r->rows[k].summary.statistic;
        }
        missing = missing || r->rows[k].reason[0];
    }
    if (name) {
        printf("\nstatistic: mean %s of the draws\n", name);
    }
    if (r->check_exact && !shown_titled(r, "TV")) {
        puts("\nno total variation (--check-exact): the states are too many to list (--limit), or "
             "their draws to keep.");
    }
    if (unsteady) {
        puts("\nESS/s -: other work on this machine made timings differ too much to rank by; try "
             "again later, or --time 10s.");
    }
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
