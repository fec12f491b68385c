/* SPDX-License-Identifier: MIT */
#include "io/arrays/idx.h"

#include "io/arrays/array_file.h"
#include "io/format.h"

sali_npy sali_idx_view(sali_scan *scan)
{
    const sali_npy none = { 0 };
    sali_npy array = { .big_endian = 1 };
    const unsigned char *bytes = (const unsigned char *)scan->begin;
    const int64_t size = scan->end - scan->begin;
    if (size < 4 || bytes[0] != 0 || bytes[1] != 0) {
        sali_scan_refuse(scan, "is not an IDX file (it does not begin with two zero bytes, a type "
                               "and a number of dimensions)");
        return none;
    }
    array.ndim = bytes[3];
    int64_t begin = 4 + 4 * array.ndim;
    if (bytes[2] == 0 || !sali_dtype_find(NULL, NULL, bytes[2], &array.dtype)) {
        sali_scan_refuse(scan, "IDX type 0x%02x; expected 0x08, 0x09, 0x0b, 0x0c, 0x0d or 0x0e",
                         bytes[2]);
    } else if (array.ndim < 1 || array.ndim > SALI_NPY_MAX_DIM) {
        sali_scan_refuse(scan, "%d dimensions; expected 1 to 4", array.ndim);
    } else if (size < begin) {
        sali_scan_refuse(scan, "the IDX header ends too early");
    }
    for (int i = 0; scan->status == SAL_OK && i < array.ndim; i++) {
        array.shape[i] = (int64_t)sali_dtype_load(SALI_DTYPE_U32, bytes + 4 + 4 * i, 1);
    }
    int width = sali_dtype_bytes(array.dtype);
    array.count = scan->status == SAL_OK ? sali_shape_count(array.shape, array.ndim, width) : -1;
    if (array.count < 0 || array.count * width != size - begin) {
        sali_scan_refuse(
            scan,
            "%lld bytes follow the IDX header; expected the product of its sizes times "
            "%d",
            (long long)(size - begin), width);
        return none;
    }
    array.data = bytes + begin;
    return array;
}

/* ---- the record */

static bool recognise(sali_scan *scan)
{
    sali_idx_view(scan);
    return scan->status == SAL_OK;
}

/* Read the array, whose numbers must be finite. */
static void parse(sali_scan *scan, sali_content *out)
{
    sali_npy idx = sali_idx_view(scan);
    if (scan->status == SAL_OK) {
        scan->status = sali_array_take(scan->name, &idx, &out->array, scan->err);
    }
    if (scan->status == SAL_OK) {
        scan->status = sali_array_check(scan->name, &out->array, scan->err);
    }
}

/* Write the array as bytes, floats or doubles, the smallest type that holds it; fails for sizes
 * from 2^32 on. */
static void write(sali_text_output *w, const sali_content *content)
{
    const sal_array *array = &content->array;
    sali_dtype dtype = sali_array_dtype(array);
    unsigned char header[4 + 4 * SAL_ARRAY_DIMENSIONS] = { 0, 0 };
    header[2] = (unsigned char)sali_dtype_idx(dtype);
    header[3] = (unsigned char)array->ndim;
    for (int d = 0; d < array->ndim; d++) {
        if (array->shape[d] > UINT32_MAX) {
            sali_text_fail(w, SAL_ERR_ARGUMENT, "IDX holds sizes below 2^32 only");
        }
        for (int b = 0; b < 4; b++) {
            header[4 + 4 * d + b] = (unsigned char)(array->shape[d] >> (24 - 8 * b));
        }
    }
    sali_put_bytes(w, header, 4 + 4 * array->ndim);
    sali_array_put(w, array, dtype, true);
}

const sali_format sali_format_idx = {
    .name = "idx",
    .doc = "arrays of the MNIST kind; written in bytes where they hold all values",
    .suffixes = { "-ubyte", ".idx", ".idx1", ".idx3" },
    .content = SALI_CONTENT_ARRAY,
    .comments = SALI_BYTES,
    .recognise = recognise,
    .parse = parse,
    .write = write,
};
