/* SPDX-License-Identifier: MIT */
/* Memory that will be needed soon. */
#ifndef SALI_FETCH_H
#define SALI_FETCH_H

/* Start to load the cache line at `p`, which need not be a valid address. The empty asm keeps GCC
 * from dropping calls of functions that do nothing but prefetch. */
static inline void sali_fetch(const void *p)
{
    __builtin_prefetch(p);
    __asm__ volatile("");
}

#endif
