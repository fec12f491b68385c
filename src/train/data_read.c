/* SPDX-License-Identifier: MIT */
/* Data sets from files of arrays and alignments. */
#include <math.h>
#include <string.h>

#include <saltus/data.h>
#include "core/alloc.h"
#include "core/error.h"
#include "io/arrays/array_file.h"
#include "io/format.h"
#include "models/zoo/alignment.h"
#include "models/zoo/alignment_rows.h"
#include "train/data.h"

/* ---- which rows */

/* Rows first .. first + count - 1 of `rows` as the options say. */
static sal_status find_rows(const char *path, int64_t rows, const sal_data_options *o,
                            int64_t *count, sal_error *err)
{
    int64_t most = rows - o->first;
    if (o->first < 0 || o->count < 0 || o->first >= rows || o->count > most) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: %lld rows from row %lld on; there are %lld",
                         path, (long long)o->count, (long long)o->first, (long long)rows);
    }
    *count = o->count > 0 ? o->count : most;
    return SAL_OK;
}

/* ---- pictures */

static const struct {
    double low, high, middle;
} greys[] = {
    [SAL_GREY_BYTES] = { 0, 255, 127 },
    [SAL_GREY_SIGNED] = { -1, 1, 0 },
    [SAL_GREY_UNIT] = { 0, 1, 0.5 },
};

/* Sides of the pictures in the rows of an array: three dimensions, or two and the columns of the
 * sides that were given, or a square number of columns. */
static bool find_sides(const sal_array *array, const sal_data_options *o, int64_t *height,
                       int64_t *width)
{
    bool given = o->height > 0;
    if (array->ndim == 3) {
        *height = array->shape[1];
        *width = array->shape[2];
        return !given || (*height == o->height && *width == o->width);
    }
    int64_t columns = array->ndim == 2 ? array->shape[1] : 0;
    *height = given ? o->height : (int64_t)llround(sqrt((double)columns));
    *width = given ? o->width : *height;
    return columns > 0 && columns / *width == *height && columns % *width == 0;
}

static sal_status fail_sides(const char *path, const sal_array *array, const sal_data_options *o,
                             sal_error *err)
{
    long long columns = array->shape[array->ndim - 1];
    if (array->ndim == 3) {
        return sali_fail(
            err, SAL_ERR_DATA, "%s: pictures of %lld x %lld; expected pictures of %lld x %lld",
            path, (long long)array->shape[1], columns, (long long)o->height, (long long)o->width);
    }
    return o->height > 0
               ? sali_fail(err, SAL_ERR_DATA,
                           "%s: %d dimensions, the last of %lld; expected pictures of %lld x %lld",
                           path, array->ndim, columns, (long long)o->height, (long long)o->width)
               : sali_fail(err, SAL_ERR_DATA,
                           "%s: %d dimensions, the last of %lld; expected pictures: three "
                           "dimensions, or rows with a square number of columns. If a file leaves "
                           "out zeros at the end of rows, as libsvm files do, or pictures are no "
                           "squares, give their sides (--shape HxW). Whole numbers in rows of any "
                           "length are the kind codes (--kind codes)",
                           path, array->ndim, columns);
}

/* Append columns of zeros to an array of two dimensions that has fewer. */
static sal_status widen(const char *path, int64_t columns, sal_array *array, sal_error *err)
{
    sal_array wide = { 0 };
    if (array->ndim != 2 || array->shape[1] >= columns) {
        return SAL_OK;
    }
    int64_t rows = array->shape[0], had = array->shape[1];
    sal_status status = sali_array_make(path, 2, (int64_t[]){ rows, columns }, &wide, err);
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t r = 0; r < rows; r++) {
        memcpy(wide.values + r * columns, array->values + r * had,
               (size_t)had * sizeof *wide.values);
    }
    wide.labels = array->labels;
    array->labels = NULL;
    sal_array_free(array);
    *array = wide;
    return SAL_OK;
}

/* The range of all values of a file, or the one asked for if it holds them; SAL_GREY_FIND for
 * none. */
static sal_grey find_grey(const sal_array *array, sal_grey wanted)
{
    static const sal_grey order[] = { SAL_GREY_UNIT, SAL_GREY_SIGNED, SAL_GREY_BYTES };
    double low = array->values[0], high = low;
    for (int64_t i = 1; i < array->count; i++) {
        low = array->values[i] < low ? array->values[i] : low;
        high = array->values[i] > high ? array->values[i] : high;
    }
    for (int k = 0; k < 3; k++) {
        sal_grey grey = order[k];
        if ((wanted == SAL_GREY_FIND || wanted == grey) && low >= greys[grey].low &&
            high <= greys[grey].high) {
            return grey;
        }
    }
    return SAL_GREY_FIND;
}

