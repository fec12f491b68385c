/* SPDX-License-Identifier: MIT */
/* Arrays that live and die together. Their owner asks for each of them once; one status says
 * whether all were granted, and one call frees them, so that no list of arrays has to be kept in
 * step. */
#ifndef SALI_MEMORY_H
#define SALI_MEMORY_H

#include <stdbool.h>
#include <string.h>

#include "core/alloc.h"
#include <saltus/status.h>

/* Initialise with zeros: it then owns no arrays. */
typedef struct sali_memory {
    void **arrays; /* [n] */
    int64_t n, room;
    bool refused; /* an allocation failed, and its array is NULL */
} sali_memory;

/* count * size zeroed bytes that sali_memory_free frees; NULL when out of memory, as of
 * sali_alloc. */
void *sali_memory_take(sali_memory *memory, int64_t count, size_t size);

/* As sali_memory_take, filled with count * size bytes of `source`. */
void *sali_memory_copy(sali_memory *memory, const void *source, int64_t count, size_t size);

/* A copy of `text`; NULL if `text` is NULL or memory is short. */
char *sali_memory_text(sali_memory *memory, const char *text);

/* SAL_ERR_MEMORY if any allocation from `memory` failed. */
sal_status sali_memory_status(const sali_memory *memory, sal_error *err);

/* Free all arrays of `memory`; *memory is zeros then. */
void sali_memory_free(sali_memory *memory);

#define SALI_TAKE(memory, type, count) ((type *)sali_memory_take((memory), (count), sizeof(type)))

/* Exchange the contents of arrays a and b of `size` bytes; `work` has room for one. */
static inline void sali_exchange(void *a, void *b, void *work, size_t size)
{
    memcpy(work, a, size);
    memcpy(a, b, size);
    memcpy(b, work, size);
}

#endif
