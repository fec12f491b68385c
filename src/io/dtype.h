/* Element types of array files and their conversion. */
#ifndef SALI_DTYPE_H
#define SALI_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sali_dtype {
    SALI_DTYPE_BOOL,
    SALI_DTYPE_I8,
    SALI_DTYPE_U8,
    SALI_DTYPE_I16,
    SALI_DTYPE_U16,
    SALI_DTYPE_I32,
    SALI_DTYPE_U32,
    SALI_DTYPE_I64,
    SALI_DTYPE_U64,
    SALI_DTYPE_F16,
    SALI_DTYPE_BF16,
    SALI_DTYPE_F32,
    SALI_DTYPE_F64
} sali_dtype;

/* Bytes of one element: 1, 2, 4 or 8. */
int sali_dtype_bytes(sali_dtype dtype);

/* "F32", as safetensors files call it; and the type of a name, false for none. */
const char *sali_dtype_name(sali_dtype dtype);
bool sali_dtype_find(const char *name, sali_dtype *out);

/* One element, from bytes of any alignment. 64-bit integers beyond 2^53 are rounded. */
double sali_dtype_load(sali_dtype dtype, const unsigned char *bytes, int big_endian);

/* One element as an integer; 0 when it is not a whole number of the range of int64_t. */
int sali_dtype_load_int(sali_dtype dtype, const unsigned char *bytes, int big_endian, int64_t *out);

/* The product of `ndim` dimensions; -1 when one is negative or `product * size` overflows. */
int64_t sali_shape_count(const int64_t *shape, int ndim, int64_t size);

#endif
