/* SPDX-License-Identifier: MIT */
/* Tables of numbers as text: a row a line, columns separated by commas, semicolons, tabs or blanks;
 * a heading may come first; # begins a comment. */
#include <math.h>
#include <string.h>

#include "core/number.h"
#include "core/text.h"
#include "io/format.h"
#include "io/unpack.h"

/* With at most this many columns, a first row 0 or 0,1 could as well be a row of integers. */
#define FEW_COLUMNS 2

typedef struct reader {
    char separator; /* ',' or ';', or ' ' for any blanks; 0: not known yet */
    sal_array *array;
    int64_t room;
    int64_t heading;   /* line of the heading; 0: none */
    int64_t names;     /* number of columns that the heading names */
    int64_t counted;   /* line of a first row 0, 1, 2, ..; 0: none */
    bool row_names;    /* the first column has names of rows, not numbers */
    bool labels;       /* the heading calls the first column "label" */
    bool has_fraction; /* a row after the first has a number that is not written as an integer */
    char first[SALI_SHOW_SIZE], last[SALI_SHOW_SIZE]; /* names in the heading */
} reader;

/* The text from `begin` to `end` without surrounding blanks, then without quotation marks. */
static sali_token trim_cell(const char *begin, const char *end, int64_t line)
{
    sali_token word = sali_token_trim(begin, end, line);
    bool quoted = word.size >= 2 && *word.text == '"' && word.text[word.size - 1] == '"';
    return quoted ? (sali_token){ word.text + 1, word.size - 2, line } : word;
}

/* Read the next field of a line; false if there is none. */
static bool next_field(const reader *r, sali_scan *line, sali_token *field)
{
    if (!line->next) {
        return false;
    }
    const char *end = line->next;
    if (r->separator == ' ') {
        sali_token word = sali_scan_token(line);
        *field = trim_cell(word.text, word.text + word.size, line->line);
        return word.size > 0;
    }
    for (bool quoted = false; end < line->end && (quoted || *end != r->separator); end++) {
        quoted ^= *end == '"';
    }
    *field = trim_cell(line->next, end, line->line);
    line->next = end < line->end ? end + 1 : NULL; /* after a separator one more field follows */
    return true;
}

static bool is_number(const sali_token *field)
{
    double value;
    return sali_parse_double(field->text, field->size, &value) == SAL_OK;
}

static bool is_whole(const sali_token *field)
{
    int64_t number;
    return sali_parse_int(field->text, field->size, &number) == SAL_OK;
}

/* Whether a field is the integer k in plain digits, as pandas names column k. */
static bool is_count(const sali_token *field, int64_t k)
{
    int64_t number;
    return field->size > 0 && field->text[0] != '+' && field->text[0] != '-' &&
           sali_parse_int(field->text, field->size, &number) == SAL_OK && number == k;
}

/* Kinds of a table's first line: numbers, names of columns, or counts 0, 1, 2, .. of columns. A
 * field for the names of rows may precede names and counts: it is empty, or "Unnamed: 0", as pandas
 * calls it. */
typedef enum line_kind { LINE_NUMBERS, LINE_NAMES, LINE_COUNTS } line_kind;

/* Classify the first line of a table, and remember its names and whether it begins with a field for
 * the names of rows. */
static line_kind kind_of_line(reader *r, sali_scan line)
{
    sali_token field;
    bool names = true, counts = true;
    int64_t n = 0;
    while (next_field(r, &line, &field)) {
        const bool corner = n == 0 && (field.size == 0 || sali_token_is(&field, "Unnamed: 0"));
        r->row_names = n == 0 ? corner : r->row_names;
        r->labels = n == 0 ? sali_token_is(&field, "label") : r->labels;
        names = names && !is_number(&field);
        counts = counts && (corner || is_count(&field, n - r->row_names));
        sali_show(field.text, field.size, n - r->row_names == 0 ? r->first : r->last);
        n++;
    }
    r->names = n;
    r->row_names = r->row_names && n > 1;
    return names ? LINE_NAMES : counts ? LINE_COUNTS : LINE_NUMBERS;
}

