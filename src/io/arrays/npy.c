#include "io/arrays/npy.h"

#include <string.h>

#include "core/error.h"
#include "io/arrays/npy_header.h"

/* The magic string, the version, and the header's length in 2 bytes (version 1) or 4. */
static sal_status read_preamble(const char *name, const unsigned char *bytes, int64_t size,
                                int64_t *begin, int64_t *length, sal_error *err)
{
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: is not a .npy file (it does not begin with "
                         "\\x93NUMPY and a version)",
                         name);
    }
    int version = bytes[6];
    if (version < 1 || version > 3 || bytes[7] != 0) {
        return sali_fail(err, SAL_ERR_DATA, "%s: .npy version %d.%d; expected 1.0, 2.0 or 3.0",
                         name, version, bytes[7]);
    }
    *begin = version == 1 ? 10 : 12;
    if (size < *begin) {
        return sali_fail(err, SAL_ERR_DATA, "%s: the .npy header ends too early", name);
    }
    *length = bytes[8] | bytes[9] << 8;
    if (version > 1) {
        *length |= (int64_t)bytes[10] << 16 | (int64_t)bytes[11] << 24;
    }
    if (*length > size - *begin) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: the .npy header should have %lld bytes, but %lld are left", name,
                         (long long)*length, (long long)(size - *begin));
    }
    return SAL_OK;
}

sal_status sali_npy_parse(const char *name, const void *bytes, int64_t size, sali_npy *out,
                          sal_error *err)
{
    int64_t begin = 0;
    int64_t length = 0;
    sal_status status = read_preamble(name, bytes, size, &begin, &length, err);
    if (status != SAL_OK) {
        return status;
    }
    sali_npy array = { 0 };
    status = sali_npy_header_parse(name, (const char *)bytes + begin, length, &array, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t have = size - begin - length;
    int64_t want = array.count * sali_dtype_bytes(array.dtype);
    if (have != want) {
        return sali_fail(err, SAL_ERR_DATA,
                         "%s: the array needs %lld bytes after the header, but %lld are there",
                         name, (long long)want, (long long)have);
    }
    array.data = (const unsigned char *)bytes + begin + length;
    *out = array;
    return SAL_OK;
}

sal_status sali_npy_read(const char *path, sali_npy *out, sal_error *err)
{
    sali_bytes file = { 0 };
    sal_status status = sali_file_read(path, &file, err);
    if (status != SAL_OK) {
        return status;
    }
    status = sali_npy_parse(path, file.data, file.size, out, err);
    if (status != SAL_OK) {
        sali_bytes_free(&file);
        return status;
    }
    out->file = file;
    return SAL_OK;
}

void sali_npy_free(sali_npy *array)
{
    sali_bytes_free(&array->file);
    *array = (sali_npy){ 0 };
}

/* The element of C-order index i. */
static const unsigned char *element(const sali_npy *a, int64_t i)
{
    int64_t at = i;
    if (a->fortran_order) {
        int64_t stride = a->count;
        at = 0;
        for (int d = a->ndim - 1; d >= 0; d--) {
            stride /= a->shape[d]; /* there is an element, so no dimension is 0 */
            at += i % a->shape[d] * stride;
            i /= a->shape[d];
        }
    }
    return a->data + at * sali_dtype_bytes(a->dtype);
}

void sali_npy_doubles(const sali_npy *array, double *out)
{
    for (int64_t i = 0; i < array->count; i++) {
        out[i] = sali_dtype_load(array->dtype, element(array, i), array->big_endian);
    }
}

void sali_npy_floats(const sali_npy *array, float *out)
{
    for (int64_t i = 0; i < array->count; i++) {
        out[i] = (float)sali_dtype_load(array->dtype, element(array, i), array->big_endian);
    }
}

sal_status sali_npy_codes(const sali_npy *array, const char *name, int32_t *out, sal_error *err)
{
    for (int64_t i = 0; i < array->count; i++) {
        const unsigned char *bytes = element(array, i);
        int64_t code;
        if (!sali_dtype_load_int(array->dtype, bytes, array->big_endian, &code) ||
            code < INT32_MIN || code > INT32_MAX) {
            return sali_fail(err, SAL_ERR_DATA,
                             "%s: element %lld is %g; expected codes: whole numbers of 32 bits",
                             name, (long long)i,
                             sali_dtype_load(array->dtype, bytes, array->big_endian));
        }
        out[i] = (int32_t)code;
    }
    return SAL_OK;
}
