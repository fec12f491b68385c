/* SPDX-License-Identifier: MIT */
/* NumPy's .npy arrays, format versions 1 to 3.
 * Source: NumPy Enhancement Proposal 1 and numpy.lib.format. */
#ifndef SALI_NPY_H
#define SALI_NPY_H

#include <saltus/status.h>

#include "core/dtype.h"
#include "io/scan.h"

#define SALI_NPY_MAX_DIM 4

/* An array in the bytes of such a file or of IDX. Elements keep their type and order. */
typedef struct sali_npy {
    int ndim; /* 0 for a single number */
    int64_t shape[SALI_NPY_MAX_DIM];
    int64_t count; /* elements: the product of the shape */
    sali_dtype dtype;
    int big_endian, fortran_order;
    const unsigned char *data; /* count * sali_dtype_bytes(dtype) bytes, of any alignment */
} sali_npy;

/* The array in a file of booleans, integers and floats of 16, 32 and 64 bits; it fails for anything
 * else, a size that is not the header's, or more than 4 dimensions. */
sali_npy sali_npy_view(sali_scan *scan);

/* All elements in C order into `count` doubles. */
void sali_npy_doubles(const sali_npy *array, double *out);

/* Write an array in C order, atomically. Data in the host's order.
 * Returns:   ARGUMENT for BF16 or a bad shape; IO; MEMORY. */
sal_status sali_npy_write(const char *path, sali_dtype dtype, int ndim, const int64_t *shape,
                          const void *data, sal_error *err);

#endif
