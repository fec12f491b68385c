/* SPDX-License-Identifier: MIT */
#include "core/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#undef sali_alloc /* analysers see their own */
#undef sali_free

/* Arrays of this size lie in huge pages where the system has them: reads all over such an array
 * would otherwise spend more time on page tables than on the array. */
#define HUGE_PAGE ((size_t)1 << 21)

/* Uninitialised memory of `bytes`, a multiple of SALI_ALIGN: aligned to HUGE_PAGE if it is that
 * large, else to SALI_ALIGN. NULL when out of memory. */
static void *allocate_aligned(size_t bytes)
{
#ifdef MADV_HUGEPAGE
    if (bytes >= HUGE_PAGE) {
        void *p = aligned_alloc(HUGE_PAGE, bytes);
        if (p) {
            madvise(p, bytes, MADV_HUGEPAGE); /* advice: it may be ignored */
        }
        return p;
    }
#endif
    return aligned_alloc(SALI_ALIGN, bytes);
}

/* Fill p [bytes] with zeros. Large areas are returned to Linux, which hands out zeroed pages on the
 * next touch, so pages that are never touched cost neither time nor memory. Emulators may ignore
 * MADV_DONTNEED: the first byte shows whether it worked. Memory checkers do not understand it;
 * build with SALI_CHECKED_MEMORY for them. */
static void make_zero(void *p, size_t bytes)
{
#if defined(__linux__) && !defined(SALI_CHECKED_MEMORY)
    volatile char *first = p;
    if (bytes >= HUGE_PAGE) {
        *first = 1;
        if (madvise(p, bytes, MADV_DONTNEED) == 0 && *first == 0) {
            return;
        }
    }
#endif
    memset(p, 0, bytes);
}

void *sali_alloc(int64_t count, size_t size)
{
    size_t bytes;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) ||
        bytes > PTRDIFF_MAX - 2 * (ptrdiff_t)HUGE_PAGE) {
        return NULL;
    }
    bytes = (bytes / SALI_ALIGN + 1) * SALI_ALIGN; /* at least one, and always a multiple */
    if (bytes >= HUGE_PAGE) {
        bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    }
    void *p = allocate_aligned(bytes);
    if (p) {
        make_zero(p, bytes);
    }
    return p;
}

int sali_grow(void **array, int64_t *capacity, int64_t need, size_t size)
{
    if (need <= *capacity) {
        return 0;
    }
    int64_t room = *capacity < 8 ? 8 : *capacity;
    while (room < need) {
        if (room > INT64_MAX / 2) {
            return -1;
        }
        room *= 2;
    }
    void *grown = sali_alloc(room, size);
    if (!grown) {
        return -1;
    }
    if (*array) {
        memcpy(grown, *array, (size_t)*capacity * size);
    }
    sali_free(*array);
    *array = grown;
    *capacity = room;
    return 0;
}

void *sali_memdup(const void *source, int64_t count, size_t size)
{
    void *copy = sali_alloc(count, size);
    if (copy && count > 0) {
        memcpy(copy, source, (size_t)count * size);
    }
    return copy;
}

char *sali_strdup(const char *text)
{
    return text ? sali_memdup(text, (int64_t)strlen(text) + 1, 1) : NULL;
}

void sali_free(void *pointer)
{
    free(pointer);
}
