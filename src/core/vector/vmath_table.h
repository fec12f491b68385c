/* SPDX-License-Identifier: MIT */
/* The functions of vmath.h by instruction set: vmath.c takes the best of the machine, tests try
 * them all. SLEEF's own dispatch is not used, because it works on one vector per call. */
#ifndef SALI_VMATH_TABLE_H
#define SALI_VMATH_TABLE_H

#include "core/vector/isa.h"
#include "core/vector/vmath.h"

#define SALI_VMATH_MEMBER(name)                              \
    void (*name##_f32)(int64_t n, const float *x, float *y); \
    void (*name##_f64)(int64_t n, const double *x, double *y);
typedef struct sali_vmath_table {
    SALI_VMATH_LIST(SALI_VMATH_MEMBER)
    void (*pow_f32)(int64_t n, const float *x, float p, float *y);
    void (*pow_f64)(int64_t n, const double *x, double p, double *y);
} sali_vmath_table;
#undef SALI_VMATH_MEMBER

extern const sali_vmath_table sali_vmath_tables[SALI_ISA_COUNT];

#endif
