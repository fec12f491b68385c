/* IDX files as arrays: their record, and writing them. */
#include "core/alloc.h"
#include "core/error.h"
#include "io/arrays/array_file.h"
#include "io/format.h"
#include "io/arrays/idx.h"

static bool looks_like_idx(const char *data, int64_t size)
{
    sali_idx idx;
    return sali_idx_parse("", data, size, &idx, NULL) == SAL_OK;
}

static sal_status parse_idx(const char *name, const char *data, int64_t size, sali_content *out,
                            sal_error *err)
{
    sali_idx idx = { 0 };
    sali_content content = { .kind = SALI_CONTENT_ARRAY };
    sal_status status = sali_idx_parse(name, data, size, &idx, err);
    status = status ? status : sali_array_make(name, idx.ndim, idx.shape, &content.array, err);
    if (status == SAL_OK) {
        sali_idx_doubles(&idx, content.array.values);
        status = sali_array_check(name, &content.array, err);
    }
    if (status != SAL_OK) {
        sali_content_free(&content);
        return status;
    }
    *out = content;
    return SAL_OK;
}

/* ---- writing */

/* Turn the bytes of `count` elements round, unless the machine has the file's order. */
static void to_big_endian(unsigned char *bytes, int64_t count, int width)
{
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        unsigned char *one = bytes + i * width;
        for (int a = 0, b = width - 1; a < b; a++, b--) {
            unsigned char kept = one[a];
            one[a] = one[b];
            one[b] = kept;
        }
    }
}

/* Type, dimensions and sizes; the length. */
static int64_t make_header(const sali_array *array, sali_dtype dtype, unsigned char *header)
{
    header[0] = header[1] = 0;
    header[2] = dtype == SALI_DTYPE_U8 ? 0x08 : dtype == SALI_DTYPE_F32 ? 0x0d : 0x0e;
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
    const sali_array *array = &content->array;
    for (int d = 0; d < array->ndim; d++) {
        if (array->shape[d] > UINT32_MAX) {
            return sali_fail(err, SAL_ERR_ARGUMENT, "%s: IDX holds sizes below 2^32 only", path);
        }
    }
    unsigned char header[4 + 4 * SALI_ARRAY_MAX_DIM];
    sali_dtype dtype = sali_array_dtype(array);
    int width = sali_dtype_bytes(dtype);
    void *packed = sali_array_pack(array, dtype);
    if (!packed) {
        return sali_fail_memory(err);
    }
    to_big_endian(packed, array->count, width);
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
