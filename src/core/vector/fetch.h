/* SPDX-License-Identifier: MIT */
/* Memory that will be needed soon. */
#ifndef SALI_FETCH_H
#define SALI_FETCH_H

/* Start to bring the cache line at `p` near; `p` need not be valid. The empty asm is there for GCC,
 * which takes functions that do nothing but this for functions that do nothing, and drops their
 * calls. */
static inline void sali_fetch(const void *p)
{
    __builtin_prefetch(p);
    __asm__ volatile("");
}

#endif
