/* SPDX-License-Identifier: MIT */
/* Labelled rows in LIBSVM's text format: "label index:value ..." a line, indices from 1 and rising;
 * what is not listed is 0. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/number.h"
#include "io/arrays/array_file.h"
#include "io/format.h"

/* The dense array may have so many values for each byte of the file, and so many more. */
#define MOST_PER_BYTE 64
#define SMALL ((int64_t)1 << 20)

/* Visited twice: first without an array, for its shape. */
typedef struct reader {
    sali_scan scan;
    int64_t rows, columns;
    sal_array *array;
    sal_error *err;
} reader;

static sal_status read_label(reader *r, const sali_token *token)
{
    double label;
    sal_status status = sali_parse_double(token->text, token->size, &label);
    if (status == SAL_ERR_MEMORY) {
        return sali_fail_memory(r->err);
    }
    if (status != SAL_OK || !(label >= INT32_MIN && label <= INT32_MAX) ||
        label != (int32_t)label) {
        return sali_scan_expected(&r->scan, token, "a label (a whole number of 32 bits)", r->err);
    }
    if (r->array) {
        r->array->labels[r->rows] = (int32_t)label;
    }
    return SAL_OK;
}

/* "index:value", with an index above *last. */
static sal_status read_entry(reader *r, const sali_token *token, int64_t *last)
{
    const char *colon = memchr(token->text, ':', (size_t)token->size);
    int64_t index, head = colon ? colon - token->text : 0;
    double value;
    sal_status status =
        colon && sali_parse_int(token->text, head, &index) == SAL_OK && index > *last
            ? sali_parse_double(colon + 1, token->size - head - 1, &value)
            : SAL_ERR_DATA;
    if (status == SAL_ERR_MEMORY) {
        return sali_fail_memory(r->err);
    }
    if (status != SAL_OK) {
        return sali_scan_expected(&r->scan, token, "INDEX:VALUE, the indices rising from 1",
                                  r->err);
    }
    *last = index;
    if (r->array) {
        r->array->values[r->rows * r->array->shape[1] + index - 1] = value;
    }
    return SAL_OK;
}

static sal_status read_line(reader *r, sali_scan *line)
{
    sali_token token;
    int64_t last = 0;
    sal_status status = sali_scan_token(line, &token, r->err);
    if (status != SAL_OK || token.size == 0) {
        return status;
    }
    status = read_label(r, &token);
    while (status == SAL_OK) {
        status = sali_scan_token(line, &token, r->err);
        if (status != SAL_OK || token.size == 0) {
            break;
        }
        status = read_entry(r, &token, &last);
    }
    r->columns = last > r->columns ? last : r->columns;
    r->rows++;
    return status;
}

/* All lines, or the first `most` that are not empty. */
static sal_status read_lines(reader *r, int64_t most)
{
    sali_scan line, begin = r->scan;
    sal_status status = SAL_OK;
    r->rows = r->columns = 0;
    while (status == SAL_OK && r->rows < most && sali_scan_line(&r->scan, &line)) {
        status = read_line(r, &line);
    }
    r->scan = begin;
    return status;
}

static bool looks_like_libsvm(const char *data, int64_t size)
{
    reader r = { .err = NULL };
    sali_scan_init(&r.scan, "", data, size, SALI_COMMENT_HASH);
    return read_lines(&r, 1) == SAL_OK && r.rows == 1 && r.columns > 0;
}

/* The array of the shape that the first visit found. */
static sal_status allocate(const reader *r, int64_t size, sal_array *array)
{
    const int64_t shape[] = { r->rows, r->columns };
    int64_t count = sali_shape_count(shape, 2, sizeof(double));
    if (count < 0 || count > MOST_PER_BYTE * size + SMALL) {
        return sali_fail(r->err, SAL_ERR_DATA,
                         "%s: %lld rows with indices up to %lld are too sparse for an array",
                         r->scan.name, (long long)r->rows, (long long)r->columns);
    }
    sal_status status = sali_array_make(r->scan.name, 2, shape, array, r->err);
    if (status == SAL_OK) {
        array->labels = SALI_NEW_ARRAY(int32_t, r->rows);
        status = array->labels ? SAL_OK : sali_fail_memory(r->err);
    }
    return status;
}

static sal_status parse_libsvm(const char *name, const char *data, int64_t size, sali_content *out,
                               sal_error *err)
{
    reader r = { .err = err };
    sali_scan_init(&r.scan, name, data, size, SALI_COMMENT_HASH);
    sal_status status = read_lines(&r, INT64_MAX);
    status = status ? status : allocate(&r, size, &out->array);
    r.array = &out->array;
    return status ? status : read_lines(&r, INT64_MAX);
}

const sali_format sali_format_libsvm = {
    .name = "libsvm",
    .doc = "labelled rows of index:value in LIBSVM's text format",
    .suffixes = { ".libsvm", ".svm", ".t" },
    .content = SALI_CONTENT_ARRAY,
    .recognise = looks_like_libsvm,
    .parse = parse_libsvm,
};
