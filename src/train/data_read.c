/* SPDX-License-Identifier: MIT */
/* Data sets from files of arrays and alignments. */
#include <math.h>
#include <string.h>

#include <saltus/data.h>
#include "core/alloc.h"
#include "core/error.h"
#include "io/arrays/array_file.h"
#include "io/format.h"
#include "models/alphabet.h"
#include "models/zoo/alignment.h"
#include "models/zoo/alignment_rows.h"
#include "train/data.h"

/* ---- which rows */

/* *count receives how many of `rows` rows the options ask for, from o->first on. SAL_ERR_ARGUMENT:
 * there are not so many. */
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

/* A range of greys; what is above `middle` is white. */
typedef struct grey_range {
    double low, high, middle;
} grey_range;

static const grey_range greys[] = {
    [SAL_GREY_BYTES] = { 0, 255, 127 },
    [SAL_GREY_SIGNED] = { -1, 1, 0 },
    [SAL_GREY_UNIT] = { 0, 1, 0.5 },
};

static grey_range range_to(double white)
{
    return (grey_range){ 0, white, white / 2 };
}

/* A summary of the values of a file. */
typedef struct value_summary {
    double low, high;
    bool whole;      /* all are whole numbers */
    int64_t indices; /* number of different whole numbers from 1 to 256 among them */
} value_summary;

#define MOST_LEVELS (UINT8_MAX + 1)

/* The range of labels from 1 to the number of levels. */
static grey_range labels_of(int64_t levels)
{
    const double last = levels > 2 ? (double)levels : 2;
    return (grey_range){ 1, last, (1 + last) / 2 };
}

/* *height and *width receive the sides of the pictures in the rows of an array: of three
 * dimensions, or of two, whose columns are the product of the given sides or a square number.
 * False: the array has no such pictures. */
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

/* The error for an array in which find_sides finds no pictures, with the likely cause. */
static sal_status fail_sides(const char *path, const sal_array *array, const sal_data_options *o,
                             sal_error *err)
{
    long long columns = array->shape[array->ndim - 1];
    if (array->ndim == 4) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: four dimensions, %lld x %lld x %lld x %lld; expected pictures of one "
                         "channel: (rows, 1, height, width) or (rows, height, width, 1)",
                         path, (long long)array->shape[0], (long long)array->shape[1],
                         (long long)array->shape[2], columns);
    }
    const long long side = llround(sqrt((double)columns - 1));
    if (array->ndim == 2 && o->height == 0 && columns > 2 && side * side == columns - 1) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: rows of %lld numbers, one more than pictures of %lld x %lld have. If "
                         "the first column has the labels, name it in a first line that is a "
                         "heading (label,pixel0,pixel1,..); if it counts the rows, take it out",
                         path, columns, side, side);
    }
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

/* The range of the values of an array, and which kind of numbers they are. */
static value_summary summarise_values(const sal_array *array)
{
    value_summary v = { array->values[0], array->values[0], true, 0 };
    bool met[MOST_LEVELS + 1] = { false };
    for (int64_t i = 0; i < array->count; i++) {
        const double value = array->values[i];
        v.low = value < v.low ? value : v.low;
        v.high = value > v.high ? value : v.high;
        v.whole = v.whole && value == floor(value);
        if (v.whole && value >= 1 && value <= MOST_LEVELS && !met[(int)value]) {
            met[(int)value] = true;
            v.indices++;
        }
    }
    return v;
}

/* Whether the values are all the labels 1, 2, .., levels, and nothing else. */
static bool are_labels(const value_summary *v, int64_t levels)
{
    return levels > 2 && v->whole && v->low == 1 && v->high == (double)levels &&
           v->indices == levels;
}

static bool range_holds(grey_range range, const value_summary *v)
{
    return v->low >= range.low && v->high <= range.high;
}

/* The range of the greys of a file whose values fit none of the usual ranges: codes of the
 * requested grey levels, or 0 to the largest value. */
static grey_range range_of_own(const value_summary *v, int64_t levels)
{
    const bool codes = v->whole && levels > 2 && v->high < (double)levels;
    return range_to(codes ? (double)levels - 1 : v->high);
}

