/* SPDX-License-Identifier: MIT */
/* Labelled rows in LIBSVM's text format: "label index:value ..." a line, indices from 1 and rising;
 * what is not listed is 0. */
#include <string.h>

#include "core/alloc.h"
#include "core/number.h"
#include "io/arrays/array_file.h"
#include "io/format.h"

/* The dense array may have so many values for each byte of the file, and so many more. */
#define MOST_PER_BYTE 64
#define SMALL ((int64_t)1 << 20)

/* Visited twice: first without an array, for its shape. */
typedef struct reader {
    int64_t rows, columns;
    sal_array *array;
} reader;

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

/* "index:value", with an index above `last`; returns it. */
static int64_t read_entry(reader *r, sali_scan *line, int64_t last)
{
    sali_token word = sali_scan_token(line);
    const char *colon = memchr(word.text, ':', (size_t)word.size);
    int64_t index, head = colon ? colon - word.text : 0;
    double value;
    if (!colon || sali_parse_int(word.text, head, &index) != SAL_OK || index <= last ||
        sali_parse_double(colon + 1, word.size - head - 1, &value) != SAL_OK) {
        sali_scan_expected(line, &word, "INDEX:VALUE, the indices rising from 1");
        return last;
    }
    if (r->array) {
        r->array->values[r->rows * r->array->shape[1] + index - 1] = value;
    }
    return index;
}

/* All lines, or the first `most` that are not empty. `scan` only takes over a failure. */
static void read_lines(reader *r, sali_scan *scan, int64_t most)
{
    sali_scan lines = *scan, line = { 0 };
    r->rows = r->columns = 0;
    while (sali_scan_line(&lines, &line) && r->rows < most) {
        if (!sali_scan_more(&line)) {
            continue;
        }
        int64_t last = 0;
        read_label(r, &line);
        while (sali_scan_more(&line)) {
            last = read_entry(r, &line, last);
        }
        r->columns = last > r->columns ? last : r->columns;
        r->rows++;
    }
    scan->status = lines.status;
}

static bool recognise(sali_scan *scan)
{
    reader r = { 0 };
    read_lines(&r, scan, 1);
    return scan->status == SAL_OK && r.rows == 1 && r.columns > 0;
}

/* The array of the shape that the first visit found. */
static void allocate(const reader *r, sali_scan *scan, sal_array *array)
{
    const int64_t shape[] = { r->rows, r->columns };
    int64_t count = sali_shape_count(shape, 2, sizeof(double));
    if (count < 0 || count > MOST_PER_BYTE * (scan->end - scan->begin) + SMALL) {
        sali_scan_refuse(scan, "%lld rows with indices up to %lld are too sparse for an array",
                         (long long)r->rows, (long long)r->columns);
    } else if (scan->status == SAL_OK) {
        scan->status = sali_array_make(scan->name, 2, shape, array, scan->err);
        array->labels = SALI_SCAN_ARRAY(scan, int32_t, r->rows);
    }
}

static void parse(sali_scan *scan, sali_content *out)
{
    reader r = { 0 };
    read_lines(&r, scan, INT64_MAX);
    allocate(&r, scan, &out->array);
    r.array = &out->array;
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
