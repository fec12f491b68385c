/* SPDX-License-Identifier: MIT */
#include "alloc_fail.h"

#include <stdatomic.h>
#include <stddef.h>

/* Names the linker's --wrap prescribes. */
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static atomic_llong calls;
static atomic_llong failing_call; /* its number among the calls; 0: none */
static atomic_int failed;

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    long long call = atomic_fetch_add(&calls, 1) + 1;
    if (call == atomic_load(&failing_call)) {
        atomic_store(&failed, 1);
        return NULL;
    }
    return __real_aligned_alloc(alignment, size);
}

int64_t alloc_count(void)
{
    return atomic_load(&calls);
}

void alloc_fail_at(int64_t n)
{
    atomic_store(&failed, 0);
    atomic_store(&failing_call, n > 0 ? atomic_load(&calls) + n : 0);
}

int alloc_failed(void)
{
    return atomic_load(&failed);
}