static sal_status check_grey(const char *path, sal_grey found, sal_grey wanted, sal_error *err)
{
    if (found != SAL_GREY_FIND) {
        return SAL_OK;
    }
    return wanted == SAL_GREY_FIND
               ? sali_fail(err, SAL_ERR_DATA,
                           "%s: expected grey values from 0 to 255, from -1 to 1 or from 0 to 1",
                           path)
               : sali_fail(err, SAL_ERR_DATA, "%s: expected grey values from %g to %g", path,
                           greys[wanted].low, greys[wanted].high);
}

/* The code of a grey, which is in the range. */
static uint8_t code_of(double value, sal_grey grey, int64_t levels)
{
    const double low = greys[grey].low, range = greys[grey].high - low;
    if (levels <= 2) {
        return value > greys[grey].middle;
    }
    const int64_t part = (int64_t)((value - low) * (double)levels / range);
    return (uint8_t)(part < levels ? part : levels - 1); /* white is of the last part */
}

static sal_status take_pictures(const char *path, const sal_array *array, const sal_data_options *o,
                                sal_data *data, sal_error *err)
{
    if (!find_sides(array, o, &data->height, &data->width)) {
        return fail_sides(path, array, o, err);
    }
    data->variables = data->height * data->width;
    data->grey = find_grey(array, o->grey);
    sal_status status = check_grey(path, data->grey, o->grey, err);
    if (status != SAL_OK) {
        return status;
    }
    double low = greys[data->grey].low, range = greys[data->grey].high - low;
    const double *values = array->values + o->first * data->variables;
    int64_t count = data->rows * data->variables;
    data->codes = SALI_NEW_ARRAY(uint8_t, count);
    data->intensity = o->keep_intensity ? SALI_NEW_ARRAY(float, count) : NULL;
    if (!data->codes || (o->keep_intensity && !data->intensity)) {
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < count; i++) {
        data->codes[i] = code_of(values[i], data->grey, o->levels);
        if (data->intensity) {
            data->intensity[i] = (float)((values[i] - low) / range);
        }
    }
    return SAL_OK;
}

/* ---- codes */

static sal_status take_codes(const char *path, const sal_array *array, const sal_data_options *o,
                             sal_data *data, sal_error *err)
{
    bool pictures = o->kind == SAL_DATA_CODES && array->ndim == 3;
    data->variables =
        o->kind == SAL_DATA_DRAWS ? array->shape[array->ndim - 1] : array->count / array->shape[0];
    data->height = pictures ? array->shape[1] : 0;
    data->width = pictures ? array->shape[2] : 0;
    data->codes = SALI_NEW_ARRAY(uint8_t, data->rows * data->variables);
    if (!data->codes) {
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < data->rows * data->variables; i++) {
        const int64_t at = o->first * data->variables + i;
        double value = array->codes ? array->codes[at] : array->values[at];
        if (!(value >= 0 && value <= UINT8_MAX) || value != floor(value)) {
            return sali_fail(err, SAL_ERR_DATA,
                             "%s: row %lld, variable %lld is %g; expected codes, whole numbers "
                             "from 0 to 255",
                             path, (long long)(o->first + i / data->variables),
                             (long long)(i % data->variables), value);
        }
        data->codes[i] = (uint8_t)value;
    }
    return SAL_OK;
}

/* Labels are of the first dimension, so draws of several chains have none. */
static sal_status take_array(const char *path, const sal_array *array, const sal_data_options *o,
                             sal_data *data, sal_error *err)
{
    bool draws = o->kind == SAL_DATA_DRAWS;
    int64_t rows = draws ? array->count / array->shape[array->ndim - 1] : array->shape[0];
    sal_status status = find_rows(path, rows, o, &data->rows, err);
    if (status == SAL_OK) {
        status = o->kind == SAL_DATA_PICTURES ? take_pictures(path, array, o, data, err)
                                              : take_codes(path, array, o, data, err);
    }
    if (status == SAL_OK && array->labels && rows == array->shape[0]) {
        data->labels = sali_memdup(array->labels + o->first, data->rows, sizeof *data->labels);
        status = data->labels ? SAL_OK : sali_fail_memory(err);
    }
    return status;
}

/* ---- alignments */

/* The sequences that the options ask for; rows count after those that are dropped. The codes of the
 * content may change. */
