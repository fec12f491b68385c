/* SPDX-License-Identifier: MIT */
/* Instruction sets for which the library has code written with vector types (philox.h,
 * vmath_table.h). SALI_ISA_BASE is what every machine of the architecture has. */
#ifndef SALI_ISA_H
#define SALI_ISA_H

typedef enum sali_isa {
    SALI_ISA_BASE,
    SALI_ISA_AVX2, /* with FMA */
    SALI_ISA_AVX512,
    SALI_ISA_COUNT
} sali_isa;

/* X(type, name) for each instruction set that this architecture has, in order. */
#if defined(__x86_64__)
#define SALI_EACH_ISA(X, type) X(type, base) X(type, avx2) X(type, avx512)
#else
#define SALI_EACH_ISA(X, type) X(type, base)
#endif

/* The best instruction set of this machine; each includes the ones before it in the enum. A few
 * loads: call it freely. */
static inline sali_isa sali_isa_best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) {
        return SALI_ISA_AVX512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return SALI_ISA_AVX2;
    }
#endif
    return SALI_ISA_BASE;
}

#endif
