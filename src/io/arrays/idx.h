/* SPDX-License-Identifier: MIT */
/* IDX arrays, the format of MNIST: two zero bytes, a type, the number of dimensions, big-endian
 * sizes, then the elements, big-endian and in C order; often inside gzip. */
#ifndef SALI_IDX_H
#define SALI_IDX_H

#include "io/arrays/npy.h"

/* From memory that is not compressed and outlives *out; `name` is for messages. Types U8, I8, I16,
 * I32, F32 and F64.
 * Returns:   DATA for an unknown type, or a size that is not the header's. On failure *out is
 *            untouched. */
sal_status sali_idx_parse(const char *name, const void *bytes, int64_t size, sali_npy *out,
                          sal_error *err);

#endif
