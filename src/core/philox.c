/* SPDX-License-Identifier: MIT */
/* Philox tiles: x86-64 by vector types, other machines by the compiler's vectoriser. */
#include "core/philox.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

typedef uint64_t vector_128 __attribute__((vector_size(16)));
typedef uint64_t vector_256 __attribute__((vector_size(32)));
typedef uint64_t vector_512 __attribute__((vector_size(64)));

#define TARGET
#define TILE tile_sse2
#define ROW row_sse2
#define STEPS steps_sse2
#define ROUNDS rounds_sse2
#define WORDS words_sse2
#define VECTOR vector_128
#define MUL(a, b) ((VECTOR)_mm_mul_epu32((__m128i)(a), (__m128i)(b)))
#define UNPACK_LO(a, b) ((VECTOR)_mm_unpacklo_epi64((__m128i)(a), (__m128i)(b)))
#define UNPACK_HI(a, b) ((VECTOR)_mm_unpackhi_epi64((__m128i)(a), (__m128i)(b)))
#include "core/philox_kernel.h"

#define TARGET __attribute__((target("avx2")))
#define TILE tile_avx2
#define ROW row_avx2
#define STEPS steps_avx2
#define ROUNDS rounds_avx2
#define WORDS words_avx2
#define VECTOR vector_256
#define MUL(a, b) ((VECTOR)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#define UNPACK_LO(a, b) ((VECTOR)_mm256_unpacklo_epi64((__m256i)(a), (__m256i)(b)))
#define UNPACK_HI(a, b) ((VECTOR)_mm256_unpackhi_epi64((__m256i)(a), (__m256i)(b)))
#include "core/philox_kernel.h"

#define TARGET __attribute__((target("avx512f")))
#define TILE tile_avx512
#define ROW row_avx512
#define STEPS steps_avx512
#define ROUNDS rounds_avx512
#define WORDS words_avx512
#define VECTOR vector_512
#define MUL(a, b) ((VECTOR)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#define UNPACK_LO(a, b) ((VECTOR)_mm512_unpacklo_epi64((__m512i)(a), (__m512i)(b)))
#define UNPACK_HI(a, b) ((VECTOR)_mm512_unpackhi_epi64((__m512i)(a), (__m512i)(b)))
#include "core/philox_kernel.h"

sali_philox_tile *const sali_philox_tiles[SALI_ISA_COUNT] = { tile_sse2, tile_avx2, tile_avx512 };
sali_philox_row *const sali_philox_rows[SALI_ISA_COUNT] = { row_sse2, row_avx2, row_avx512 };
sali_philox_row *const sali_philox_steps[SALI_ISA_COUNT] = { steps_sse2, steps_avx2, steps_avx512 };

#else

static void tile_any(const sali_stream *stream, uint32_t first, uint32_t *out)
{
    for (uint32_t b = 0; b < SALI_PHILOX_BLOCKS; b++) {
        philox4x32_ctr_t words = sali_philox_block(stream, first + b);
        memcpy(out + 4 * b, words.v, sizeof words.v);
    }
}

/* A sali_philox_row in plain C, for machines other than x86-64. */
static void row_any(const sali_stream *stream, uint32_t block, int64_t n, const uint32_t *chain,
                    uint32_t *out)
{
    for (int64_t k = 0; k < n; k++) {
        sali_stream own = *stream;
        own.chain = chain[k];
        philox4x32_ctr_t words = sali_philox_block(&own, block);
        for (int w = 0; w < 4; w++) {
            out[w * n + k] = words.v[w];
        }
    }
}

/* The same of steps. */
static void steps_any(const sali_stream *stream, uint32_t block, int64_t n, const uint32_t *after,
                      uint32_t *out)
{
    for (int64_t k = 0; k < n; k++) {
        sali_stream own = *stream;
        own.step += after[k];
        philox4x32_ctr_t words = sali_philox_block(&own, block);
        for (int w = 0; w < 4; w++) {
            out[w * n + k] = words.v[w];
        }
    }
}

sali_philox_tile *const sali_philox_tiles[SALI_ISA_COUNT] = { tile_any, tile_any, tile_any };
sali_philox_row *const sali_philox_rows[SALI_ISA_COUNT] = { row_any, row_any, row_any };
sali_philox_row *const sali_philox_steps[SALI_ISA_COUNT] = { steps_any, steps_any, steps_any };

#endif
