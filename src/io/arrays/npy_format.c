/* NumPy's files as arrays: their record. */
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/arrays/array_file.h"
#include "io/format.h"
#include "io/arrays/npy.h"

static bool looks_like_npy(const char *data, int64_t size)
{
    return size >= 6 && memcmp(data, "\x93NUMPY", 6) == 0;
}

static sal_status parse_npy(const char *name, const char *data, int64_t size, sali_content *out,
                            sal_error *err)
{
    sali_npy npy = { 0 };
    sali_content content = { .kind = SALI_CONTENT_ARRAY };
    sal_status status = sali_npy_parse(name, data, size, &npy, err);
    status = status ? status : sali_array_make(name, npy.ndim, npy.shape, &content.array, err);
    if (status == SAL_OK) {
        sali_npy_doubles(&npy, content.array.values);
        status = sali_array_check(name, &content.array, err);
    }
    if (status != SAL_OK) {
        sali_content_free(&content);
        return status;
    }
    *out = content;
    return SAL_OK;
}

static sal_status write_npy(const char *path, const sali_content *content, sal_error *err)
{
    const sali_array *array = &content->array;
    sali_dtype dtype = sali_array_dtype(array);
    void *packed = sali_array_pack(array, dtype);
    sal_status status = packed ? sali_npy_write(path, dtype, array->ndim, array->shape, packed, err)
                               : sali_fail_memory(err);
    sali_free(packed);
    return status;
}

const sali_format sali_format_npy = {
    .name = "npy",
    .doc = "NumPy's arrays; written in bytes or floats where they hold all values",
    .suffixes = { ".npy" },
    .content = SALI_CONTENT_ARRAY,
    .recognise = looks_like_npy,
    .has_heading = true,
    .parse = parse_npy,
    .write = write_npy,
};
