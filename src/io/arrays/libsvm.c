/* SPDX-License-Identifier: MIT */
/* Labelled rows in LIBSVM's text format: "label index:value ..." a line, indices ascending;
 * unlisted elements are 0. The first column has index 1, or index 0 in files of scikit-learn. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/number.h"
#include "io/arrays/array_file.h"
#include "io/format.h"

/* Upper limit of the dense array's size: MOST_PER_BYTE values for each byte of the file, plus
 * SMALL. */
#define MOST_PER_BYTE 64
#define SMALL ((int64_t)1 << 20)

/* State of a pass over the file. There are two: the first, without an array, finds the shape. */
typedef struct reader {
    int64_t rows;
    int64_t least, last; /* smallest and largest index; INT64_MAX and -1 if there are none */
    int64_t base;        /* index of the first column */
    sal_array *array;
} reader;

/* Read the label of a row, a 32-bit integer, and store it if there is an array. */
static void read_label(reader *r, sali_scan *line)
{
    double label = 0.5;
    sali_token word = sali_scan_token(line);
    if (sali_parse_double(word.text, word.size, &label) != SAL_OK ||
        !(label >= INT32_MIN && label <= INT32_MAX) || label != (int32_t)label) {
        sali_scan_expected(line, &word, "a label (a whole number of 32 bits)");
    } else if (r->array) {
        r->array->labels[r->rows] = (int32_t)label;
    }
}

/* Read "index:value" and store the value if there is an array. The index must be above `last`;
 * returns the index, or `last` after a failure. */
static int64_t read_entry(reader *r, sali_scan *line, int64_t last)
{
    sali_token word = sali_scan_token(line);
    const char *colon = memchr(word.text, ':', (size_t)word.size);
    int64_t index, head = colon ? colon - word.text : 0;
    double value;
    if (head == 3 && memcmp(word.text, "qid", 3) == 0) {
        sali_scan_expected(line, &word,
                           "INDEX:VALUE, as files of rankings, whose rows have a query (qid), are "
                           "not read");
        return last;
    }
    if (!colon || sali_parse_int(word.text, head, &index) != SAL_OK || index <= last ||
        sali_parse_double(colon + 1, word.size - head - 1, &value) != SAL_OK) {
        sali_scan_expected(line, &word, "INDEX:VALUE, the indices rising from 0 or 1");
        return last;
    }
    if (r->array) {
        r->array->values[r->rows * r->array->shape[1] + index - r->base] = value;
    }
    return index;
}

/* Read all lines, or the first `most` that are not empty. `scan` only receives the status: its
 * position does not change. */
static void read_lines(reader *r, sali_scan *scan, int64_t most)
{
    sali_scan lines = *scan, line = { 0 };
    r->rows = 0;
    r->least = INT64_MAX;
    r->last = -1;
    while (sali_scan_line(&lines, &line) && r->rows < most) {
        if (!sali_scan_more(&line)) {
            continue;
        }
        int64_t last = -1;
        read_label(r, &line);
        while (sali_scan_more(&line)) {
            const int64_t index = read_entry(r, &line, last);
            r->least = last < 0 && index < r->least ? index : r->least;
            last = index;
        }
        r->last = last > r->last ? last : r->last;
        r->rows++;
    }
    scan->status = lines.status;
}

static bool recognise(sali_scan *scan)
{
    reader r = { 0 };
    read_lines(&r, scan, 1);
    return scan->status == SAL_OK && r.rows == 1 && r.last >= 0;
}

/* ---- where the columns begin */

/* Whether a comment before the first row contains `text`; scikit-learn writes "# Column indices are
 * zero-based". */
static bool heading_has(const sali_scan *scan, const char *text)
{
    const size_t length = strlen(text);
    const char *c = scan->begin;
    while (c < scan->end && *c == '#') {
        const char *stop = memchr(c, '\n', (size_t)(scan->end - c));
        stop = stop ? stop : scan->end;
        for (; c + length <= stop; c++) {
            if (memcmp(c, text, length) == 0) {
                return true;
            }
        }
        c = stop < scan->end ? stop + 1 : stop;
    }
    return false;
}

static bool is_square(int64_t n)
{
    const int64_t side = llround(sqrt((double)n));
    return n > 0 && side * side == n;
}

/* Guess the index of the first column from the number of columns: the index that makes `last` the
 * last column, or rows square pictures. SAL_COLUMNS_FIND if both indices or neither would do. */
static sal_columns_from from_width(const sali_reading *how, int64_t last)
{
    if (how->columns >= last) {
        return last == how->columns       ? SAL_COLUMNS_FROM_1
               : last == how->columns - 1 ? SAL_COLUMNS_FROM_0
                                          : SAL_COLUMNS_FIND;
    }
    if (!how->pictures || is_square(last) == is_square(last + 1)) {
        return SAL_COLUMNS_FIND;
    }
    return is_square(last) ? SAL_COLUMNS_FROM_1 : SAL_COLUMNS_FROM_0;
}

