/* SPDX-License-Identifier: MIT */
/* The section on a training: verdict.json, log.csv, checkpoint.json, samples.png and persistent.png
 * of its directory. */
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/number.h"
#include "io/file.h"
#include "io/json_text.h"
#include "io/scan.h"
#include "report/report.h"

#define MOST_COLUMNS 64
#define MOST_PICTURE ((int64_t)1 << 25)

/* The log as columns. */
typedef struct training_log {
    int64_t columns, rows;
    char names[MOST_COLUMNS][48];
    double *values; /* [rows x columns] */
    int64_t room;
} training_log;

sal_status sali_report_json(const char *directory, const char *name, const char *key,
                            const char *what, json_t **root, sal_error *err)
{
    char path[SALI_PATH];
    json_t *read = NULL;
    sal_status status = sali_path_in(directory, name, path, err);
    *root = NULL;
    if (status == SAL_OK && access(path, F_OK) == 0) {
        status = sali_json_read(path, &read, err);
        if (status == SAL_OK && !json_object_get(read, key)) {
            json_decref(read);
            return sali_fail(err, SAL_ERR_DATA, "%s: expected %s", path, what);
        }
        *root = read;
    }
    return status;
}

/* ---- the log */

/* Read the log's first line, the names of its columns; the first must be "iteration". */
static void read_names(sali_scan *line, training_log *log)
{
    while (log->columns < MOST_COLUMNS && sali_scan_on_line(line, line->line)) {
        sali_token name = sali_scan_token(line);
        snprintf(log->names[log->columns++], sizeof log->names[0], "%.*s",
                 (int)(name.size < 47 ? name.size : 47), name.text);
    }
    if (strcmp(log->names[0], "iteration") != 0) {
        sali_scan_fail(line, 1,
                       "expected the log of a training, whose first column is 'iteration'");
    }
}

/* Read a token as a number, "nan" or "inf" with an optional minus; false if it is none of these. */
static bool parse_number(const sali_token *token, double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = { { "nan", NAN }, { "-nan", NAN }, { "inf", INFINITY }, { "-inf", -INFINITY } };
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (sali_token_is(token, words[k].word)) {
            *value = words[k].value;
            return true;
        }
    }
    return sali_parse_double(token->text, token->size, value) == SAL_OK;
}

/* Append the numbers of a line to the log; fails unless there is one for each column. */
static void read_row(sali_scan *line, training_log *log)
{
    int64_t n = 0, first = log->rows * log->columns;
    if (!sali_scan_grow(line, (void **)&log->values, &log->room, first + log->columns,
                        sizeof(double))) {
        return;
    }
    for (; n < log->columns && sali_scan_on_line(line, line->line); n++) {
        sali_token token = sali_scan_token(line);
        if (!parse_number(&token, &log->values[first + n])) {
            sali_scan_expected(line, &token, "a number");
        }
    }
    if (n != log->columns || sali_scan_on_line(line, line->line)) {
        sali_scan_fail(line, line->line, "expected %lld columns", (long long)log->columns);
    }
    log->rows++;
}

