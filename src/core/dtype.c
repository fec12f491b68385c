/* SPDX-License-Identifier: MIT */
#include "core/dtype.h"

#include <math.h>
#include <string.h>

/* Names in safetensors and NumPy, number in IDX, bytes of an element. NULL or 0: the format has no
 * such type. */
static const struct {
    const char *name, *npy;
    int idx, bytes;
} types[] = {
    [SALI_DTYPE_BOOL] = { "BOOL", "b1", 0, 1 },  [SALI_DTYPE_I8] = { "I8", "i1", 0x09, 1 },
    [SALI_DTYPE_U8] = { "U8", "u1", 0x08, 1 },   [SALI_DTYPE_I16] = { "I16", "i2", 0x0b, 2 },
    [SALI_DTYPE_U16] = { "U16", "u2", 0, 2 },    [SALI_DTYPE_I32] = { "I32", "i4", 0x0c, 4 },
    [SALI_DTYPE_U32] = { "U32", "u4", 0, 4 },    [SALI_DTYPE_I64] = { "I64", "i8", 0, 8 },
    [SALI_DTYPE_U64] = { "U64", "u8", 0, 8 },    [SALI_DTYPE_F16] = { "F16", "f2", 0, 2 },
    [SALI_DTYPE_BF16] = { "BF16", NULL, 0, 2 },  [SALI_DTYPE_F32] = { "F32", "f4", 0x0d, 4 },
    [SALI_DTYPE_F64] = { "F64", "f8", 0x0e, 8 },
};

const char *sali_dtype_name(sali_dtype dtype)
{
    return types[dtype].name;
}

const char *sali_dtype_npy(sali_dtype dtype)
{
    return types[dtype].npy;
}

int sali_dtype_idx(sali_dtype dtype)
{
    return types[dtype].idx;
}

int sali_dtype_bytes(sali_dtype dtype)
{
    return types[dtype].bytes;
}

bool sali_dtype_find(const char *name, const char *npy, int idx, sali_dtype *out)
{
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        if ((name && strcmp(types[k].name, name) == 0) ||
            (npy && types[k].npy && strcmp(types[k].npy, npy) == 0) ||
            (idx && types[k].idx == idx)) {
            *out = (sali_dtype)k;
            return true;
        }
    }
    return false;
}

void sali_dtype_turn(void *bytes, int64_t count, int size)
{
    for (unsigned char *one = bytes; count > 0; count--, one += size) {
        for (int a = 0, b = size - 1; a < b; a++, b--) {
            unsigned char kept = one[a];
            one[a] = one[b];
            one[b] = kept;
        }
    }
}

/* The bytes of one element as an unsigned integer, in the low bits. */
static uint64_t load_bits(sali_dtype dtype, const unsigned char *bytes, int big_endian)
{
    int size = sali_dtype_bytes(dtype);
    uint64_t bits = 0;
    for (int i = 0; i < size; i++) {
        bits = bits << 8 | bytes[big_endian ? i : size - 1 - i];
    }
    return bits;
}

static double float_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double double_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* IEEE 754 binary16: sign, 5 bits of exponent, 10 of fraction. */
static double half_of_bits(uint32_t bits)
{
    int exponent = bits >> 10 & 31;
    int fraction = bits & 1023;
    double x;
    if (exponent == 31) {
        x = fraction ? NAN : INFINITY;
    } else if (exponent == 0) {
        x = ldexp(fraction, -24);
    } else {
        x = ldexp(1024 + fraction, exponent - 25);
    }
    return bits >> 15 ? -x : x;
}

double sali_dtype_load(sali_dtype dtype, const unsigned char *bytes, int big_endian)
{
    uint64_t bits = load_bits(dtype, bytes, big_endian);
    switch (dtype) {
    case SALI_DTYPE_BOOL:
        return bits != 0;
    case SALI_DTYPE_I8:
        return (int8_t)bits;
    case SALI_DTYPE_I16:
        return (int16_t)bits;
    case SALI_DTYPE_I32:
        return (int32_t)bits;
    case SALI_DTYPE_I64:
        return (double)(int64_t)bits;
    case SALI_DTYPE_U8:
    case SALI_DTYPE_U16:
    case SALI_DTYPE_U32:
    case SALI_DTYPE_U64:
        return (double)bits;
    case SALI_DTYPE_F16:
        return half_of_bits((uint32_t)bits);
    case SALI_DTYPE_BF16:
        return float_of_bits((uint32_t)bits << 16);
    case SALI_DTYPE_F32:
        return float_of_bits((uint32_t)bits);
    case SALI_DTYPE_F64:
        break;
    }
    return double_of_bits(bits);
}

int64_t sali_shape_count(const int64_t *shape, int ndim, int64_t size)
{
    int64_t bytes = size;
    for (int i = 0; i < ndim; i++) {
        /* Zeros are multiplied last, so that they cannot hide an overflow. */
        if (shape[i] < 0 || (shape[i] > 0 && __builtin_mul_overflow(bytes, shape[i], &bytes))) {
            return -1;
        }
    }
    for (int i = 0; i < ndim; i++) {
        if (shape[i] == 0) {
            return 0;
        }
    }
    return bytes / size;
}
