/* SPDX-License-Identifier: MIT */
#include "core/vector/vmath.h"

#include <sleef.h>
#include <string.h>

#include "core/vector/vmath_table.h"

/* The functions of one argument that come from SLEEF. */
#define SLEEF_LIST(X) X(exp) X(log) X(log1p) X(expm1) X(sin) X(cos) X(tanh) X(erf) X(lgamma)

/* A vector comparison gives lanes of all ones or all zeros, which select by bits. */
#define SELECT(test, a, b) \
    ((VECTOR)(((test) & (__typeof__(test))(a)) | (~(test) & (__typeof__(test))(b))))

/* clang decides by the flags of the whole file, not by a function's target attribute, whether wide
 * vectors are passed in registers: without the flags its calls of SLEEF's functions are wrong, and
 * it gets the narrow ones. */
#if defined(__x86_64__) && (!defined(__clang__) || defined(__AVX2__))
#define WITH_AVX2 1
#else
#define WITH_AVX2 0
#endif
#if defined(__x86_64__) && (!defined(__clang__) || defined(__AVX512F__))
#define WITH_AVX512 1
#else
#define WITH_AVX512 0
#endif

#define KERNEL_FILE "core/vector/vmath_kernel.h"
#include "core/vector/each_isa.h"

#define MEMBERS_BASE(name) .name##_f32 = name##_f32_base, .name##_f64 = name##_f64_base,
#if WITH_AVX2
#define MEMBERS_AVX2(name) .name##_f32 = name##_f32_avx2, .name##_f64 = name##_f64_avx2,
#else
#define MEMBERS_AVX2(name) MEMBERS_BASE(name)
#endif
#if WITH_AVX512
#define MEMBERS_AVX512(name) .name##_f32 = name##_f32_avx512, .name##_f64 = name##_f64_avx512,
#else
#define MEMBERS_AVX512(name) MEMBERS_AVX2(name)
#endif

const sali_vmath_table sali_vmath_tables[SALI_ISA_COUNT] = {
    [SALI_ISA_BASE] = { SALI_VMATH_LIST(MEMBERS_BASE) MEMBERS_BASE(pow) },
#if defined(__x86_64__)
    [SALI_ISA_AVX2] = { SALI_VMATH_LIST(MEMBERS_AVX2) MEMBERS_AVX2(pow) },
    [SALI_ISA_AVX512] = { SALI_VMATH_LIST(MEMBERS_AVX512) MEMBERS_AVX512(pow) },
#endif
};

#define DEFINE(name)                                               \
    void sali_v##name##_f32(int64_t n, const float *x, float *y)   \
    {                                                              \
        sali_vmath_tables[sali_isa_best()].name##_f32(n, x, y);    \
    }                                                              \
    void sali_v##name##_f64(int64_t n, const double *x, double *y) \
    {                                                              \
        sali_vmath_tables[sali_isa_best()].name##_f64(n, x, y);    \
    }
SALI_VMATH_LIST(DEFINE)

void sali_vpow_f32(int64_t n, const float *x, float p, float *y)
{
    sali_vmath_tables[sali_isa_best()].pow_f32(n, x, p, y);
}

void sali_vpow_f64(int64_t n, const double *x, double p, double *y)
{
    sali_vmath_tables[sali_isa_best()].pow_f64(n, x, p, y);
}
