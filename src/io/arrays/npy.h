/* SPDX-License-Identifier: MIT */
/* NumPy's .npy arrays, format versions 1 to 3.
 * Source: NumPy Enhancement Proposal 1 and numpy.lib.format. */
#ifndef SALI_NPY_H
#define SALI_NPY_H

#include <saltus/status.h>

#include "core/dtype.h"
#include "io/scan.h"

#define SALI_NPY_MAX_DIM 4

/* A view of an array in the bytes of an .npy or IDX file. Elements keep their type and order. */
typedef struct sali_npy {
    int ndim; /* 0 for a single number */
    int64_t shape[SALI_NPY_MAX_DIM];
    int64_t count; /* elements: the product of the shape */
    sali_dtype dtype;
    int big_endian, fortran_order;
    const unsigned char *data; /* count * sali_dtype_bytes(dtype) bytes, of any alignment */
} sali_npy;

/* The array in the text of a file: booleans, integers, and floats of 16, 32 and 64 bits. Fails for
 * anything else, for a size that differs from the header's, and for more than 4 dimensions. */
sali_npy sali_npy_view(sali_scan *scan);

/* Convert all elements, in C order, to `count` doubles. */
void sali_npy_doubles(const sali_npy *array, double *out);

/* Write an array in C order, atomically; `data` has the host's byte order.
 * Returns:   ARGUMENT for BF16 or a bad shape; IO; MEMORY. */
sal_status sali_npy_write(const char *path, sali_dtype dtype, int ndim, const int64_t *shape,
                          const void *data, sal_error *err);

#endif
