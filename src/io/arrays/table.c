/* SPDX-License-Identifier: MIT */
/* Tables of numbers as text: a row a line, columns separated by commas, semicolons, tabs or blanks;
 * names of the columns may come first; # begins a comment. */
#include <string.h>

#include "core/number.h"
#include "core/text.h"
#include "io/format.h"

typedef struct reader {
    char separator; /* ',' or ';', or ' ' for any blanks; 0: not known yet */
    sal_array *array;
    int64_t room;
} reader;

/* Without blanks around it, then without quotation marks. */
static sali_token trim(const char *begin, const char *end, int64_t line)
{
    sali_token word = sali_token_trim(begin, end, line);
    bool quoted = word.size >= 2 && *word.text == '"' && word.text[word.size - 1] == '"';
    return quoted ? (sali_token){ word.text + 1, word.size - 2, line } : word;
}

/* The next field of a line; false when there is none. */
static bool next_field(const reader *r, sali_scan *line, sali_token *field)
{
    if (!line->next) {
        return false;
    }
    const char *end = line->next;
    if (r->separator == ' ') {
        sali_token word = sali_scan_token(line);
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
        if (sali_parse_double(field.text, field.size, &value) == SAL_OK) {
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

static void read_row(reader *r, sali_scan *line)
{
    sali_token field;
    sal_array *a = r->array;
    int64_t columns = 0, at = line->line;
    for (; line->status == SAL_OK && next_field(r, line, &field); columns++) {
        double value;
        if (sali_parse_double(field.text, field.size, &value) != SAL_OK) {
            char shown[SALI_SHOW_SIZE];
            sali_scan_fail(line, at, "column %lld: expected a finite decimal number, found '%s'",
                           (long long)columns + 1, sali_show(field.text, field.size, shown));
        } else if (sali_scan_grow(line, (void **)&a->values, &r->room, a->count + 1,
                                  sizeof(double))) {
            a->values[a->count++] = value;
        }
    }
    if (a->shape[0]++ > 0 && columns != a->shape[1]) {
        sali_scan_fail(line, at, "%lld columns; the rows before have %lld", (long long)columns,
                       (long long)a->shape[1]);
    }
    a->shape[1] = columns;
}

/* All rows, or the first `most`. */
static void read_rows(sali_scan *scan, int64_t most, sal_array *array)
{
    sali_scan line = { 0 };
    reader r = { .array = array };
    *array = (sal_array){ .ndim = 2 };
    while (sali_scan_line(scan, &line) && array->shape[0] < most) {
        sali_token whole = trim(line.next, line.end, line.line);
        if (whole.size == 0 || *whole.text == '#') {
            continue;
        }
        bool first = !r.separator;
        r.separator = first ? find_separator(&line) : r.separator;
        if (!first || !is_header(&r, line)) {
            read_row(&r, &line);
        }
    }
    if (array->count == 0) {
        sali_scan_refuse(scan, "holds no row of numbers");
    }
}

static bool recognise(sali_scan *scan)
{
    sal_array array;
    read_rows(scan, 4, &array);
    sal_array_free(&array);
    return scan->status == SAL_OK;
}

static void parse(sali_scan *scan, sali_content *out)
{
    read_rows(scan, INT64_MAX, &out->array);
}

/* Blanks for .txt, tabs for .tsv, commas for anything else. */
static const char *separator_for(const char *path)
{
    return sali_has_suffix(path, ".txt") ? " " : sali_has_suffix(path, ".tsv") ? "\t" : ",";
}

static void write(sali_text_output *w, const sali_content *content)
{
    const sal_array *array = &content->array;
    if (array->ndim > 2) {
        sali_text_fail(w, SAL_ERR_ARGUMENT,
                       "an array of %d dimensions; a table has rows and columns (write it as .npy)",
                       array->ndim);
    }
    int64_t columns = array->ndim == 2 ? array->shape[1] : 1;
    const char *separator = separator_for(w->out.path);
    for (int64_t i = 0; i < array->count && w->status == SAL_OK; i++) {
        sali_put(w, "%g%s", array->values[i], (i + 1) % columns == 0 ? "\n" : separator);
    }
}

const sali_format sali_format_table = {
    .name = "table",
    .doc = "rows of numbers, separated by commas, semicolons, tabs or blanks",
    .suffixes = { ".csv", ".tsv", ".txt", ".dat" },
    .content = SALI_CONTENT_ARRAY,
    .recognise = recognise,
    .parse = parse,
    .write = write,
};
