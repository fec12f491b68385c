/* SPDX-License-Identifier: MIT */
/* IDX arrays, the format of MNIST: two zero bytes, a type, the number of dimensions, big-endian
 * sizes, then the elements, big-endian and in C order; often inside gzip. */
#ifndef SALI_IDX_H
#define SALI_IDX_H

#include "io/arrays/npy.h"

/* The array in a file that is not compressed, of types U8, I8, I16, I32, F32 and F64; it fails for
 * another type, or a size that is not the header's. */
sali_npy sali_idx_view(sali_scan *scan);

#endif
