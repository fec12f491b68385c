/* SPDX-License-Identifier: MIT */
#include "io/arrays/idx.h"

#include "core/alloc.h"
#include "core/error.h"
#include "io/arrays/array_file.h"
#include "io/format.h"

/* The four bytes before the sizes. */
static sal_status read_magic(const char *name, const unsigned char *bytes, int64_t size,
                             sali_npy *array, sal_error *err)
{
    if (size < 4 || bytes[0] != 0 || bytes[1] != 0) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: is not an IDX file (it does not begin with two "
                         "zero bytes, a type and a number of dimensions)",
                         name);
    }
    if (bytes[2] == 0 || !sali_dtype_find(NULL, NULL, bytes[2], &array->dtype)) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: IDX type 0x%02x; expected 0x08, 0x09, 0x0b, 0x0c, 0x0d or 0x0e", name,
                         bytes[2]);
    }
    array->ndim = bytes[3];
    if (array->ndim < 1 || array->ndim > SALI_NPY_MAX_DIM) {
        return sali_fail(err, SAL_ERR_DATA, "%s: %d dimensions; expected 1 to 4", name,
                         array->ndim);
    }
    return SAL_OK;
}

sal_status sali_idx_parse(const char *name, const void *bytes, int64_t size, sali_npy *out,
                          sal_error *err)
{
    sali_npy array = { .big_endian = 1 };
    const unsigned char *p = bytes;
    sal_status status = read_magic(name, p, size, &array, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t begin = 4 + 4 * array.ndim;
    if (size < begin) {
        return sali_fail(err, SAL_ERR_DATA, "%s: the IDX header ends too early", name);
    }
    for (int i = 0; i < array.ndim; i++) {
        array.shape[i] = (int64_t)sali_dtype_load(SALI_DTYPE_U32, p + 4 + 4 * i, 1);
    }
    int width = sali_dtype_bytes(array.dtype);
    array.count = sali_shape_count(array.shape, array.ndim, width);
    if (array.count < 0 || array.count * width != size - begin) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: %lld bytes follow the IDX header; expected the product of its sizes "
                         "times %d",
                         name, (long long)(size - begin), width);
    }
    array.data = p + begin;
    *out = array;
    return SAL_OK;
}

/* ---- the record */

static bool looks_like_idx(const char *data, int64_t size)
{
    sali_npy idx;
    return sali_idx_parse("", data, size, &idx, NULL) == SAL_OK;
}

static sal_status parse_idx(const char *name, const char *data, int64_t size, sali_content *out,
                            sal_error *err)
{
    sali_npy idx = { 0 };
    sal_status status = sali_idx_parse(name, data, size, &idx, err);
    return status ? status : sali_array_take(name, &idx, &out->array, err);
}

/* Type, dimensions and sizes; the length. */
static int64_t make_header(const sal_array *array, sali_dtype dtype, unsigned char *header)
{
    header[0] = header[1] = 0;
    header[2] = (unsigned char)sali_dtype_idx(dtype);
    header[3] = (unsigned char)array->ndim;
    for (int d = 0; d < array->ndim; d++) {
        for (int b = 0; b < 4; b++) {
            header[4 + 4 * d + b] = (unsigned char)(array->shape[d] >> (24 - 8 * b));
        }
    }
    return 4 + 4 * array->ndim;
}

static sal_status write_idx(const char *path, const sali_content *content, sal_error *err)
{
    const sal_array *array = &content->array;
    for (int d = 0; d < array->ndim; d++) {
        if (array->shape[d] > UINT32_MAX) {
            return sali_fail(err, SAL_ERR_ARGUMENT, "%s: IDX holds sizes below 2^32 only", path);
        }
    }
    unsigned char header[4 + 4 * SAL_ARRAY_DIMENSIONS];
    sali_dtype dtype = sali_array_dtype(array);
    int width = sali_dtype_bytes(dtype);
    void *packed = sali_array_pack(array, dtype);
    if (!packed) {
        return sali_fail_memory(err);
    }
    if (!SALI_BIG_ENDIAN) {
        sali_dtype_turn(packed, array->count, width);
    }
    sali_output out = { 0 };
    sal_status status = sali_output_open(path, &out, err);
    if (status == SAL_OK) {
        status = sali_output_write(&out, header, make_header(array, dtype, header), err);
        status = status ? status : sali_output_write(&out, packed, array->count * width, err);
        status = status ? status : sali_output_commit(&out, err);
    }
    sali_output_discard(&out);
    sali_free(packed);
    return status;
}

const sali_format sali_format_idx = {
    .name = "idx",
    .doc = "arrays of the MNIST kind; written in bytes where they hold all values",
    .suffixes = { "-ubyte", ".idx", ".idx1", ".idx3" },
    .content = SALI_CONTENT_ARRAY,
    .recognise = looks_like_idx,
    .parse = parse_idx,
    .write = write_idx,
};
