/* SPDX-License-Identifier: MIT */
#include "io/arrays/array_file.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/format.h"

sal_status sali_array_make(const char *name, int ndim, const int64_t *shape, sal_array *array,
                           sal_error *err)
{
    int64_t count = sali_shape_count(shape, ndim, sizeof(double));
    if (ndim < 1 || count < 1) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: an array of %d dimensions without elements, or too large", name,
                         ndim);
    }
    *array = (sal_array){ .ndim = ndim, .count = count };
    memcpy(array->shape, shape, (size_t)ndim * sizeof *shape);
    array->values = SALI_NEW_ARRAY(double, count);
    return array->values ? SAL_OK : sali_fail_memory(err);
}

sal_status sali_array_check(const char *name, const sal_array *array, sal_error *err)
{
    for (int64_t i = 0; i < array->count; i++) {
        if (!isfinite(array->values[i])) {
            return sali_fail(err, SAL_ERR_DATA, "%s: element %lld is %g; expected finite numbers",
                             name, (long long)i, array->values[i]);
        }
    }
    return SAL_OK;
}

sal_status sali_array_take(const char *name, const sali_npy *from, sal_array *array, sal_error *err)
{
    sal_status status = sali_array_make(name, from->ndim, from->shape, array, err);
    if (status == SAL_OK) {
        sali_npy_doubles(from, array->values);
    }
    return status ? status : sali_array_check(name, array, err);
}

sali_dtype sali_array_dtype(const sal_array *array)
{
    bool bytes = true, floats = true;
    for (int64_t i = 0; i < array->count && floats; i++) {
        double x = array->values[i];
        bytes = bytes && x >= 0 && x <= 255 && x == floor(x) && !signbit(x);
        floats = fabs(x) <= 3.4028234663852886e38 && (double)(float)x == x;
    }
    return !floats ? SALI_DTYPE_F64 : bytes ? SALI_DTYPE_U8 : SALI_DTYPE_F32;
}

void *sali_array_pack(const sal_array *array, sali_dtype dtype)
{
    void *packed = sali_alloc(array->count, (size_t)sali_dtype_bytes(dtype));
    for (int64_t i = 0; packed && i < array->count; i++) {
        double x = array->values[i];
        if (dtype == SALI_DTYPE_U8) {
            ((uint8_t *)packed)[i] = (uint8_t)x;
        } else if (dtype == SALI_DTYPE_F32) {
            ((float *)packed)[i] = (float)x;
        } else {
            ((double *)packed)[i] = x;
        }
    }
    return packed;
}

/* ---- in public */

sal_status sal_array_read(const char *path, sal_array *out, sal_error *err)
{
    sali_bytes bytes = { 0 };
    sali_npy view = { 0 };
    sal_array array = { 0 };
    sal_status status = sali_file_read_gz(path, SALI_GUNZIP_MAX, &bytes, err);
    bool npy = status == SAL_OK && sali_format_npy.recognise((const char *)bytes.data, bytes.size);
    if (npy) {
        status = sali_npy_parse(path, bytes.data, bytes.size, &view, err);
        status = status ? status : sali_array_make(path, view.ndim, view.shape, &array, err);
    }
    if (npy && status == SAL_OK) {
        sali_npy_doubles(&view, array.values);
    }
    sali_bytes_free(&bytes);
    if (!npy && status == SAL_OK) {
        sali_content content = { 0 };
        status = sali_content_read(path, NULL, SALI_CONTENT_ARRAY, &content, NULL, err);
        array = content.array;
    }
    if (status != SAL_OK) {
        sal_array_free(&array);
        return status;
    }
    *out = array;
    return SAL_OK;
}

sal_status sal_array_write(const char *path, const sal_array *array, sal_error *err)
{
    if (!array->whole) {
        return sali_npy_write(path, SALI_DTYPE_F64, array->ndim, array->shape, array->values, err);
    }
    int32_t *whole = SALI_NEW_ARRAY(int32_t, array->count);
    for (int64_t i = 0; whole && i < array->count; i++) {
        whole[i] = (int32_t)array->values[i];
    }
    sal_status status =
        whole ? sali_npy_write(path, SALI_DTYPE_I32, array->ndim, array->shape, whole, err)
              : sali_fail_memory(err);
    sali_free(whole);
    return status;
}

/* ---- rows */

sal_status sali_number_rows_value(sali_number_rows *rows, double value, sal_error *err)
{
    if (sali_grow((void **)&rows->values, &rows->room, rows->count + 1, sizeof(double)) != 0) {
        return sali_fail_memory(err);
    }
    rows->values[rows->count++] = value;
    return SAL_OK;
}

sal_status sali_number_rows_label(sali_number_rows *rows, int32_t label, sal_error *err)
{
    if (sali_grow((void **)&rows->labels, &rows->labels_room, rows->rows + 1, sizeof(int32_t)) !=
        0) {
        return sali_fail_memory(err);
    }
    rows->labels[rows->rows] = label;
    return SAL_OK;
}

void sali_number_rows_free(sali_number_rows *rows)
{
    sali_free(rows->values);
    sali_free(rows->labels);
    *rows = (sali_number_rows){ 0 };
}