/* Add the range of the greys, which was found in the file, to the remark. */
static sal_status remark_range(const grey_range *range, const value_summary *v, int64_t levels,
                               sali_remark *remark, sal_error *err)
{
    if (range->low == 1) {
        return sali_remark_add(remark, true, err,
                               "the values are the whole numbers from 1 to %lld, as many as there "
                               "are levels: taken for labels, so 1 is code 0 (--white %lld reads "
                               "greys from 0 on)",
                               (long long)levels, (long long)levels);
    }
    if (levels > 2 && v->whole && v->high < (double)levels) {
        return sali_remark_add(remark, true, err,
                               "the values are whole numbers from %g to %g: taken for codes of "
                               "%lld grey levels, black is 0",
                               v->low, v->high, (long long)levels);
    }
    return levels > 2 ? sali_remark_add(remark, true, err,
                                        "greys from 0 to %g, the largest value, in %lld levels "
                                        "(--white says another white)",
                                        range->high, (long long)levels)
                      : sali_remark_add(remark, true, err,
                                        "greys from 0 to %g, the largest value, and white is above "
                                        "%g (--white says another white)",
                                        range->high, range->middle);
}

/* The range of the greys: the one that the options say, else the first that holds all values of the
 * file. Sets data->grey and data->white. */
static sal_status find_range(const char *path, const value_summary *v, const sal_data_options *o,
                             sal_data *data, grey_range *range, sali_remark *remark, sal_error *err)
{
    static const sal_grey order[] = { SAL_GREY_UNIT, SAL_GREY_SIGNED, SAL_GREY_BYTES };
    data->grey = o->grey;
    data->white = o->white;
    if (!data->grey && data->white == 0 && are_labels(v, o->levels)) {
        data->grey = SAL_GREY_LABELS;
        *range = labels_of(o->levels);
        return remark_range(range, v, o->levels, remark, err);
    }
    for (int k = 0; k < 3 && !data->grey && data->white == 0; k++) {
        const bool dark = order[k] == SAL_GREY_BYTES && v->high <= greys[SAL_GREY_BYTES].middle;
        data->grey = range_holds(greys[order[k]], v) && !dark ? order[k] : SAL_GREY_FIND;
    }
    if (!data->grey && data->white == 0 && v->low < 0) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: values from %g to %g; expected greys from -1 to 1, or from 0 on",
                         path, v->low, v->high);
    }
    const bool own = !data->grey && data->white == 0;
    *range = own                             ? range_of_own(v, o->levels)
             : data->white > 0               ? range_to(data->white)
             : data->grey == SAL_GREY_LABELS ? labels_of(o->levels)
                                             : greys[data->grey];
    data->white = data->grey ? 0 : range->high;
    if (!range_holds(*range, v) || (data->grey == SAL_GREY_LABELS && !v->whole)) {
        return sali_fail(err, SAL_ERR_DATA, "%s: values from %g to %g; expected %s from %g to %g%s",
                         path, v->low, v->high,
                         data->grey == SAL_GREY_LABELS ? "whole numbers" : "grey values",
                         range->low, range->high,
                         data->white > 0 ? ". Give the value of white (--white X)" : "");
    }
    return own ? remark_range(range, v, o->levels, remark, err) : SAL_OK;
}

/* The code of a grey, which is in the range. */
static uint8_t code_of(double value, const grey_range *range, int64_t levels)
{
    if (levels <= 2) {
        return value > range->middle;
    }
    const int64_t part =
        (int64_t)((value - range->low) * (double)levels / (range->high - range->low));
    return (uint8_t)(part < levels ? part : levels - 1); /* white belongs to the last part */
}

