/* SPDX-License-Identifier: MIT */
/* Arrays of numbers from files, and what their formats share. */
#ifndef SALI_ARRAY_FILE_H
#define SALI_ARRAY_FILE_H

#include "io/arrays/npy.h"
#include "io/scan.h"
#include "models/content.h"

/* Values for an array of that shape, [count], zero; sets ndim, shape and count. DATA naming the
 * file when the product of the shape overflows or is 0; MEMORY. */
sal_status sali_array_make(const char *name, int ndim, const int64_t *shape, sal_array *array,
                           sal_error *err);

/* DATA naming the first value that is NaN or infinite. */
sal_status sali_array_check(const char *name, const sal_array *array, sal_error *err);

/* An array of all elements of a file's. DATA also for the first one that is NaN or infinite. */
sal_status sali_array_take(const char *name, const sali_npy *from, sal_array *array,
                           sal_error *err);

/* The smallest of U8, F32 and F64 that holds all values as they are. */
sali_dtype sali_array_dtype(const sal_array *array);

/* The elements in `dtype`, one of those three, in memory of its own; NULL when there is none. */
void *sali_array_pack(const sal_array *array, sali_dtype dtype);

/* Rows of numbers that grow while a text is read; `labels` only if the format has them. */
typedef struct sali_number_rows {
    double *values;
    int64_t count, room;
    int32_t *labels;
    int64_t rows, labels_room;
} sali_number_rows;

sal_status sali_number_rows_value(sali_number_rows *rows, double value, sal_error *err);
sal_status sali_number_rows_label(sali_number_rows *rows, int32_t label, sal_error *err);
void sali_number_rows_free(sali_number_rows *rows);

#endif
