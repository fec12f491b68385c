/* SPDX-License-Identifier: MIT */
/* Objects that own arrays: all are freed with the object. */
#ifndef SALI_OBJECT_H
#define SALI_OBJECT_H

#include <stdbool.h>

#include <saltus/status.h>
#include "core/alloc.h"

/* A zeroed object of `size` bytes; NULL when out of memory. */
void *sali_object(size_t size);

/* count * size zeroed bytes that are freed with `object`. NULL when out of memory; the object then
 * counts as failed, so that its maker checks sali_object_failed once, after the last array. */
void *sali_object_array(void *object, int64_t count, size_t size);
bool sali_object_failed(const void *object);

/* Free an object and its arrays; NULL is fine. */
void sali_object_free(void *object);

/* The last step of making an object: *out receives it. If an allocation failed or `object` is NULL,
 * frees what there is and returns SAL_ERR_MEMORY. */
sal_status sali_object_give(void *object, void **out, sal_error *err);

/* Typed spellings. */
#define SALI_OBJECT(type) ((type *)sali_object(sizeof(type)))
#define SALI_OBJECT_ARRAY(object, type, count) \
    ((type *)sali_object_array(object, count, sizeof(type)))

#endif
