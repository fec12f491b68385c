/* SPDX-License-Identifier: MIT */
/* Objects that own arrays and other things: all end with the object. */
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

/* Let `thing` end with the object, by `end`; NULL is no thing. Things end before the arrays are
 * freed, the last one first. Returns: SAL_ERR_MEMORY; then the thing has ended, and the object
 * fails. */
sal_status sali_object_own(void *object, void *thing, void (*end)(void *thing), sal_error *err);

/* Free an object and all that it owns; NULL is fine. */
void sali_object_free(void *object);

/* The last step of making an object: *out receives it. If an allocation failed or `object` is NULL,
 * frees what there is and returns SAL_ERR_MEMORY. */
sal_status sali_object_give(void *object, void **out, sal_error *err);

/* The same where other things may have gone wrong: an error of `status` frees the object, too, and
 * is returned. */
sal_status sali_object_finish(void *object, sal_status status, void **out, sal_error *err);

/* Typed spellings. */
#define SALI_OBJECT(type) ((type *)sali_object(sizeof(type)))
#define SALI_OBJECT_ARRAY(object, type, count) \
    ((type *)sali_object_array(object, count, sizeof(type)))

#endif
