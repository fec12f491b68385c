/* SPDX-License-Identifier: MIT */
/* Objects that own arrays and other things: all end with the object. */
#ifndef SALI_OBJECT_H
#define SALI_OBJECT_H

#include <stdbool.h>

#include <saltus/status.h>
#include "core/alloc.h"

/* A zeroed object of `size` bytes; NULL when out of memory. */
void *sali_object(size_t size);

/* count * size zeroed bytes, as sali_alloc gives them, that belong to an object. NULL when out of
 * memory; then the object fails, so that its maker looks once, after the last array. */
void *sali_object_array(void *object, int64_t count, size_t size);
bool sali_object_failed(const void *object);

/* Let `thing` end with the object, by `end`; NULL is no thing. Things end before the arrays are
 * freed, the last one first. Returns: SAL_ERR_MEMORY; then the thing has ended, and the object
 * fails. */
sal_status sali_object_own(void *object, void *thing, void (*end)(void *thing), sal_error *err);

/* The end of an object and of all that it owns; NULL is fine. */
void sali_object_free(void *object);

/* The end of its making: *out is the object, which is freed and SAL_ERR_MEMORY returned if it has
 * failed, or is NULL. */
sal_status sali_object_give(void *object, void **out, sal_error *err);

/* The same where other things may have gone wrong: an error of `status` frees the object, too, and
 * is returned. */
sal_status sali_object_finish(void *object, sal_status status, void **out, sal_error *err);

/* Typed spellings. */
#define SALI_OBJECT(type) ((type *)sali_object(sizeof(type)))
#define SALI_OBJECT_ARRAY(object, type, count) \
    ((type *)sali_object_array(object, count, sizeof(type)))

#endif
