/* The Philox tile for one instruction set of x86-64. Included by philox.c once for each, which
 * defines
 *
 *     TARGET            the function attribute that enables the instruction set
 *     TILE              the function's name
 *     VECTOR            a vector of LANES 64-bit unsigned integers
 *     MUL(a, b)         products of the low halves of each lane
 *     UNPACK_LO(a, b)   lanes 0 2 4 .. of a and b in turn: a0 b0 a2 b2 ..
 *     UNPACK_HI(a, b)   lanes 1 3 5 .. in the same way
 *
 * A 32-bit word lives in the low half of a lane, where the multiplication wants it; what piles up
 * in the high half never reaches a result. */

static TARGET void TILE(const sali_stream *stream, uint32_t first, uint32_t *out)
{
    enum { LANES = sizeof(VECTOR) / sizeof(uint64_t), HALF = LANES / 2 };
    const VECTOR zero = { 0 };
    const VECTOR m0 = zero + PHILOX_M4x32_0, m1 = zero + PHILOX_M4x32_1;
    const VECTOR w0 = zero + PHILOX_W32_0, w1 = zero + PHILOX_W32_1;

    /* Even lanes hold the first half of the blocks, so that unpacking puts blocks in order. */
    VECTOR block = zero;
    for (int i = 0; i < HALF; i++) {
        block[2 * i] = (uint64_t)i;
        block[2 * i + 1] = (uint64_t)(i + HALF);
    }
    block += zero + (stream->purpose << 24 | first);

    for (int b = 0; b < SALI_PHILOX_BLOCKS; b += LANES, block += zero + LANES) {
        VECTOR k0 = zero + (uint32_t)stream->seed, k1 = zero + (uint32_t)(stream->seed >> 32);
        VECTOR c0 = zero + (uint32_t)stream->step;
        VECTOR c1 = zero + (uint32_t)(stream->step >> 32);
        VECTOR c2 = zero + stream->chain;
        VECTOR c3 = block;
        for (int round = 0; round < 10; round++) {
            VECTOR p0 = MUL(m0, c0), p1 = MUL(m1, c2);
            c0 = (p1 >> 32) ^ c1 ^ k0;
            c1 = p1;
            c2 = (p0 >> 32) ^ c3 ^ k1;
            c3 = p0;
            k0 += w0;
            k1 += w1;
        }
        VECTOR c01 = (c0 & 0xffffffffu) | c1 << 32;
        VECTOR c23 = (c2 & 0xffffffffu) | c3 << 32;
        VECTOR front = UNPACK_LO(c01, c23), back = UNPACK_HI(c01, c23);
        memcpy(out + 4 * b, &front, sizeof front);
        memcpy(out + 4 * (b + HALF), &back, sizeof back);
    }
}

#undef TARGET
#undef TILE
#undef VECTOR
#undef MUL
#undef UNPACK_LO
#undef UNPACK_HI
