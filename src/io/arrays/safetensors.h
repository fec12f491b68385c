/* SPDX-License-Identifier: MIT */
/* Named tensors in a safetensors file: a u64 little-endian header length, a JSON object, the data.
 * Files of this library have a checksum of their tensors among their metadata, which no other
 * program needs or minds.
 * Source: the format's description in its reference implementation's README, version 0.4. */
#ifndef SALI_SAFETENSORS_H
#define SALI_SAFETENSORS_H

#include <stdint.h>

#include <saltus/status.h>

#include "core/dtype.h"

#define SALI_TENSOR_MAX_DIM 8

typedef struct sali_tensor {
    const char *name; /* UTF-8 */
    sali_dtype dtype;
    int ndim; /* 0 for a single number */
    int64_t shape[SALI_TENSOR_MAX_DIM];
    int64_t count;    /* elements: the product of the shape */
    const void *data; /* little-endian, C order, of any alignment */
} sali_tensor;

typedef struct sali_safetensors sali_safetensors;

/* Read a file, compressed or not. Types F64, F32, F16, BF16, I8..I64, U8..U64 and BOOL.
 * Returns:   DATA for anything else, for shapes that do not fit the offsets, for offsets that
 *            overlap, leave holes or leave the file, and for tensors that do not have the file's
 *            checksum, if it has one; those of sali_file_read_unpacked. On failure *out is
 *            untouched. */
sal_status sali_safetensors_open(const char *path, sali_safetensors **out, sal_error *err);

/* As sali_safetensors_open, from `size` bytes in memory, which must outlive *out; `name` is for
 * messages. */
sal_status sali_safetensors_parse(const char *name, const void *bytes, int64_t size,
                                  sali_safetensors **out, sal_error *err);

/* Free the file with its tensors and metadata; NULL is fine. */
void sali_safetensors_close(sali_safetensors *file);

/* The tensors, in the order of their data. */
int64_t sali_safetensors_count(const sali_safetensors *file);
const sali_tensor *sali_safetensors_at(const sali_safetensors *file, int64_t i);

/* The tensor of this name; NULL if there is none. */
const sali_tensor *sali_safetensors_find(const sali_safetensors *file, const char *name);

/* The checksum of a tensor's name, type, shape and data, which are little-endian. That of a file,
 * SALI_CHECKSUM_KEY of its metadata, is the sum of its tensors', in any order. */
uint64_t sali_tensor_checksum(const sali_tensor *tensor);

/* Convert all elements of a tensor of a file to `count` doubles. */
void sali_tensor_doubles(const sali_tensor *tensor, double *out);

/* Write tensors, atomically; their data have the host's byte order, and `count` is ignored.
 * Returns: ARGUMENT for a bad shape, or a name that is repeated or not UTF-8; IO; MEMORY. */
sal_status sali_safetensors_write(const char *path, const sali_tensor *tensors, int64_t n,
                                  sal_error *err);

/* As sali_safetensors_write, but into memory, to be freed with free. */
sal_status sali_safetensors_format(const sali_tensor *tensors, int64_t n, char **bytes,
                                   int64_t *size, sal_error *err);

#endif
