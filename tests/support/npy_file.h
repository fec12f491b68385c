/* SPDX-License-Identifier: MIT */
/* Files of arrays with their elements as they stand there, in memory of the array's own. */
#ifndef NPY_FILE_H
#define NPY_FILE_H

#include <stdlib.h>
#include <string.h>

#include "io/arrays/npy.h"
#include "io/file.h"

/* A view of bytes, by sali_npy_view or sali_idx_view. */
static inline sal_status npy_view(sali_npy (*view)(sali_scan *scan), const char *name,
                                  const void *bytes, int64_t size, sali_npy *a, sal_error *err)
{
    sali_scan scan = sali_scan_of(name, bytes, size, SALI_BYTES, err);
    *a = view(&scan);
    return scan.status;
}

/* A file, compressed or not. */
static inline sal_status npy_open(sali_npy (*view)(sali_scan *scan), const char *path, sali_npy *a,
                                  sal_error *err)
{
    sali_bytes file = { 0 };
    sali_npy array = { 0 };
    sal_status status = sali_file_read_unpacked(path, SALI_UNPACK_MAX, &file, err);
    status = status ? status : npy_view(view, path, file.data, file.size, &array, err);
    if (status == SAL_OK) {
        size_t size = (size_t)(array.count * sali_dtype_bytes(array.dtype));
        unsigned char *data = malloc(size + 1);
        memcpy(data, array.data, size);
        array.data = data;
        *a = array;
    }
    sali_bytes_free(&file);
    return status;
}

static inline sal_status npy_read(const char *path, sali_npy *a, sal_error *err)
{
    return npy_open(sali_npy_view, path, a, err);
}

static inline void npy_free(sali_npy *array)
{
    free((void *)array->data);
    *array = (sali_npy){ 0 };
}

#endif
