/* SPDX-License-Identifier: MIT */
/* Allocation: every buffer of the library comes from here, 64-byte aligned, sizes checked for
 * overflow. Tests count and fail allocations by wrapping aligned_alloc at link time, so nothing
 * here is global. */
#ifndef SALI_ALLOC_H
#define SALI_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#define SALI_ALIGN 64

/* count * size zeroed bytes, or NULL (also when the product overflows). A count of 0 gives a valid
 * pointer. */
void *sali_alloc(int64_t count, size_t size);

/* Grow an array of elements of `size` bytes to hold at least `need`; doubles *capacity.
 * Returns 0 on success; on failure -1, the array and capacity are unchanged. */
int sali_grow(void **array, int64_t *capacity, int64_t need, size_t size);

/* Copies of `count` elements and of a text; NULL when out of memory. sali_strdup(NULL) is NULL. */
void *sali_memdup(const void *source, int64_t count, size_t size);
char *sali_strdup(const char *text);

void sali_free(void *pointer);

/* Analysers see one file at a time, and know these two (scripts/nightly). */
#ifdef SALTUS_ANALYSE
#include <stdlib.h>
#define sali_alloc(count, size) calloc((size_t)(count) + 1, size) /* never of no bytes */
#define sali_free(pointer) free(pointer)
#endif

/* Typed spellings. */
#define SALI_NEW(type) ((type *)sali_alloc(1, sizeof(type)))
#define SALI_NEW_ARRAY(type, count) ((type *)sali_alloc((count), sizeof(type)))

#endif
