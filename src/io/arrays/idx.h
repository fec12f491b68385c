/* IDX arrays, the format of MNIST: two zero bytes, a type, the number of dimensions, big-endian
 * sizes, then the elements, big-endian and in C order; often inside gzip. */
#ifndef SALI_IDX_H
#define SALI_IDX_H

#include <saltus/status.h>

#include "io/dtype.h"
#include "io/file.h"

#define SALI_IDX_MAX_DIM 4

typedef struct sali_idx {
    int ndim; /* 1 to 4 */
    int64_t shape[SALI_IDX_MAX_DIM];
    int64_t count;             /* elements: the product of the shape */
    sali_dtype dtype;          /* U8, I8, I16, I32, F32 or F64 */
    const unsigned char *data; /* the elements; with dtype U8 they can be used as they are */
    sali_bytes file;           /* empty when the bytes are borrowed */
} sali_idx;

/* Read a file, compressed or not.
 * Returns:   DATA for an unknown type, or a size that is not the header's; those of
 *            sali_file_read_gz. On failure *out is untouched. */
sal_status sali_idx_read(const char *path, sali_idx *out, sal_error *err);

/* The same from memory that is not compressed and outlives *out; `name` is for messages. */
sal_status sali_idx_parse(const char *name, const void *bytes, int64_t size, sali_idx *out,
                          sal_error *err);

void sali_idx_free(sali_idx *array);

/* All elements into `count` doubles. */
void sali_idx_doubles(const sali_idx *array, double *out);

#endif
