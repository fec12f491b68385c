/* SPDX-License-Identifier: MIT */
/* Includes the file KERNEL_FILE for every instruction set of isa.h and every element type; there
 * are then
 *
 *     ISA              of the instruction set, a value of sali_isa that the preprocessor knows
 *     TARGET           the function attribute that enables it
 *     BITS, BYTES      of an element, and of a vector
 *     ELEMENT, WORD    float or double, and the signed integer of its size
 *     VECTOR           a vector of elements
 *     KERNEL(name)     the name of a function
 *     FMA(a, b, c)     a b + c, rounded once where there is an instruction for it, else twice
 *     SPLAT(x)         a vector of x
 *     UNROLL           before a loop that must vanish, or its sums live in memory
 *
 * They are gone at the end, as is KERNEL_FILE. */
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define SPLAT(x) ((x) - (VECTOR){ 0 }) /* less 0, as plus 0 would change the sign of a zero */

/* ---- what every machine has: vectors of 16 bytes, sixteen registers or more */

#define ISA 0
#define TARGET
#define BYTES 16
#define FMA_32(a, b, c) ((a) * (b) + (c))
#define FMA_64(a, b, c) ((a) * (b) + (c))
#define NAME_32(name) name##_f32_base
#define NAME_64(name) name##_f64_base
#include "core/vector/each_type.h"

#if defined(__x86_64__)

#define ISA 1
#define TARGET __attribute__((target("avx2,fma")))
#define BYTES 32
#define FMA_32(a, b, c) ((VECTOR)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define FMA_64(a, b, c) ((VECTOR)_mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#define NAME_32(name) name##_f32_avx2
#define NAME_64(name) name##_f64_avx2
#include "core/vector/each_type.h"

#define ISA 2
#define TARGET __attribute__((target("avx512f")))
#define BYTES 64
#define FMA_32(a, b, c) ((VECTOR)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define FMA_64(a, b, c) ((VECTOR)_mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#define NAME_32(name) name##_f32_avx512
#define NAME_64(name) name##_f64_avx512
#include "core/vector/each_type.h"

#endif

#undef UNROLL
#undef SPLAT
#undef KERNEL_FILE
