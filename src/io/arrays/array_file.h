/* SPDX-License-Identifier: MIT */
/* Arrays of numbers from files, and what their formats share. */
#ifndef SALI_ARRAY_FILE_H
#define SALI_ARRAY_FILE_H

#include "io/arrays/npy.h"
#include "io/text_output.h"
#include "models/content.h"

/* Values for an array of that shape, [count], zero; sets ndim, shape and count. DATA naming the
 * file when the product of the shape overflows or is 0; MEMORY. */
sal_status sali_array_make(const char *name, int ndim, const int64_t *shape, sal_array *array,
                           sal_error *err);

/* An array of all elements of a file's. */
sal_status sali_array_take(const char *name, const sali_npy *from, sal_array *array,
                           sal_error *err);

/* The smallest of U8, F32 and F64 that holds all values as they are. */
sali_dtype sali_array_dtype(const sal_array *array);

/* Put the elements in `dtype`, one of those three. */
void sali_array_put(sali_text_output *w, const sal_array *array, sali_dtype dtype, bool big_endian);

#endif