/* Whether the first line of a table is a heading. Counts are taken for a row until all rows are
 * read (settle_counts), unless a field for the names of rows precedes them. */
static bool take_heading(reader *r, const sali_scan *line)
{
    const line_kind kind = kind_of_line(r, *line);
    if (kind == LINE_NAMES || (kind == LINE_COUNTS && r->row_names)) {
        r->heading = line->line;
        return true;
    }
    r->counted = kind == LINE_COUNTS ? line->line : 0;
    r->labels = r->row_names = false;
    return false;
}

static char find_separator(const sali_scan *line)
{
    size_t n = (size_t)(line->end - line->next);
    return memchr(line->next, ',', n) ? ',' : memchr(line->next, ';', n) ? ';' : ' ';
}

/* Whether the rows begin with names: as R writes it, the first row then has one field more than the
 * heading. */
static bool lacks_name(const reader *r, sali_scan line)
{
    sali_token field;
    int64_t n = 0;
    while (next_field(r, &line, &field)) {
        n++;
    }
    return n == r->names + 1;
}

/* Append the numbers of a row to the array; all rows must have the same number of columns. */
static void read_row(reader *r, sali_scan *line)
{
    sali_token field;
    sal_array *a = r->array;
    int64_t columns = 0, at = line->line;
    if (r->heading && a->shape[0] == 0) {
        r->row_names = r->row_names || lacks_name(r, *line);
    }
    if (r->row_names) {
        next_field(r, line, &field);
    }
    for (; line->status == SAL_OK && next_field(r, line, &field); columns++) {
        double value;
        if (sali_parse_double(field.text, field.size, &value) != SAL_OK) {
            char shown[SALI_SHOW_SIZE];
            sali_scan_fail(line, at, "column %lld: expected a finite decimal number, found '%s'",
                           (long long)columns + 1 + r->row_names,
                           sali_show(field.text, field.size, shown));
        } else if (sali_scan_grow(line, (void **)&a->values, &r->room, a->count + 1,
                                  sizeof(double))) {
            a->values[a->count++] = value;
        }
        if (r->counted && a->shape[0] > 0) {
            r->has_fraction = r->has_fraction || !is_whole(&field);
        }
    }
    if (a->shape[0]++ > 0 && columns != a->shape[1]) {
        sali_scan_fail(line, at, "%lld columns; the rows before have %lld", (long long)columns,
                       (long long)a->shape[1]);
    }
    a->shape[1] = columns;
}

/* Read all rows, or the first `most`. A first line 0, 1, 2, .. counts as a row. */
static void read_rows(reader *r, sali_scan *scan, int64_t most)
{
    sali_scan line = { 0 };
    sal_array *array = r->array;
    *array = (sal_array){ .ndim = 2 };
    while (sali_scan_line(scan, &line) && array->shape[0] < most) {
        sali_token whole = trim_cell(line.next, line.end, line.line);
        if (whole.size == 0 || *whole.text == '#') {
            continue;
        }
        bool first = !r->separator;
        r->separator = first ? find_separator(&line) : r->separator;
        if (!first || !take_heading(r, &line)) {
            read_row(r, &line);
        }
    }
    if (array->count == 0) {
        sali_scan_refuse(scan, "holds no row of numbers");
    }
}

/* Decide whether a first row 0, 1, 2, .. is a heading, and remove it from the array if so. */
static void settle_counts(reader *r)
{
    sal_array *a = r->array;
    if (!r->counted || a->shape[0] < 2 || (a->shape[1] <= FEW_COLUMNS && !r->has_fraction)) {
        return;
    }
    a->count -= a->shape[1];
    memmove(a->values, a->values + a->shape[1], (size_t)a->count * sizeof *a->values);
    a->shape[0]--;
    r->heading = r->counted;
}

