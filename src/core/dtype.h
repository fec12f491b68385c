/* SPDX-License-Identifier: MIT */
/* Types of the elements of arrays, in memory and in files, and their conversion. */
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

/* "F32", as safetensors files call it; "f4", as NumPy does without the order of bytes, NULL for
 * BF16; the number that IDX files have for it, 0 for none. */
const char *sali_dtype_name(sali_dtype dtype);
const char *sali_dtype_npy(sali_dtype dtype);
int sali_dtype_idx(sali_dtype dtype);

/* The type of one of these, the others being NULL and 0; false for none. */
bool sali_dtype_find(const char *name, const char *npy, int idx, sali_dtype *out);

#define SALI_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* Turn the bytes of `count` elements round. */
void sali_dtype_turn(void *bytes, int64_t count, int size);

/* One element, from bytes of any alignment. 64-bit integers beyond 2^53 are rounded. */
double sali_dtype_load(sali_dtype dtype, const unsigned char *bytes, int big_endian);

/* The product of `ndim` dimensions; -1 when one is negative or `product * size` overflows. */
int64_t sali_shape_count(const int64_t *shape, int ndim, int64_t size);

#endif
