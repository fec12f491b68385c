/* SPDX-License-Identifier: MIT */
#include "core/memory.h"

#include <string.h>

#include "core/error.h"

void *sali_memory_take(sali_memory *m, int64_t count, size_t size)
{
    bool listed = sali_grow((void **)&m->arrays, &m->room, m->n + 1, sizeof *m->arrays) == 0;
    void *array = listed ? sali_alloc(count, size) : NULL;
    if (!array) {
        m->refused = true;
        return NULL;
    }
    m->arrays[m->n++] = array;
    return array;
}

void *sali_memory_copy(sali_memory *m, const void *source, int64_t count, size_t size)
{
    void *copy = sali_memory_take(m, count, size);
    if (copy && count > 0) {
        memcpy(copy, source, (size_t)count * size);
    }
    return copy;
}

char *sali_memory_text(sali_memory *m, const char *text)
{
    return text ? sali_memory_copy(m, text, (int64_t)strlen(text) + 1, 1) : NULL;
}

sal_status sali_memory_status(const sali_memory *m, sal_error *err)
{
    return m->refused ? sali_fail_memory(err) : SAL_OK;
}

void sali_memory_free(sali_memory *m)
{
    for (int64_t k = 0; k < m->n; k++) {
        sali_free(m->arrays[k]);
    }
    sali_free(m->arrays);
    *m = (sali_memory){ 0 };
}
