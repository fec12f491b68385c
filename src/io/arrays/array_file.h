/* SPDX-License-Identifier: MIT */
/* Arrays of numbers from files, and what their formats share. */
#ifndef SALI_ARRAY_FILE_H
#define SALI_ARRAY_FILE_H

#include "io/arrays/npy.h"
#include "io/text_output.h"
#include "models/content.h"

/* Allocate an array of this shape, all values 0; sets ndim, shape and count. Returns: SAL_ERR_DATA,
 * naming the file, when the product of the shape overflows or is 0; MEMORY. */
sal_status sali_array_make(const char *name, int ndim, const int64_t *shape, sal_array *array,
                           sal_error *err);

/* Make an array of all elements of `from`. Returns: as sali_array_make. */
sal_status sali_array_take(const char *name, const sali_npy *from, sal_array *array,
                           sal_error *err);

/* The smallest of U8, F32 and F64 that holds all values exactly. */
sali_dtype sali_array_dtype(const sal_array *array);

/* Write all elements as `dtype`, which is U8, F32 or F64. */
void sali_array_put(sali_text_output *w, const sal_array *array, sali_dtype dtype, bool big_endian);

#endif
