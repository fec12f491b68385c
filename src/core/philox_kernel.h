/* SPDX-License-Identifier: MIT */
/* The Philox tile for one instruction set of x86-64. Included by philox.c once for each, which
 * defines
 *
 *     TARGET            the function attribute that enables the instruction set
 *     TILE, ROW, STEPS  the functions' names
 *     ROUNDS, WORDS     the names of what they share
 *     VECTOR            a vector of LANES 64-bit unsigned integers
 *     MUL(a, b)         products of the low halves of each lane
 *     UNPACK_LO(a, b)   lanes 0 2 4 .. of a and b in turn: a0 b0 a2 b2 ..
 *     UNPACK_HI(a, b)   lanes 1 3 5 .. in the same way
 *
 * A 32-bit word lives in the low half of a lane, where the multiplication wants it; what piles up
 * in the high half never reaches a result. */

/* Turn the counters c[0] and c[1] into random words, in place. Two vectors are interleaved because
 * each round waits for the one before it: the second vector fills the time. */
static inline __attribute__((always_inline)) TARGET void ROUNDS(uint64_t seed, VECTOR c[2][4])
{
    const VECTOR zero = { 0 };
    const VECTOR m0 = zero + PHILOX_M4x32_0, m1 = zero + PHILOX_M4x32_1;
    const VECTOR w0 = zero + PHILOX_W32_0, w1 = zero + PHILOX_W32_1;
    VECTOR k0 = zero + (uint32_t)seed, k1 = zero + (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        VECTOR p0[] = { MUL(m0, c[0][0]), MUL(m0, c[1][0]) };
        VECTOR p1[] = { MUL(m1, c[0][2]), MUL(m1, c[1][2]) };
        for (int j = 0; j < 2; j++) {
            c[j][0] = (p1[j] >> 32) ^ c[j][1] ^ k0;
            c[j][1] = p1[j];
            c[j][2] = (p0[j] >> 32) ^ c[j][3] ^ k1;
            c[j][3] = p0[j];
        }
        k0 += w0;
        k1 += w1;
    }
}

/* A sali_philox_tile: 4 * SALI_PHILOX_BLOCKS words of consecutive blocks, in order. */
static TARGET void TILE(const sali_stream *stream, uint32_t first, uint32_t *out)
{
    enum { LANES = sizeof(VECTOR) / sizeof(uint64_t), HALF = LANES / 2 };
    const VECTOR zero = { 0 };

    /* Even lanes hold the first half of the blocks, so that unpacking puts blocks in order. */
    VECTOR block = zero;
    for (int i = 0; i < HALF; i++) {
        block[2 * i] = (uint64_t)i;
        block[2 * i + 1] = (uint64_t)(i + HALF);
    }
    block += zero + (stream->purpose << 24 | first);

    const VECTOR step = zero + (uint32_t)stream->step, high = zero + (stream->step >> 32);
    for (int b = 0; b < SALI_PHILOX_BLOCKS; b += 2 * LANES, block += zero + 2 * LANES) {
        VECTOR c[2][4] = { { step, high, zero + stream->chain, block },
                           { step, high, zero + stream->chain, block + LANES } };
        ROUNDS(stream->seed, c);
        for (int j = 0; j < 2; j++, out += 4 * LANES) {
            VECTOR c01 = (c[j][0] & 0xffffffffu) | c[j][1] << 32;
            VECTOR c23 = (c[j][2] & 0xffffffffu) | c[j][3] << 32;
            VECTOR front = UNPACK_LO(c01, c23), back = UNPACK_HI(c01, c23);
            memcpy(out, &front, sizeof front);
            memcpy(out + 4 * HALF, &back, sizeof back);
        }
    }
}

/* Words of n streams, in the order of a sali_philox_row, which differ in their chain, or in their
 * step. Each pass handles two vectors, the streams at even and at odd places, whose words
 * interleave on storing. */
static inline __attribute__((always_inline)) TARGET void
WORDS(const sali_stream *stream, uint32_t block, int64_t n, const bool steps,
      const uint32_t *numbers, uint32_t *out)
{
    enum { LANES = sizeof(VECTOR) / sizeof(uint64_t) };
    const VECTOR zero = { 0 }, step = zero + stream->step, chain = zero + stream->chain;
    for (int64_t k = 0; k < n; k += 2 * LANES) {
        VECTOR pairs, c[2][4];
        memcpy(&pairs, numbers + k, sizeof pairs);
        const VECTOR number[] = { pairs & 0xffffffffu, pairs >> 32 };
        for (int j = 0; j < 2; j++) {
            c[j][0] = steps ? step + number[j] : step;
            c[j][1] = c[j][0] >> 32;
            c[j][2] = steps ? chain : number[j];
            c[j][3] = zero + (stream->purpose << 24 | block);
        }
        ROUNDS(stream->seed, c);
        for (int w = 0; w < 4; w++) {
            VECTOR both = (c[0][w] & 0xffffffffu) | c[1][w] << 32;
            memcpy(out + w * n + k, &both, sizeof both);
        }
    }
}

static TARGET void ROW(const sali_stream *stream, uint32_t block, int64_t n, const uint32_t *chain,
                       uint32_t *out)
{
    WORDS(stream, block, n, false, chain, out);
}

static TARGET void STEPS(const sali_stream *stream, uint32_t block, int64_t n,
                         const uint32_t *after, uint32_t *out)
{
    WORDS(stream, block, n, true, after, out);
}

#undef TARGET
#undef TILE
#undef ROW
#undef STEPS
#undef ROUNDS
#undef WORDS
#undef VECTOR
#undef MUL
#undef UNPACK_LO
#undef UNPACK_HI
