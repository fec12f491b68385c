/* SPDX-License-Identifier: MIT */
/* tile_kernel.h for every instruction set and element type. */
#include "core/vector/tile.h"

#include <stdbool.h>
#include <string.h>

#include "core/vector/winograd_matrices.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Loops over the sums must vanish, or the sums live in memory. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* ---- what every machine has: vectors of 16 bytes, sixteen registers or more */

#define TARGET
#define ROWS(X) X(1) X(2) X(4) X(6)

typedef float float_base __attribute__((vector_size(16)));
#define ELEMENT float
#define VECTOR float_base
#define SPLAT(x) ((VECTOR){ x, x, x, x })
#define FMA(a, b, c) ((a) * (b) + (c))
#define KERNEL(name) name##_f32_base
#include "core/vector/tile_kernel.h"

typedef double double_base __attribute__((vector_size(16)));
#define ELEMENT double
#define VECTOR double_base
#define SPLAT(x) ((VECTOR){ x, x })
#define FMA(a, b, c) ((a) * (b) + (c))
#define KERNEL(name) name##_f64_base
#include "core/vector/tile_kernel.h"

#undef TARGET

#if defined(__x86_64__)

#define TARGET __attribute__((target("avx2,fma")))

#define ELEMENT float
#define VECTOR __m256
#define SPLAT(x) _mm256_set1_ps(x)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define KERNEL(name) name##_f32_avx2
#include "core/vector/tile_kernel.h"

#define ELEMENT double
#define VECTOR __m256d
#define SPLAT(x) _mm256_set1_pd(x)
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define KERNEL(name) name##_f64_avx2
#include "core/vector/tile_kernel.h"

#undef TARGET
#undef ROWS

#define TARGET __attribute__((target("avx512f")))
#define ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)

#define ELEMENT float
#define VECTOR __m512
#define SPLAT(x) _mm512_set1_ps(x)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define TOTAL(v) _mm512_reduce_add_ps(v)
#define KERNEL(name) name##_f32_avx512
#include "core/vector/tile_kernel.h"

#define ELEMENT double
#define VECTOR __m512d
#define SPLAT(x) _mm512_set1_pd(x)
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define TOTAL(v) _mm512_reduce_add_pd(v)
#define KERNEL(name) name##_f64_avx512
#include "core/vector/tile_kernel.h"

#undef TARGET

#endif
#undef ROWS

#define ENTRY(element, name, isa)                                                    \
    {                                                                                \
        .lanes = (int64_t)(sizeof(name) / sizeof(element)), .product = product##isa, \
        .dots = dots##isa, .winograd = winograd##isa                                 \
    }

const sali_tile_kernel sali_tile_kernels_f32[SALI_ISA_COUNT] = {
    [SALI_ISA_BASE] = ENTRY(float, float_base, _f32_base),
#if defined(__x86_64__)
    [SALI_ISA_AVX2] = ENTRY(float, __m256, _f32_avx2),
    [SALI_ISA_AVX512] = ENTRY(float, __m512, _f32_avx512),
#endif
};

const sali_tile_kernel sali_tile_kernels_f64[SALI_ISA_COUNT] = {
    [SALI_ISA_BASE] = ENTRY(double, double_base, _f64_base),
#if defined(__x86_64__)
    [SALI_ISA_AVX2] = ENTRY(double, __m256d, _f64_avx2),
    [SALI_ISA_AVX512] = ENTRY(double, __m512d, _f64_avx512),
#endif
};
