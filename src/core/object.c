/* SPDX-License-Identifier: MIT */
#include "core/object.h"

#include "core/error.h"
#include "core/memory.h"

/* Header in memory directly before the object: the arrays that it owns. */
typedef struct owner {
    _Alignas(SALI_ALIGN) sali_memory memory;
} owner;

static owner *owner_of(const void *object)
{
    return (owner *)(uintptr_t)object - 1;
}

void *sali_object(size_t size)
{
    owner *o = sali_alloc(1, sizeof *o + size);
    return o ? o + 1 : NULL;
}

void *sali_object_array(void *object, int64_t count, size_t size)
{
    return sali_memory_take(&owner_of(object)->memory, count, size);
}

bool sali_object_failed(const void *object)
{
    return owner_of(object)->memory.refused;
}

void sali_object_free(void *object)
{
    if (object) {
        sali_memory_free(&owner_of(object)->memory);
        sali_free(owner_of(object));
    }
}

sal_status sali_object_give(void *object, void **out, sal_error *err)
{
    if (!object || sali_object_failed(object)) {
        sali_object_free(object);
        return sali_fail_memory(err);
    }
    *out = object;
    return SAL_OK;
}