static sal_status take_alignment(const char *path, const sali_content *content,
                                 const sal_data_options *o, sal_data *data, sali_remark *remark,
                                 sal_error *err)
{
    double effective;
    sali_alignment alignment = content->alignment;
    const sali_alignment_rules rules = { o->alphabet, o->unknown, o->duplicates };
    sal_status status = sali_alignment_prepare(&alignment, &rules, remark, err);
    if (status == SAL_ERR_DATA) {
        return sali_fail_prefix(err, status, "%s", path);
    }
    status = status ? status : find_rows(path, alignment.sequences, o, &data->rows, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t length = alignment.length;
    data->variables = length;
    data->alphabet = alignment.alphabet;
    data->codes = sali_memdup(alignment.codes + o->first * length, data->rows * length, 1);
    data->weight = o->identity > 0 ? SALI_NEW_ARRAY(double, data->rows) : NULL;
    if (!data->codes || (o->identity > 0 && !data->weight)) {
        return sali_fail_memory(err);
    }
    sali_alignment part = { .sequences = data->rows, .length = length, .codes = data->codes };
    return data->weight ? sali_alignment_weights(&part, o->identity, data->weight, &effective, err)
                        : SAL_OK;
}

static sal_status check_options(const sal_data_options *o, sal_error *err)
{
    bool pictures = o->kind == SAL_DATA_PICTURES, alignment = o->kind == SAL_DATA_ALIGNMENT;
    if ((int)o->kind < 0 || o->kind > SAL_DATA_ALIGNMENT || (int)o->grey < 0 ||
        o->grey > SAL_GREY_UNIT || (int)o->alphabet < 0 || o->alphabet > SAL_ALPHABET_DNA ||
        (int)o->unknown < 0 || o->unknown > SAL_UNKNOWN_DROP || (int)o->duplicates < 0 ||
        o->duplicates > SAL_DUPLICATES_DROP || !(o->identity >= 0 && o->identity <= 1)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "data: kind %d, grey %d, alphabet %d, unknown %d, duplicates %d, identity "
                         "%g; expected values of the header, and an identity of 0 to 1",
                         (int)o->kind, (int)o->grey, (int)o->alphabet, (int)o->unknown,
                         (int)o->duplicates, o->identity);
    }
    int64_t pixels = 0;
    if (o->columns < 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "data: %lld columns; expected 0 or more",
                         (long long)o->columns);
    }
    if (o->height < 0 || o->width < 0 || (o->height > 0) != (o->width > 0) ||
        __builtin_mul_overflow(o->height, o->width, &pixels)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "data: pictures of %lld x %lld; expected two positive sides, or 0 and 0",
                         (long long)o->height, (long long)o->width);
    }
    if (o->levels < 0 || o->levels == 1 || o->levels > UINT8_MAX + 1) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "data: %lld grey levels; expected 2 to 256",
                         (long long)o->levels);
    }
    if (o->levels > 2 && o->keep_intensity) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "data: %lld grey levels and keep_intensity; intensities are those of 2",
                         (long long)o->levels);
    }
    if ((!pictures && (o->grey || o->keep_intensity || o->levels || o->height)) ||
        (!alignment && (o->identity > 0 || o->alphabet || o->unknown || o->duplicates))) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT,
            "data: grey, levels, keep_intensity and sides are for pictures, identity, alphabet, "
            "unknown and duplicates are for alignments");
    }
    return SAL_OK;
}

sal_status sal_data_read(const char *path, const sal_data_options *options, sal_data *data,
                         sal_error *err)
{
    const sal_data_options o = options ? *options : (sal_data_options){ 0 };
    bool alignment = o.kind == SAL_DATA_ALIGNMENT;
    const sali_format *format = NULL;
    sali_content content = { 0 };
    sal_data read = { 0 };
    if (!path || !data) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_data_read: the path or the data are NULL");
    }
    sal_status status = check_options(&o, err);
    const sali_content_kind kind = alignment ? SALI_CONTENT_ALIGNMENT : SALI_CONTENT_ARRAY;
    status = status ? status : sali_content_read(path, NULL, kind, &content, &format, err);
    if (status == SAL_OK && format == &sali_format_libsvm) {
        const int64_t sides = o.height * o.width;
        status = widen(path, sides > o.columns ? sides : o.columns, &content.array, err);
    }
    if (status == SAL_OK) {
        status = alignment ? take_alignment(path, &content, &o, &read, &content.remark, err)
                           : take_array(path, &content.array, &o, &read, err);
    }
    status = status ? status : sali_remark_prefix(&content.remark, path, err);
    if (status == SAL_OK) {
        read.remark = content.remark.text;
        read.warns = content.remark.warns;
        content.remark = (sali_remark){ 0 };
    }
    sali_content_free(&content);
    return SALI_GIVE_STRUCT(status, read, data, sal_data_destroy);
}
