/* SPDX-License-Identifier: MIT */
/* Tables of numbers as text: a row a line, columns separated by commas, semicolons, tabs or blanks;
 * names of the columns may come first; # begins a comment. */
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/number.h"
#include "core/text.h"
#include "io/arrays/array_file.h"
#include "io/format.h"
#include "io/text_output.h"

typedef struct reader {
    sali_scan scan;
    char separator; /* ',' or ';', or ' ' for any blanks; 0: not known yet */
    int64_t columns;
    sali_number_rows rows;
    sal_error *err;
} reader;

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Without blanks around it, then without quotation marks. */
static sali_token trim(const char *begin, const char *end, int64_t line)
{
    while (begin < end && is_blank(*begin)) {
        begin++;
    }
    while (end > begin && is_blank(end[-1])) {
        end--;
    }
    if (end - begin >= 2 && *begin == '"' && end[-1] == '"') {
        begin++;
        end--;
    }
    return (sali_token){ begin, end - begin, line };
}

/* The next field of a line; false when there is none. */
static bool next_field(const reader *r, sali_scan *line, sali_token *field)
{
    if (!line->next) {
        return false;
    }
    const char *end = line->next;
    if (r->separator == ' ') {
        sali_token word;
        sali_scan_token(line, &word, NULL);
        *field = trim(word.text, word.text + word.size, line->line);
        return word.size > 0;
    }
    for (bool quoted = false; end < line->end && (quoted || *end != r->separator); end++) {
        quoted ^= *end == '"';
    }
    *field = trim(line->next, end, line->line);
    line->next = end < line->end ? end + 1 : NULL; /* after a separator there is one more */
    return true;
}

/* Are all fields of the first line names? */
static bool is_header(const reader *r, sali_scan line)
{
    sali_token field;
    double value;
    while (next_field(r, &line, &field)) {
        if (sali_parse_double(field.text, field.size, &value) != SAL_ERR_DATA) {
            return false;
        }
    }
    return true;
}

static char find_separator(const sali_scan *line)
{
    size_t n = (size_t)(line->end - line->next);
    return memchr(line->next, ',', n) ? ',' : memchr(line->next, ';', n) ? ';' : ' ';
}

static sal_status read_row(reader *r, sali_scan line)
{
    sali_token field;
    int64_t columns = 0, at = line.line;
    sal_status status = SAL_OK;
    while (status == SAL_OK && next_field(r, &line, &field)) {
        double value;
        status = sali_parse_double(field.text, field.size, &value);
        if (status == SAL_ERR_DATA) {
            char shown[SALI_SHOW_SIZE];
            return sali_scan_fail(&r->scan, at, r->err,
                                  "column %lld: expected a finite decimal number, found '%s'",
                                  (long long)columns + 1, sali_show(field.text, field.size, shown));
        }
        status =
            status ? sali_fail_memory(r->err) : sali_number_rows_value(&r->rows, value, r->err);
        columns++;
    }
    if (status == SAL_OK && r->rows.rows > 0 && columns != r->columns) {
        return sali_scan_fail(&r->scan, at, r->err, "%lld columns; the rows before have %lld",
                              (long long)columns, (long long)r->columns);
    }
    r->columns = columns;
    r->rows.rows++;
    return status;
}

/* All rows, or the first `most`. */
static sal_status read_rows(reader *r, int64_t most)
{
    sali_scan line;
    sal_status status = SAL_OK;
    while (status == SAL_OK && r->rows.rows < most && sali_scan_line(&r->scan, &line)) {
        sali_token whole = trim(line.next, line.end, line.line);
        if (whole.size == 0 || *whole.text == '#') {
            continue;
        }
        bool first = !r->separator;
        r->separator = first ? find_separator(&line) : r->separator;
        status = first && is_header(r, line) ? SAL_OK : read_row(r, line);
    }
    return status || r->rows.rows > 0
               ? status
               : sali_fail(r->err, SAL_ERR_DATA, "%s: holds no row of numbers", r->scan.name);
}

static bool looks_like_table(const char *data, int64_t size)
{
    reader r = { .err = NULL };
    sali_scan_init(&r.scan, "", data, size, 0);
    sal_status status = read_rows(&r, 4);
    sali_number_rows_free(&r.rows);
    return status == SAL_OK;
}

static sal_status parse_table(const char *name, const char *data, int64_t size, sali_content *out,
                              sal_error *err)
{
    reader r = { .err = err };
    sali_scan_init(&r.scan, name, data, size, 0);
    sal_status status = read_rows(&r, INT64_MAX);
    if (status != SAL_OK) {
        sali_number_rows_free(&r.rows);
        return status;
    }
    *out = (sali_content){ .kind = SALI_CONTENT_ARRAY,
                           .array = { .ndim = 2,
                                      .shape = { r.rows.rows, r.columns },
                                      .count = r.rows.count,
                                      .values = r.rows.values } };
    return SAL_OK;
}

/* Blanks for .txt, tabs for .tsv, commas for anything else. */
static const char *separator_for(const char *path)
{
    return sali_has_suffix(path, ".txt") ? " " : sali_has_suffix(path, ".tsv") ? "\t" : ",";
}

static sal_status write_table(const char *path, const sali_content *content, sal_error *err)
{
    const sal_array *array = &content->array;
    if (array->ndim > 2) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: an array of %d dimensions; a table has rows and columns (write it as "
                         ".npy)",
                         path, array->ndim);
    }
    int64_t columns = array->ndim == 2 ? array->shape[1] : 1;
    const char *separator = separator_for(path);
    sali_text_output w;
    sali_text_open(&w, path, false, err);
    for (int64_t i = 0; i < array->count && w.status == SAL_OK; i++) {
        sali_put(&w, "%g%s", array->values[i], (i + 1) % columns == 0 ? "\n" : separator);
    }
    return sali_text_close(&w);
}

const sali_format sali_format_table = {
    .name = "table",
    .doc = "rows of numbers, separated by commas, semicolons, tabs or blanks",
    .suffixes = { ".csv", ".tsv", ".txt", ".dat" },
    .content = SALI_CONTENT_ARRAY,
    .recognise = looks_like_table,
    .parse = parse_table,
    .write = write_table,
};
