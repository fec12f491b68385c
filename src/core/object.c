/* SPDX-License-Identifier: MIT */
#include "core/object.h"

#include "core/error.h"
#include "core/memory.h"

/* A thing that ends with its object. */
typedef struct owned {
    void *thing;
    void (*end)(void *thing);
    struct owned *before; /* what was owned before it; NULL: nothing */
} owned;

/* Header in memory directly before the object: the arrays and other things that it owns. */
typedef struct owner {
    _Alignas(SALI_ALIGN) sali_memory memory;
    owned *last; /* NULL: it owns arrays only */
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

sal_status sali_object_own(void *object, void *thing, void (*end)(void *thing), sal_error *err)
{
    owned *o = thing ? sali_object_array(object, 1, sizeof *o) : NULL;
    if (o) {
        *o = (owned){ thing, end, owner_of(object)->last };
        owner_of(object)->last = o;
    } else if (thing) {
        end(thing);
        return sali_fail_memory(err);
    }
    return SAL_OK;
}

void sali_object_free(void *object)
{
    if (object) {
        for (const owned *o = owner_of(object)->last; o; o = o->before) {
            o->end(o->thing);
        }
        sali_memory_free(&owner_of(object)->memory);
        sali_free(owner_of(object));
    }
}

sal_status sali_object_finish(void *object, sal_status status, void **out, sal_error *err)
{
    if (status == SAL_OK && (!object || sali_object_failed(object))) {
        status = sali_fail_memory(err);
    }
    if (status != SAL_OK) {
        sali_object_free(object);
        return status;
    }
    *out = object;
    return SAL_OK;
}

sal_status sali_object_give(void *object, void **out, sal_error *err)
{
    return sali_object_finish(object, SAL_OK, out, err);
}
