/* SPDX-License-Identifier: MIT */
/* The USPS digits as they accompany The Elements of Statistical Learning (Hastie, Tibshirani &
 * Friedman 2009): zip.train and zip.test hold a digit and 256 numbers from -1 to 1 a line. */
#include "core/error.h"
#include "io/arrays/array_file.h"
#include "io/format.h"

#define SIDE 16

/* The digit of a line that is not empty, which may be written "6.0000". */
static sal_status read_label(sali_scan *line, sali_number_rows *rows, sal_error *err)
{
    double digit;
    int64_t at = line->line;
    sal_status status = sali_scan_double(line, "a digit", &digit, err);
    if (status == SAL_OK && !(digit >= 0 && digit <= 9 && digit == (int32_t)digit)) {
        return sali_scan_fail(line, at, err, "the label is %g; expected a digit", digit);
    }
    return status ? status : sali_number_rows_label(rows, (int32_t)digit, err);
}

static sal_status read_line(sali_scan *line, sali_number_rows *rows, sal_error *err)
{
    int64_t words;
    sali_scan_words(line, &words, NULL);
    if (words == 0) {
        return SAL_OK;
    }
    if (words != 1 + SIDE * SIDE) {
        return sali_scan_fail(line, line->line, err, "%lld numbers; expected a digit and %d values",
                              (long long)words, SIDE * SIDE);
    }
    sal_status status = read_label(line, rows, err);
    for (int k = 0; k < SIDE * SIDE && status == SAL_OK; k++) {
        double value;
        status = sali_scan_double(line, "a value", &value, err);
        if (status == SAL_OK && !(value >= -1 && value <= 1)) {
            return sali_scan_fail(line, line->line, err, "%g; expected a value from -1 to 1",
                                  value);
        }
        status = status ? status : sali_number_rows_value(rows, value, err);
    }
    rows->rows++;
    return status;
}

static sal_status read_lines(const char *name, const char *data, int64_t size, int64_t most,
                             sali_number_rows *rows, sal_error *err)
{
    sali_scan scan, line;
    sal_status status = SAL_OK;
    sali_scan_init(&scan, name, data, size, 0);
    while (status == SAL_OK && rows->rows < most && sali_scan_line(&scan, &line)) {
        status = read_line(&line, rows, err);
    }
    return status || rows->rows > 0 ? status
                                    : sali_fail(err, SAL_ERR_DATA, "%s: holds no digit", name);
}

static bool looks_like_usps(const char *data, int64_t size)
{
    sali_number_rows rows = { 0 };
    sal_status status = read_lines("", data, size, 1, &rows, NULL);
    sali_number_rows_free(&rows);
    return status == SAL_OK;
}

static sal_status parse_usps(const char *name, const char *data, int64_t size, sali_content *out,
                             sal_error *err)
{
    sali_number_rows rows = { 0 };
    sal_status status = read_lines(name, data, size, INT64_MAX, &rows, err);
    if (status != SAL_OK) {
        sali_number_rows_free(&rows);
        return status;
    }
    *out = (sali_content){ .kind = SALI_CONTENT_ARRAY,
                           .array = { .ndim = 3,
                                      .shape = { rows.rows, SIDE, SIDE },
                                      .count = rows.count,
                                      .values = rows.values,
                                      .labels = rows.labels } };
    return SAL_OK;
}

const sali_format sali_format_usps = {
    .name = "usps",
    .doc = "digits of 16 x 16 values from -1 to 1 after their label, a line each",
    .suffixes = { ".train", ".test", ".txt" },
    .content = SALI_CONTENT_ARRAY,
    .recognise = looks_like_usps,
    .parse = parse_usps,
};
