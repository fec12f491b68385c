/* SPDX-License-Identifier: MIT */
/* vmath_kernel.h for every instruction set and element type, and the choice among them. */
#include "core/vector/vmath.h"

#include <sleef.h>
#include <string.h>

#include "core/vector/vmath_table.h"

#if defined(__x86_64__) || (defined(__aarch64__) && defined(__ARM_NEON))
/* A vector comparison gives lanes of all ones or all zeros, which select by bits. */
#define SELECT(test, a, b) \
    ((VECTOR)(((test) & (__typeof__(test))(a)) | (~(test) & (__typeof__(test))(b))))
#else
#define SELECT(test, a, b) ((test) ? (a) : (b))
#endif

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET

#define ELEMENT float
#define VECTOR __m128
#define SLEEF(name) Sleef_##name##f4_u10sse2
#define KERNEL(name) name##_f32_base
#include "core/vector/vmath_kernel.h"

#define ELEMENT double
#define VECTOR __m128d
#define SLEEF(name) Sleef_##name##d2_u10sse2
#define KERNEL(name) name##_f64_base
#include "core/vector/vmath_kernel.h"

#undef TARGET

/* clang decides by the flags of the whole file, not by a function's target attribute, whether wide
 * vectors are passed in registers: without the flags its calls of SLEEF's functions are wrong, and
 * it gets the narrow ones. */
#if !defined(__clang__) || defined(__AVX2__)
#define WITH_AVX2
#endif
#if !defined(__clang__) || defined(__AVX512F__)
#define WITH_AVX512
#endif

#ifdef WITH_AVX2

#define TARGET __attribute__((target("avx2,fma")))
#ifndef __AVX__
#define SLEEF_HIDDEN /* sleef.h declares what the compiler flags allow */
#endif

#define ELEMENT float
#define VECTOR __m256
#define SLEEF(name) Sleef_##name##f8_u10avx2
#define KERNEL(name) name##_f32_avx2
#include "core/vector/vmath_kernel.h"

#define ELEMENT double
#define VECTOR __m256d
#define SLEEF(name) Sleef_##name##d4_u10avx2
#define KERNEL(name) name##_f64_avx2
#include "core/vector/vmath_kernel.h"

#undef TARGET
#undef SLEEF_HIDDEN

#endif
#ifdef WITH_AVX512

#define TARGET __attribute__((target("avx512f")))
#ifndef __AVX512F__
#define SLEEF_HIDDEN
#endif

#define ELEMENT float
#define VECTOR __m512
#define SLEEF(name) Sleef_##name##f16_u10avx512f
#define KERNEL(name) name##_f32_avx512
#include "core/vector/vmath_kernel.h"

#define ELEMENT double
#define VECTOR __m512d
#define SLEEF(name) Sleef_##name##d8_u10avx512f
#define KERNEL(name) name##_f64_avx512
#include "core/vector/vmath_kernel.h"

#undef TARGET
#undef SLEEF_HIDDEN

#endif

#elif defined(__aarch64__) && defined(__ARM_NEON)

#define TARGET

#define ELEMENT float
#define VECTOR float32x4_t
#define SLEEF(name) Sleef_##name##f4_u10advsimd
#define KERNEL(name) name##_f32_base
#include "core/vector/vmath_kernel.h"

#define ELEMENT double
#define VECTOR float64x2_t
#define SLEEF(name) Sleef_##name##d2_u10advsimd
#define KERNEL(name) name##_f64_base
#include "core/vector/vmath_kernel.h"

#undef TARGET

#else

#define TARGET

#define ELEMENT float
#define VECTOR float
#define SLEEF(name) Sleef_##name##f_u10
#define KERNEL(name) name##_f32_base
#include "core/vector/vmath_kernel.h"

#define ELEMENT double
#define VECTOR double
#define SLEEF(name) Sleef_##name##_u10
#define KERNEL(name) name##_f64_base
#include "core/vector/vmath_kernel.h"

#undef TARGET

#endif

#define MEMBERS_BASE(name) .name##_f32 = name##_f32_base, .name##_f64 = name##_f64_base,
#ifdef WITH_AVX2
#define MEMBERS_AVX2(name) .name##_f32 = name##_f32_avx2, .name##_f64 = name##_f64_avx2,
#else
#define MEMBERS_AVX2(name) MEMBERS_BASE(name)
#endif
#ifdef WITH_AVX512
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
