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

/* The name of a type in each file format: "F32" in safetensors; "f4" in NumPy, without the mark of
 * byte order, NULL for BF16; the type number of IDX files, 0 for types that IDX does not have. */
const char *sali_dtype_name(sali_dtype dtype);
const char *sali_dtype_npy(sali_dtype dtype);
int sali_dtype_idx(sali_dtype dtype);

/* Find the type with this safetensors name, NumPy name or IDX number; pass NULL, NULL and 0 for
 * those not searched by. False: no such type, *out is untouched. */
bool sali_dtype_find(const char *name, const char *npy, int idx, sali_dtype *out);

#define SALI_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* Reverse the byte order of each of `count` elements of `size` bytes, in place. */
void sali_dtype_turn(void *bytes, int64_t count, int size);

/* The value of one element that begins at `bytes`, at any alignment. 64-bit integers beyond 2^53
 * are rounded. */
double sali_dtype_load(sali_dtype dtype, const unsigned char *bytes, int big_endian);

/* The product of `ndim` dimensions; -1 when one is negative or the product times `size`
 * overflows. */
int64_t sali_shape_count(const int64_t *shape, int ndim, int64_t size);

#endif
