/* SPDX-License-Identifier: MIT */
/* flips_kernel.h for every instruction set and element type. */
#include "samplers/flips.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Factors in [1, 2] of each lane, whose product does not overflow a float, nor that of 16 lanes a
 * double. */
#define PRODUCT_TERMS 60

/* ---- what every machine has: vectors of 16 bytes */

#define TARGET
#define BYTES 16

#define ELEMENT float
#define WORD int32_t
#define MANTISSA 23
#define FMA(a, b, c) ((a) * (b) + (c))
#define WIDEN(part) __builtin_convertvector(part, DOUBLES)
#define KERNEL(name) name##_f32_base
#include "samplers/flips_kernel.h"

#define ELEMENT double
#define WORD int64_t
#define MANTISSA 52
#define FMA(a, b, c) ((a) * (b) + (c))
#define WIDEN(part) __builtin_convertvector(part, DOUBLES)
#define KERNEL(name) name##_f64_base
#include "samplers/flips_kernel.h"

#undef TARGET
#undef BYTES

#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2,fma")))
#define BYTES 32

#define ELEMENT float
#define WORD int32_t
#define MANTISSA 23
#define FMA(a, b, c) ((VECTOR)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define WIDEN(part) __builtin_convertvector(part, DOUBLES)
#define KERNEL(name) name##_f32_avx2
#include "samplers/flips_kernel.h"

#define ELEMENT double
#define WORD int64_t
#define MANTISSA 52
#define FMA(a, b, c) ((VECTOR)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define WIDEN(part) __builtin_convertvector(part, DOUBLES)
#define KERNEL(name) name##_f64_avx2
#include "samplers/flips_kernel.h"

#undef TARGET
#undef BYTES

#define TARGET __attribute__((target("avx512f")))
#define BYTES 64

#define ELEMENT float
#define WORD int32_t
#define MANTISSA 23
#define FMA(a, b, c) ((VECTOR)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define WIDEN(part) ((DOUBLES)_mm512_cvtps_pd((__m256)(part)))
#define KERNEL(name) name##_f32_avx512
#include "samplers/flips_kernel.h"

#define ELEMENT double
#define WORD int64_t
#define MANTISSA 52
#define FMA(a, b, c) ((VECTOR)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define WIDEN(part) __builtin_convertvector(part, DOUBLES)
#define KERNEL(name) name##_f64_avx512
#include "samplers/flips_kernel.h"

#undef TARGET
#undef BYTES

#endif

#define ENTRY(isa)                                                               \
    {                                                                            \
        .prepare = prepare##isa, .normalise = normalise##isa, .draw = draw##isa, \
        .weigh = weigh##isa, .propose = propose##isa, .judge = judge##isa        \
    }

const sali_flip_kernel sali_flip_kernels_f32[SALI_ISA_COUNT] = {
    [SALI_ISA_BASE] = ENTRY(_f32_base),
#if defined(__x86_64__)
    [SALI_ISA_AVX2] = ENTRY(_f32_avx2),
    [SALI_ISA_AVX512] = ENTRY(_f32_avx512),
#endif
};

const sali_flip_kernel sali_flip_kernels_f64[SALI_ISA_COUNT] = {
    [SALI_ISA_BASE] = ENTRY(_f64_base),
#if defined(__x86_64__)
    [SALI_ISA_AVX2] = ENTRY(_f64_avx2),
    [SALI_ISA_AVX512] = ENTRY(_f64_avx512),
#endif
};