/* Refuse a file whose pixels all get one code, or with intensities have one grey. */
static sal_status check_contrast(const char *path, const value_summary *v, const grey_range *range,
                                 const sal_data_options *o, sal_error *err)
{
    const uint8_t darkest = code_of(v->low, range, o->levels);
    if (o->keep_intensity ? v->low < v->high : darkest != code_of(v->high, range, o->levels)) {
        return SAL_OK;
    }
    if (v->low == v->high) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: every value is %g; there is nothing to learn from pictures of one "
                         "grey",
                         path, v->low);
    }
    return sali_fail(err, SAL_ERR_DATA,
                     "%s: every pixel would have code %d: the values are %g to %g, and greys of "
                     "%g to %g were expected, white above %g. Give the value of white (--white X) "
                     "or more grey levels (--levels N), or keep the numbers (--kind codes)",
                     path, darkest, v->low, v->high, range->low, range->high, range->middle);
}

/* Set the codes of data, its sides and its intensities from the pictures in an array. */
static sal_status take_pictures(const char *path, const sal_array *array, const sal_data_options *o,
                                sal_data *data, sali_remark *remark, sal_error *err)
{
    if (!find_sides(array, o, &data->height, &data->width)) {
        return fail_sides(path, array, o, err);
    }
    data->variables = data->height * data->width;
    grey_range range = { 0 };
    const value_summary v = summarise_values(array);
    sal_status status = find_range(path, &v, o, data, &range, remark, err);
    status = status ? status : check_contrast(path, &v, &range, o, err);
    if (status != SAL_OK) {
        return status;
    }
    const double *values = array->values + o->first * data->variables;
    int64_t count = data->rows * data->variables;
    data->codes = SALI_NEW_ARRAY(uint8_t, count);
    data->intensity = o->keep_intensity ? SALI_NEW_ARRAY(float, count) : NULL;
    if (!data->codes || (o->keep_intensity && !data->intensity)) {
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < count; i++) {
        data->codes[i] = code_of(values[i], &range, o->levels);
        if (data->intensity) {
            data->intensity[i] = (float)((values[i] - range.low) / (range.high - range.low));
        }
    }
    return SAL_OK;
}

/* ---- codes */

/* Set the codes of data from whole numbers in an array; SAL_ERR_DATA if a value is not a code. */
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

/* Set the rows that the options ask for, and their labels. Labels belong to the first dimension, so
 * draws of several chains have none. */
static sal_status take_array(const char *path, const sal_array *array, const sal_data_options *o,
                             sal_data *data, sali_remark *remark, sal_error *err)
{
    bool draws = o->kind == SAL_DATA_DRAWS;
    int64_t rows = draws ? array->count / array->shape[array->ndim - 1] : array->shape[0];
    sal_status status = find_rows(path, rows, o, &data->rows, err);
    if (status == SAL_OK) {
        status = o->kind == SAL_DATA_PICTURES ? take_pictures(path, array, o, data, remark, err)
                                              : take_codes(path, array, o, data, err);
    }
    if (status == SAL_OK && array->labels && rows == array->shape[0]) {
        data->labels = sali_memdup(array->labels + o->first, data->rows, sizeof *data->labels);
        status = data->labels ? SAL_OK : sali_fail_memory(err);
    }
    return status;
}

/* ---- alignments */

/* Set the sequences that the options ask for, and their weights. Rows are counted after some are
 * dropped. The codes of the content may change. */
static sal_status take_alignment(const char *path, sali_content *content, const sal_data_options *o,
                                 sal_data *data, sali_remark *remark, sal_error *err)
{
    double effective;
    sali_alignment alignment = content->alignment;
    const sali_alignment_rules rules = { .unknown = o->unknown, .duplicates = o->duplicates };
    sal_status status = sali_alignment_prepare(&alignment, &rules, remark, err);
    if (status == SAL_ERR_DATA) {
        return sali_fail_prefix(err, status, "%s", path);
    }
    status = status ? status : find_rows(path, alignment.sequences, o, &data->rows, err);
    if (status != SAL_OK) {
        return status;
    }
    if (alignment.names && alignment.sequences == data->rows) { /* all of them */
        data->names = content->alignment.names;
        content->alignment.names = NULL;
    }
    int64_t length = alignment.length;
    data->variables = length;
    memcpy(data->alphabet, alignment.alphabet, sizeof data->alphabet);
    data->codes = sali_memdup(alignment.codes + o->first * length, data->rows * length, 1);
    data->weight = o->identity > 0 ? SALI_NEW_ARRAY(double, data->rows) : NULL;
    if (!data->codes || (o->identity > 0 && !data->weight)) {
        return sali_fail_memory(err);
    }
    sali_alignment part = { .sequences = data->rows, .length = length, .codes = data->codes };
    return data->weight ? sali_alignment_weights(&part, o->identity, data->weight, &effective, err)
                        : SAL_OK;
}

