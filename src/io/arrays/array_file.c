/* SPDX-License-Identifier: MIT */
#include "io/arrays/array_file.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

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

sal_status sali_array_take(const char *name, const sali_npy *from, sal_array *array, sal_error *err)
{
    sal_status status = sali_array_make(name, from->ndim, from->shape, array, err);
    if (status == SAL_OK) {
        sali_npy_doubles(from, array->values);
    }
    return status;
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

void sali_array_put(sali_text_output *w, const sal_array *array, sali_dtype dtype, bool big_endian)
{
    const int size = sali_dtype_bytes(dtype);
    void *packed = sali_alloc(array->count, (size_t)size);
    for (int64_t i = 0; sali_text_granted(w, packed) && i < array->count; i++) {
        double x = array->values[i];
        if (dtype == SALI_DTYPE_U8) {
            ((uint8_t *)packed)[i] = (uint8_t)x;
        } else if (dtype == SALI_DTYPE_F32) {
            ((float *)packed)[i] = (float)x;
        } else {
            ((double *)packed)[i] = x;
        }
    }
    if (packed && big_endian != SALI_BIG_ENDIAN) {
        sali_dtype_turn(packed, array->count, size);
    }
    sali_put_bytes(w, packed, array->count * size);
    sali_free(packed);
}
