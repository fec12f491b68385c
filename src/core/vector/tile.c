/* SPDX-License-Identifier: MIT */
#include "core/vector/tile.h"

#include <stdbool.h>
#include <string.h>

#include "core/vector/winograd_matrices.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* Folds of v: two vectors become one, `to`, with halves of both, which add(x, y) adds; a and b say
 * which parts of two vectors a shuffle takes. */
#define FOLD_TWO(add, shuffle, to, x, y, a, b) to = add(shuffle(x, y, a), shuffle(x, y, b))

/* Store in *v the totals of the 16 vectors v, in order; all of v is overwritten. */
static inline __attribute__((always_inline, target("avx512f"))) void sali_fold_f32(void *v)
{
    __m512 *x = v;
#pragma GCC unroll 16
    for (int j = 0; j < 4; j++) { /* rows j, j + 4, j + 8, j + 12 become the quarters of x[j] */
        FOLD_TWO(_mm512_add_ps, _mm512_shuffle_f32x4, x[j], x[j], x[j + 4], 0x44, 0xEE);
        FOLD_TWO(_mm512_add_ps, _mm512_shuffle_f32x4, x[j + 8], x[j + 8], x[j + 12], 0x44, 0xEE);
        FOLD_TWO(_mm512_add_ps, _mm512_shuffle_f32x4, x[j], x[j], x[j + 8], 0x88, 0xDD);
    }
    FOLD_TWO(_mm512_add_ps, _mm512_shuffle_ps, x[0], x[0], x[1], 0x44, 0xEE);
    FOLD_TWO(_mm512_add_ps, _mm512_shuffle_ps, x[2], x[2], x[3], 0x44, 0xEE);
    FOLD_TWO(_mm512_add_ps, _mm512_shuffle_ps, x[0], x[0], x[2], 0x88, 0xDD);
}

/* The same for 8 vectors of doubles. */
static inline __attribute__((always_inline, target("avx512f"))) void sali_fold_f64(void *v)
{
    __m512d *x = v;
#pragma GCC unroll 16
    for (int j = 0; j < 2; j++) { /* rows j, j + 2, j + 4, j + 6 become the quarters of x[j] */
        FOLD_TWO(_mm512_add_pd, _mm512_shuffle_f64x2, x[j], x[j], x[j + 2], 0x44, 0xEE);
        FOLD_TWO(_mm512_add_pd, _mm512_shuffle_f64x2, x[j + 4], x[j + 4], x[j + 6], 0x44, 0xEE);
        FOLD_TWO(_mm512_add_pd, _mm512_shuffle_f64x2, x[j], x[j], x[j + 4], 0x88, 0xDD);
    }
    FOLD_TWO(_mm512_add_pd, _mm512_shuffle_pd, x[0], x[0], x[1], 0x00, 0xFF);
}
#endif

#define KERNEL_FILE "core/vector/tile_kernel.h"
#include "core/vector/each_isa.h"

#define ENTRY(type, isa)                 \
    { .lanes = lanes_##type##_##isa,     \
      .product = product_##type##_##isa, \
      .dots = dots_##type##_##isa,       \
      .winograd = winograd_##type##_##isa },
const sali_tile_kernel sali_tile_kernels_f32[SALI_ISA_COUNT] = { SALI_EACH_ISA(ENTRY, f32) };
const sali_tile_kernel sali_tile_kernels_f64[SALI_ISA_COUNT] = { SALI_EACH_ISA(ENTRY, f64) };