static bool has_options_of_pictures(const sal_data_options *o)
{
    return o->grey || o->white > 0 || o->keep_intensity || o->levels || o->height;
}

static bool has_options_of_alignments(const sal_data_options *o)
{
    return o->identity > 0 || (o->alphabet && strcmp(o->alphabet, "auto") != 0) || o->unknown ||
           o->duplicates;
}

/* SAL_ERR_ARGUMENT unless the options are in range and go together. */
static sal_status check_options(const sal_data_options *o, sal_error *err)
{
    bool pictures = o->kind == SAL_DATA_PICTURES, alignment = o->kind == SAL_DATA_ALIGNMENT;
    if ((int)o->kind < 0 || o->kind > SAL_DATA_ALIGNMENT || (int)o->grey < 0 ||
        o->grey > SAL_GREY_LABELS || (int)o->columns_from < 0 ||
        o->columns_from > SAL_COLUMNS_FROM_1 || (int)o->unknown < 0 ||
        o->unknown > SAL_UNKNOWN_ERROR || (int)o->duplicates < 0 ||
        o->duplicates > SAL_DUPLICATES_DROP || !(o->identity >= 0 && o->identity <= 1)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "data: kind %d, grey %d, columns_from %d, unknown %d, "
                         "duplicates %d, identity %g; expected values of the header, and an "
                         "identity of 0 to 1",
                         (int)o->kind, (int)o->grey, (int)o->columns_from, (int)o->unknown,
                         (int)o->duplicates, o->identity);
    }
    int64_t pixels = 0;
    if (!(o->white >= 0) || isinf(o->white) || (o->white > 0 && o->grey)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "data: white %g, grey %d; expected a finite number above 0 and grey 0, or "
                         "white 0",
                         o->white, (int)o->grey);
    }
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
    if ((!pictures && has_options_of_pictures(o)) || (!alignment && has_options_of_alignments(o))) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "data: grey, white, levels, keep_intensity and sides are for pictures, "
                         "identity, alphabet, unknown and duplicates are for alignments");
    }
    return SAL_OK;
}

/* ---- what else is known of a file, and what it has beside its pixels */

/* *known receives what the options, and the companion file, tell about the columns of a libsvm
 * file. */
static sal_status known_columns(const sal_data_options *o, sali_reading *known, sal_error *err)
{
    const int64_t sides = o->height * o->width;
    *known = (sali_reading){
        .columns_from = o->columns_from,
        .columns = sides > o->columns ? sides : o->columns,
        .pictures = o->kind == SAL_DATA_PICTURES,
        .asks = true,
    };
    if (!o->companion || o->kind == SAL_DATA_ALIGNMENT) {
        return SAL_OK;
    }
    sali_content other = { 0 };
    sal_status status =
        sali_content_read(o->companion, NULL, SALI_CONTENT_ARRAY, &other, NULL, err);
    if (status == SAL_OK && other.columns.from) {
        known->companion = other.columns;
    } else if (status == SAL_OK) {
        const int64_t width = other.array.count / other.array.shape[0];
        known->columns = width > known->columns ? width : known->columns;
    }
    sali_content_free(&other);
    return status;
}

/* Give an array (rows, 1, height, width) or (rows, height, width, 1) three dimensions. */
static void drop_channel(sal_array *a)
{
    if (a->ndim == 4 && (a->shape[1] == 1 || a->shape[3] == 1)) {
        const bool first = a->shape[1] == 1;
        a->shape[1] = a->shape[1 + first];
        a->shape[2] = a->shape[2 + first];
        a->ndim = 3;
    }
}