/* Read a log.csv into *log, whose `values` the caller frees. SAL_ERR_DATA names the line. */
static sal_status read_log(const char *path, training_log *log, sal_error *err)
{
    sali_bytes bytes = { 0 };
    sali_scan line = { 0 };
    sal_status status = sali_file_read(path, &bytes, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_scan scan = sali_scan_of(path, bytes.data, bytes.size, 0, err);
    if (memchr(bytes.data, '\0', (size_t)bytes.size)) {
        sali_scan_refuse(&scan, "expected text, found a NUL byte");
    }
    for (int64_t i = 0; i < bytes.size; i++) {
        const char next = i + 1 < bytes.size ? (char)bytes.data[i + 1] : '\n';
        if (scan.status == SAL_OK && bytes.data[i] == ',' &&
            (next == ',' || next == '\n' || next == '\r')) {
            const int64_t line_number = sali_scan_line_of(&scan, (const char *)&bytes.data[i]);
            sali_scan_fail(&scan, line_number, "an empty field; expected a number");
        }
        bytes.data[i] = bytes.data[i] == ',' ? ' ' : bytes.data[i];
    }
    if (sali_scan_line(&scan, &line)) {
        read_names(&line, log);
    } else {
        sali_scan_refuse(&scan, "is empty");
    }
    while (sali_scan_line(&scan, &line)) {
        if (line.end > line.next) {
            read_row(&line, log);
        }
    }
    sali_bytes_free(&bytes);
    return scan.status;
}

/* ---- curves */

/* The index of a column of the log; -1 if there is none of that name. */
static int64_t find_column(const training_log *log, const char *name)
{
    for (int64_t c = 0; c < log->columns; c++) {
        if (strcmp(log->names[c], name) == 0) {
            return c;
        }
    }
    return -1;
}

/* Copy a column of the log to out [rows], NaN if it is missing. Returns whether it has a finite
 * number. */
static bool take_column(const training_log *log, const char *name, double *out)
{
    int64_t column = find_column(log, name);
    bool any = false;
    for (int64_t r = 0; r < log->rows; r++) {
        out[r] = column < 0 ? NAN : log->values[r * log->columns + column];
        any = any || isfinite(out[r]);
    }
    return any;
}

/* A figure of one or two columns against the iteration; left out if the first has no numbers. */
typedef struct curve {
    const char *title, *label, *column, *name, *second, *second_name, *caption;
    bool logarithmic, at_zero;
} curve;

static const curve curves[] = {
    { "f of data and samples", "mean f", "log_prob_data", "data", "log_prob_samples", "samples",
      "Mean f over the batch of data and over the samples; without samples the log "
      "pseudo-likelihood.",
      false, false },
    { "Their difference", "f(data) − f(samples)", "difference", NULL, NULL, NULL,
      "It should stay near 0: far below it, samples have found states that are more probable than "
      "the data; far above it, they do not follow.",
      false, true },
    { "Acceptance", "acceptance rate", "acceptance_rate", NULL, NULL, NULL,
      "Of the sampler, since the line before.", false, false },
    { "Jump distance", "mean L1 distance", "mean_jump", NULL, NULL, NULL,
      "Of the sampler, since the line before.", false, false },
    { "MMD to held-out data", "MMD (root of the U-statistic)", "mmd", "samples", "mmd_train_test",
      "training data",
      "Maximum mean discrepancy; that of the training data is what can be reached.", false, false },
    { "Gradient norm", "norm", "gradient_norm", NULL, NULL, NULL, "Of the last update.", true,
      false },
    { "Step size", "step size", "step_size", NULL, NULL, NULL, "Of the sampler.", true, false },
    { "Time", "seconds", "sampling_seconds", "sampling", "gradient_seconds", "gradients",
      "Since the start, or since the last resume.", false, false },
};

/* Write the figure of a curve, if the log has its numbers. SAL_ERR_MEMORY. */
static sal_status put_curve(sali_page *page, const training_log *log, const curve *c,
                            sal_error *err)
{
    double *x = SALI_NEW_ARRAY(double, 3 * log->rows);
    if (!x) {
        return sali_fail_memory(err);
    }
    double *first = x + log->rows, *second = first + log->rows;
    take_column(log, "iteration", x);
    bool any = take_column(log, c->column, first), positive = false;
    for (int64_t r = 0; r < log->rows; r++) {
        positive = positive || first[r] > 0;
    }
    if (any && (positive || !c->logarithmic)) {
        sal_panel panel = { .title = c->title,
                            .x = { .label = "iteration" },
                            .y = { .label = c->label, .logarithmic = c->logarithmic } };
        sal_figure *figure = sali_report_figure(&panel);
        sal_figure_series(figure,
                          &(sal_series){ .name = c->name, .n = log->rows, .x = x, .y = first });
        if (c->second && take_column(log, c->second, second)) {
            sal_figure_series(
                figure,
                &(sal_series){ .name = c->second_name, .n = log->rows, .x = x, .y = second });
        }
        if (c->at_zero) {
            sal_figure_mark(figure, NAN, 0, NULL);
        }
        sali_page_figure(page, figure, "%s", c->caption);
    }
    sali_free(x);
    return SAL_OK;
}

/* ---- what was trained */

/* List one option of the training; `adapted`: the sampler adapts its step size. */
static void put_option(sali_page *page, const char *key, const json_t *value, bool adapted)
{
    static const struct {
        const char *key, *title; /* NULL: listed elsewhere, or a fingerprint */
    } others[] = { { "model", NULL },
                   { "structure", NULL },
                   { "data", NULL },
                   { "preconditioner", NULL },
                   { "test", NULL },
                   { "buffer_start", "chains start at" },
                   { "buffer_order", "chains move" } };
    const char *title = key;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        title = strcmp(key, others[k].key) == 0 ? others[k].title : title;
    }
    if (strcmp(key, "step_size") == 0 && json_number_value(value) == 0) { /* or it has none */
        sali_page_fact(page, "step size", adapted ? "adapted" : NULL);
    } else if (title) {
        sali_page_fact_json(page, title, value);
    }
}

