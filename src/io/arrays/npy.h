/* NumPy's .npy arrays, format versions 1 to 3.
 * Source: NumPy Enhancement Proposal 1 and numpy.lib.format. */
#ifndef SALI_NPY_H
#define SALI_NPY_H

#include <saltus/status.h>

#include "io/dtype.h"
#include "io/file.h"

#define SALI_NPY_MAX_DIM 4

/* An array in a file's bytes. Elements keep their type and order; the functions below convert. */
typedef struct sali_npy {
    int ndim; /* 0 for a single number */
    int64_t shape[SALI_NPY_MAX_DIM];
    int64_t count; /* elements: the product of the shape */
    sali_dtype dtype;
    int big_endian, fortran_order;
    const unsigned char *data; /* count * sali_dtype_bytes(dtype) bytes, of any alignment */
    sali_bytes file;           /* empty when the bytes are borrowed */
} sali_npy;

/* Read booleans, integers and floats of 16, 32 and 64 bits.
 * Returns:   DATA for anything else, a size that is not the header's, or more than 4 dimensions;
 *            those of sali_file_read. On failure *out is untouched. */
sal_status sali_npy_read(const char *path, sali_npy *out, sal_error *err);

/* The same from memory, which must outlive *out; `name` is for messages. */
sal_status sali_npy_parse(const char *name, const void *bytes, int64_t size, sali_npy *out,
                          sal_error *err);

void sali_npy_free(sali_npy *array);

/* All elements in C order into `count` doubles or floats. */
void sali_npy_doubles(const sali_npy *array, double *out);
void sali_npy_floats(const sali_npy *array, float *out);

/* All elements in C order as codes. DATA for one that is not a whole number of int32_t's range;
 * then out is filled in part. */
sal_status sali_npy_codes(const sali_npy *array, const char *name, int32_t *out, sal_error *err);

/* Write an array in C order, atomically. `dtype` is F32, F64, U8 or I32, data in the host's order.
 * Returns:   ARGUMENT for another type or a bad shape; IO; MEMORY. */
sal_status sali_npy_write(const char *path, sali_dtype dtype, int ndim, const int64_t *shape,
                          const void *data, sal_error *err);

/* Writing of an array that comes in pieces; its shape is known from the start. */
typedef struct sali_npy_writer sali_npy_writer;

sal_status sali_npy_writer_open(const char *path, sali_dtype dtype, int ndim, const int64_t *shape,
                                sali_npy_writer **out, sal_error *err);

/* The next `count` elements in C order. ARGUMENT when they are more than the shape has. */
sal_status sali_npy_writer_append(sali_npy_writer *writer, const void *data, int64_t count,
                                  sal_error *err);

/* Put the file in its place; the writer is gone whatever is returned. ARGUMENT when elements are
 * missing: then no file is written. */
sal_status sali_npy_writer_close(sali_npy_writer *writer, sal_error *err);

/* Write no file. NULL is fine. */
void sali_npy_writer_discard(sali_npy_writer *writer);

#endif