/* Move the first or the last column of a table to its labels. */
static sal_status take_labels(const char *path, bool last, sal_array *a, sali_remark *remark,
                              sal_error *err)
{
    const int64_t rows = a->shape[0], columns = a->shape[1];
    a->labels = SALI_NEW_ARRAY(int32_t, rows);
    sal_status status =
        !a->labels ? sali_fail_memory(err)
        : last     ? sali_remark_add(remark, true, err,
                                     "the last column has whole numbers, and the others are a square "
                                         "picture: taken for labels, as in other files .amat")
                   : sali_remark_add(remark, false, err, "the first column has the labels");
    if (status != SAL_OK) {
        return status;
    }
    for (int64_t r = 0; r < rows; r++) {
        const double label = a->values[r * columns + (last ? columns - 1 : 0)];
        if (!(label >= INT32_MIN && label <= INT32_MAX) || label != floor(label)) {
            return sali_fail(err, SAL_ERR_DATA,
                             "%s: row %lld has the label %g; expected a whole number of 32 bits "
                             "in the column of labels",
                             path, (long long)r, label);
        }
        a->labels[r] = (int32_t)label;
        memmove(a->values + r * (columns - 1), a->values + r * columns + !last,
                (size_t)(columns - 1) * sizeof *a->values);
    }
    a->shape[1] = columns - 1;
    a->count = rows * (columns - 1);
    return SAL_OK;
}

/* Bring an array into the form of a data set: labels apart, pictures of one channel. */
static sal_status arrange_array(const char *path, const sal_data_options *o, sali_content *content,
                                sal_error *err)
{
    if (o->kind != SAL_DATA_PICTURES && o->kind != SAL_DATA_CODES) {
        return SAL_OK;
    }
    drop_channel(&content->array);
    return content->label_first || content->label_last
               ? take_labels(path, content->label_last, &content->array, &content->remark, err)
               : SAL_OK;
}

/* sal_data_read, of this kind. */
static sal_status read_kind(const char *path, const sal_data_options *o, sal_data *data,
                            sal_error *err)
{
    bool alignment = o->kind == SAL_DATA_ALIGNMENT;
    char letters[SAL_ALPHABET_ROOM];
    sali_content content = { 0 };
    sal_data read = { 0 };
    sal_status status = check_options(o, err);
    const sali_content_kind kind = alignment ? SALI_CONTENT_ALIGNMENT : SALI_CONTENT_ARRAY;
    sali_reading known;
    if (status == SAL_OK && sali_alphabet_parse(o->alphabet, letters, err) != SAL_OK) {
        status = sali_fail_prefix(err, SAL_ERR_ARGUMENT, "data");
    }
    status = status ? status : known_columns(o, &known, err);
    known.alphabet = letters;
    status = status ? status : sali_content_read_as(path, NULL, kind, &known, &content, NULL, err);
    status = status || alignment ? status : arrange_array(path, o, &content, err);
    if (status == SAL_OK) {
        read.columns_from = content.columns.from;
        status = alignment ? take_alignment(path, &content, o, &read, &content.remark, err)
                           : take_array(path, &content.array, o, &read, &content.remark, err);
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

/* Whether a file holds aligned sequences. */
static bool has_sequences(const char *path)
{
    const sali_format *format = NULL;
    return sali_format_find(path, SALI_CONTENT_NONE, &format, NULL) == SAL_OK && format &&
           format->content == SALI_CONTENT_ALIGNMENT;
}

sal_status sal_data_read(const char *path, const sal_data_options *options, sal_data *data,
                         sal_error *err)
{
    sal_data_options o = options ? *options : (sal_data_options){ 0 };
    if (!path || !data) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_data_read: the path or the data are NULL");
    }
    const bool open = o.kind == SAL_DATA_PICTURES && !has_options_of_pictures(&o);
    sal_status status = read_kind(path, &o, data, err);
    if ((status == SAL_ERR_ARGUMENT || status == SAL_ERR_DATA) && open && has_sequences(path)) {
        o.kind = SAL_DATA_ALIGNMENT;
        status = read_kind(path, &o, data, err);
    }
    return status;
}
