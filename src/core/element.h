/* SPDX-License-Identifier: MIT */
/* Elements of arrays whose type is known when the program runs. */
#ifndef SALI_ELEMENT_H
#define SALI_ELEMENT_H

#include <stddef.h>
#include <stdint.h>

#include <saltus/ad.h>

static inline size_t sali_dtype_size(sal_dtype dtype)
{
    return dtype == SAL_F32 ? sizeof(float) : sizeof(double);
}

static inline void sali_store(sal_dtype dtype, void *array, int64_t index, double value)
{
    if (dtype == SAL_F32) {
        ((float *)array)[index] = (float)value;
    } else {
        ((double *)array)[index] = value;
    }
}

static inline double sali_load(sal_dtype dtype, const void *array, int64_t index)
{
    return dtype == SAL_F32 ? (double)((const float *)array)[index]
                            : ((const double *)array)[index];
}

#endif