/* List the options of the training from its checkpoint, and the last iteration of the log. */
static sal_status put_facts(sali_page *page, const char *directory, const training_log *log,
                            sal_error *err)
{
    char number[SALI_PAGE_NUMBER];
    json_t *root = NULL, *value;
    const char *key;
    sal_status status = sali_report_json(directory, "checkpoint.json", "options",
                                         "a checkpoint of a training", &root, err);
    if (status == SAL_OK) {
        int64_t steps = find_column(log, "step_size");
        bool adapted = steps >= 0 && log->rows > 0 && log->values[steps] > 0;
        double last = log->rows > 0 ? log->values[(log->rows - 1) * log->columns] : NAN;
        sali_page_format(last, 10, number);
        sali_put_raw(&page->w, "<dl>");
        sali_page_fact_json(page, "model",
                            json_object_get(json_object_get(root, "options"), "model"));
        sali_page_fact(page, "iterations", number);
        json_object_foreach(json_object_get(root, "options"), key, value)
        {
            put_option(page, key, value, adapted);
        }
        sali_put_raw(&page->w, "</dl>");
    }
    json_decref(root);
    return status;
}

/* Embed a PNG picture of the directory, if it is there; the first one, *any false, gets a
 * heading. */
static sal_status put_sheet(sali_page *page, const char *directory, const char *name,
                            const char *alt, const char *caption, bool *any, sal_error *err)
{
    static const unsigned char png[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    char path[SALI_PATH];
    sali_bytes bytes = { 0 };
    sal_status status = sali_path_in(directory, name, path, err);
    if (status != SAL_OK || access(path, F_OK) != 0) {
        return status;
    }
    status = sali_file_read(path, &bytes, err);
    if (status == SAL_OK &&
        (bytes.size < 8 || bytes.size > MOST_PICTURE || memcmp(bytes.data, png, 8) != 0)) {
        status = sali_fail(err, SAL_ERR_DATA, "%s: expected a PNG picture of at most 32 MiB", path);
    }
    if (status == SAL_OK) {
        if (!*any) {
            sali_put_raw(&page->w, "<h3>Samples</h3>");
        }
        *any = true;
        sali_put(&page->w, "<figure><img alt=\"%s\" src=\"data:image/png;base64,", alt);
        sali_put_base64(&page->w, bytes.data, bytes.size);
        sali_put(&page->w, "\"/><figcaption>%s</figcaption></figure>", caption);
    }
    sali_bytes_free(&bytes);
    return status;
}

/* The pictures of samples of the training, fresh and persistent, as far as they are there. */
static sal_status put_samples(sali_page *page, const char *directory, sal_error *err)
{
    bool any = false;
    sal_status status =
        put_sheet(page, directory, "samples.png", "a sheet of pictures drawn from the model",
                  "Fresh samples: drawn from the model from scratch.", &any, err);
    return status ? status
                  : put_sheet(page, directory, "persistent.png", "a sheet of the training's chains",
                              "Persistent chains of the training at its last report. Where they "
                              "do not mix they are finer than the model's own samples.",
                              &any, err);
}

sal_status sali_report_training(sali_page *page, int64_t k, const char *path, sal_error *err)
{
    char file[SALI_PATH];
    training_log log = { 0 };
    sal_status status = sali_path_in(path, "log.csv", file, err);
    if (status == SAL_OK && access(file, F_OK) != 0) {
        return sali_fail(err, SAL_ERR_NOT_FOUND,
                         "%.300s: the directory has no log.csv, which 'saltus train' writes", path);
    }
    status = status ? status : read_log(file, &log, err);
    if (status == SAL_OK) {
        sali_page_section(page, k, path, "a training");
        status = sali_report_verdict(page, path, err);
        status = status ? status : put_facts(page, path, &log, err);
        sali_put_raw(&page->w, "<h3>Training curves</h3>");
        sali_put_raw(&page->w, SALI_FIGURES);
        for (size_t i = 0; status == SAL_OK && i < sizeof curves / sizeof *curves; i++) {
            status = put_curve(page, &log, &curves[i], err);
        }
        sali_put_raw(&page->w, "</div>");
        status = status ? status : put_samples(page, path, err);
        sali_put_raw(&page->w, "</section>");
    }
    sali_free(log.values);
    return status;
}
