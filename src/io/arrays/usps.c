/* SPDX-License-Identifier: MIT */
/* The USPS digits as they accompany The Elements of Statistical Learning (Hastie, Tibshirani &
 * Friedman 2009): zip.train and zip.test hold a digit and 256 numbers from -1 to 1 a line. */
#include "io/format.h"

#define SIDE 16
#define PIXELS (SIDE * SIDE)

typedef struct reader {
    sal_array *array;
    int64_t room, labels_room;
} reader;

/* Read a line that is not empty: a digit, which may be written "6.0000", and its pixels. */
static void read_line(reader *r, sali_scan *line)
{
    sal_array *a = r->array;
    int64_t words = sali_scan_words(line), row = a->shape[0];
    if (words != 1 + PIXELS) {
        sali_scan_fail(line, line->line, "%lld numbers; expected a digit and %d values",
                       (long long)words, PIXELS);
    }
    double digit = sali_scan_double(line, "a digit");
    if (!(digit >= 0 && digit <= 9 && digit == (int32_t)digit)) {
        sali_scan_fail(line, line->line, "the label is %g; expected a digit", digit);
    }
    if (!sali_scan_grow(line, (void **)&a->labels, &r->labels_room, row + 1, sizeof(int32_t)) ||
        !sali_scan_grow(line, (void **)&a->values, &r->room, a->count + PIXELS, sizeof(double))) {
        return;
    }
    a->labels[a->shape[0]++] = (int32_t)digit;
    for (int k = 0; k < PIXELS; k++) {
        double value = sali_scan_double(line, "a value");
        if (!(value >= -1 && value <= 1)) {
            sali_scan_fail(line, line->line, "%g; expected a value from -1 to 1", value);
        }
        a->values[a->count++] = value;
    }
}

/* Read all digits, or the first `most`, into *array. */
static void read_lines(sali_scan *scan, int64_t most, sal_array *array)
{
    sali_scan line = { 0 };
    reader r = { .array = array };
    *array = (sal_array){ .ndim = 3, .shape = { 0, SIDE, SIDE } };
    while (sali_scan_line(scan, &line) && array->shape[0] < most) {
        if (sali_scan_more(&line)) {
            read_line(&r, &line);
        }
    }
    if (array->count == 0) {
        sali_scan_refuse(scan, "holds no digit");
    }
}

static bool recognise(sali_scan *scan)
{
    sal_array array;
    read_lines(scan, 1, &array);
    sal_array_free(&array);
    return scan->status == SAL_OK;
}

static void parse(sali_scan *scan, sali_content *out)
{
    read_lines(scan, INT64_MAX, &out->array);
}

const sali_format sali_format_usps = {
    .name = "usps",
    .doc = "digits of 16 x 16 values from -1 to 1 after their label, a line each",
    .suffixes = { ".train", ".test", ".txt" },
    .content = SALI_CONTENT_ARRAY,
    .recognise = recognise,
    .parse = parse,
};
