/* SPDX-License-Identifier: MIT */
/* Philox 4x32-10 in bulk: one tile of consecutive blocks at a time, with vector instructions.
 * Random123 itself computes one block at a time. All instruction sets give the bits of Random123's
 * philox4x32. */
#ifndef SALI_PHILOX_H
#define SALI_PHILOX_H

#include <Random123/philox.h>

#include "core/vector/isa.h"
#include "core/rng.h"

/* Blocks and words of a tile. */
#define SALI_PHILOX_BLOCKS 16
#define SALI_PHILOX_WORDS (4 * SALI_PHILOX_BLOCKS)

/* The words of blocks first .. first + SALI_PHILOX_BLOCKS - 1 of a stream. */
typedef void sali_philox_tile(const sali_stream *stream, uint32_t first, uint32_t *out);

/* The function of each instruction set, which the machine must have. */
extern sali_philox_tile *const sali_philox_tiles[SALI_ISA_COUNT];

/* The words of one block of each of n chains, in the order of sali_rng_words_by_chain. */
typedef void sali_philox_row(const sali_stream *stream, uint32_t block, int64_t n,
                             const uint32_t *chain, uint32_t *out);
extern sali_philox_row *const sali_philox_rows[SALI_ISA_COUNT];

/* The same of n steps, in the order of sali_rng_words_by_step. */
extern sali_philox_row *const sali_philox_steps[SALI_ISA_COUNT];

/* One block, by Random123's own function. */
static inline philox4x32_ctr_t sali_philox_block(const sali_stream *stream, uint32_t block)
{
    philox4x32_ctr_t counter = { { (uint32_t)stream->step, (uint32_t)(stream->step >> 32),
                                   stream->chain, stream->purpose << 24 | block } };
    philox4x32_key_t key = { { (uint32_t)stream->seed, (uint32_t)(stream->seed >> 32) } };
    return philox4x32_R(10, counter, key);
}

#endif