/* Add a remark on how the first line was read, and on a column of names that was left out. */
static sal_status remark_heading(const reader *r, sali_remark *remark, sal_error *err)
{
    sal_status status = SAL_OK;
    const int64_t columns = r->array->shape[1];
    char names[2 * SALI_SHOW_SIZE + 16];
    snprintf(names, sizeof names, "%s%s%s", r->first,
             columns > 2   ? ", .., "
             : columns > 1 ? ", "
                           : "",
             columns > 1 ? r->last : "");
    if (r->heading && r->heading == r->counted) {
        status = sali_remark_add(
            remark, true, err,
            "line %lld (%s) counts the columns, as pandas writes it: a heading (if it "
            "is a row of numbers, write 0.0 for its 0)",
            (long long)r->heading, names);
    } else if (r->heading) {
        status = sali_remark_add(remark, false, err, "line %lld (%s) is a heading",
                                 (long long)r->heading, names);
    } else if (r->counted && r->array->shape[0] > 1) {
        status = sali_remark_add(
            remark, true, err,
            "line %lld (%s) is taken for a row of numbers (if it is a heading, delete "
            "it)",
            (long long)r->counted, names);
    }
    if (status == SAL_OK && r->row_names) {
        status = sali_remark_add(remark, true, err,
                                 "the first column has the names of the rows: left out");
    }
    return status;
}

static bool recognise(sali_scan *scan)
{
    sal_array array;
    reader r = { .array = &array };
    read_rows(&r, scan, 4);
    sal_array_free(&array);
    return scan->status == SAL_OK;
}

static bool is_square(int64_t n)
{
    const int64_t side = llround(sqrt((double)n));
    return n > 0 && side * side == n;
}

/* Whether a file is named .amat and its rows are square pictures with a whole number from 0 on
 * after them: such files end in labels, if they have them. */
static bool has_label_last(const char *path, const sal_array *a)
{
    const size_t length = sali_unpacked_length(path);
    const int64_t columns = a->shape[1];
    bool labels = length > 5 && strncmp(path + length - 5, ".amat", 5) == 0 && columns > 2 &&
                  is_square(columns - 1);
    for (int64_t i = columns - 1; labels && i < a->count; i += columns) {
        labels = a->values[i] >= 0 && a->values[i] == floor(a->values[i]);
    }
    return labels;
}

/* Read the table, then decide whether a first row 0, 1, 2, .. is a heading. */
static void parse(sali_scan *scan, sali_content *out)
{
    reader r = { .array = &out->array };
    read_rows(&r, scan, INT64_MAX);
    if (scan->status == SAL_OK) {
        settle_counts(&r);
        scan->status = remark_heading(&r, &out->remark, scan->err);
        out->label_first = r.labels && out->array.shape[1] > 1;
        out->label_last = !r.heading && has_label_last(scan->name, &out->array);
    }
}

/* The separator for a path: blanks for .txt and .amat, tabs for .tsv, commas for anything else. */
static const char *separator_for(const char *path)
{
    return sali_has_suffix(path, ".txt") || sali_has_suffix(path, ".amat") ? " "
           : sali_has_suffix(path, ".tsv")                                 ? "\t"
                                                                           : ",";
}

/* Whether the first row is 0, 1, 2, .., which would read back as a heading. */
static bool counts_columns(const sal_array *array, int64_t columns)
{
    for (int64_t k = 0; k < columns; k++) {
        if (array->values[k] != (double)k) {
            return false;
        }
    }
    return true;
}

/* Write a table; the first number gets ".0" where the first row would read back as a heading. */
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
    const bool counts = counts_columns(array, columns);
    for (int64_t i = 0; i < array->count && w->status == SAL_OK; i++) {
        sali_put(w, "%g%s%s", array->values[i], counts && i == 0 ? ".0" : "",
                 (i + 1) % columns == 0 ? "\n" : separator);
    }
}

const sali_format sali_format_table = {
    .name = "table",
    .doc = "rows of numbers, separated by commas, semicolons, tabs or blanks",
    .suffixes = { ".csv", ".tsv", ".txt", ".dat", ".amat" },
    .content = SALI_CONTENT_ARRAY,
    .recognise = recognise,
    .parse = parse,
    .write = write,
};
