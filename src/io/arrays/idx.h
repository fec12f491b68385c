/* SPDX-License-Identifier: MIT */
/* IDX arrays, the format of MNIST: two zero bytes, a type, the number of dimensions, big-endian
 * sizes, then the elements, big-endian and in C order; often inside gzip. */
#ifndef SALI_IDX_H
#define SALI_IDX_H

#include "io/arrays/npy.h"

/* The array in the text of an IDX file, uncompressed, of types U8, I8, I16, I32, F32 and F64. Fails
 * for another type, or a size that differs from the header's. */
sali_npy sali_idx_view(sali_scan *scan);

#endif