/* Decide the index of the first column: as the caller says, as the file says, as its companion file
 * says, from the number of columns, or 1. A remark reports the decision unless the caller made it,
 * and is a warning unless the file itself says so. */
static void find_columns(const reader *r, sali_scan *scan, sali_content *out)
{
    const sali_reading nothing = { 0 }, *how = scan->reading ? scan->reading : &nothing;
    const bool zero = r->least == 0 || heading_has(scan, "zero-based");
    const bool one = r->least > 0 && heading_has(scan, "one-based");
    const int64_t last = r->last > how->companion.last ? r->last : how->companion.last;
    sali_columns *columns = &out->columns;
    *columns = (sali_columns){ .last = r->last, .certain = zero || one };
    if (how->columns_from == SAL_COLUMNS_FROM_1 && r->least == 0) {
        sali_scan_refuse(scan, "has the index 0, and its columns were said to be counted from 1");
    } else if (how->columns_from) {
        columns->from = how->columns_from;
    } else if (zero || one) {
        columns->from = zero ? SAL_COLUMNS_FROM_0 : SAL_COLUMNS_FROM_1;
    } else if (how->companion.certain) {
        columns->from = how->companion.from;
    } else {
        columns->from = from_width(how, last);
        if (columns->from == SAL_COLUMNS_FROM_0) {
            scan->status = sali_remark_add(
                &out->remark, true, scan->err,
                "columns are counted from 0: the largest index, %lld, is then that of "
                "the last of %lld columns (%s says otherwise)",
                (long long)last, (long long)last + 1,
                how->asks ? "--columns-from 1" : "a first line \"# one-based\"");
        } else if (!columns->from) {
            columns->from = SAL_COLUMNS_FROM_1;
            scan->status = sali_remark_add(
                &out->remark, true, scan->err,
                "columns are counted from 1, as LIBSVM counts (nothing in the file says "
                "so, and scikit-learn counts from 0: %s decides)",
                how->asks ? "--columns-from 0 or 1"
                          : "a first line \"# zero-based\" or \"# one-based\"");
        }
        return;
    }
    if (columns->from == SAL_COLUMNS_FROM_0 && !how->columns_from) {
        scan->status = sali_remark_add(&out->remark, !columns->certain, scan->err,
                                       "columns are counted from 0, as %s says",
                                       r->least == 0 ? "an index 0"
                                       : zero        ? "its heading"
                                                     : "the file that goes with it");
    }
}

/* Allocate the array in the shape that the first pass found, or wider if the caller says so. Fails
 * if the file is too sparse. */
static void allocate_array(reader *r, sali_scan *scan, sali_content *out)
{
    const sali_reading *how = scan->reading;
    r->base = out->columns.from == SAL_COLUMNS_FROM_1;
    int64_t shape[] = { r->rows,
                        r->last >= r->base && r->last < INT64_MAX ? r->last - r->base + 1 : 0 };
    int64_t count = sali_shape_count(shape, 2, sizeof(double));
    if (r->last == INT64_MAX || count < 0 ||
        count > MOST_PER_BYTE * (scan->end - scan->begin) + SMALL) {
        sali_scan_refuse(scan, "%lld rows with indices up to %lld are too sparse for an array",
                         (long long)r->rows, (long long)r->last);
    }
    if (how && shape[1] > 0) {
        const int64_t companion =
            how->companion.last < INT64_MAX ? how->companion.last + 1 - r->base : 0;
        shape[1] = shape[1] > how->columns ? shape[1] : how->columns;
        shape[1] = shape[1] > companion ? shape[1] : companion;
    }
    if (scan->status == SAL_OK) {
        scan->status = sali_array_make(scan->name, 2, shape, &out->array, scan->err);
        out->array.labels = SALI_SCAN_ARRAY(scan, int32_t, r->rows);
    }
}

/* Read the file in two passes: one for the shape, one for the values. */
static void parse(sali_scan *scan, sali_content *out)
{
    reader r = { 0 };
    read_lines(&r, scan, INT64_MAX);
    if (scan->status == SAL_OK) {
        find_columns(&r, scan, out);
        allocate_array(&r, scan, out);
        r.array = &out->array;
    }
    if (scan->status == SAL_OK) {
        read_lines(&r, scan, INT64_MAX);
    }
}

const sali_format sali_format_libsvm = {
    .name = "libsvm",
    .doc = "labelled rows of index:value in LIBSVM's text format",
    .suffixes = { ".libsvm", ".svm", ".t" },
    .content = SALI_CONTENT_ARRAY,
    .comments = SALI_COMMENT_HASH,
    .recognise = recognise,
    .parse = parse,
};
