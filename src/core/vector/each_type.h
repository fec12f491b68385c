/* SPDX-License-Identifier: MIT */
/* Includes KERNEL_FILE for both element types of one instruction set (each_isa.h). */
#define VECTOR KERNEL(vector)

#define BITS 32
#define ELEMENT float
#define WORD int32_t
#define KERNEL NAME_32
#define FMA FMA_32
typedef ELEMENT VECTOR __attribute__((vector_size(BYTES)));
#include KERNEL_FILE
#undef BITS
#undef ELEMENT
#undef WORD
#undef KERNEL
#undef FMA

#define BITS 64
#define ELEMENT double
#define WORD int64_t
#define KERNEL NAME_64
#define FMA FMA_64
typedef ELEMENT VECTOR __attribute__((vector_size(BYTES)));
#include KERNEL_FILE
#undef BITS
#undef ELEMENT
#undef WORD
#undef KERNEL
#undef FMA

#undef VECTOR
#undef ISA
#undef TARGET
#undef BYTES
#undef FMA_32
#undef FMA_64
#undef NAME_32
#undef NAME_64
