/* Streams of random numbers on top of Philox tiles. A tile never depends on how many numbers are
 * asked for, so neither does any element; conversions are exact, so all instruction sets agree. */
#include "core/rng.h"

#include <assert.h>
#include <math.h>
#include <sleef.h>
#include <string.h>

#include "core/clones.h"
#include "core/philox.h"

/* A block counter has 24 bits; one more would run into the purpose. */
static void check_room(uint32_t first, int64_t words)
{
    assert(words >= 0 && first + (words + 3) / 4 <= (int64_t)1 << 24);
    (void)first;
    (void)words;
}

void sali_rng_words(const sali_stream *stream, uint32_t first, int64_t n, uint32_t *out)
{
    check_room(first, n);
    sali_philox_tile *tile = sali_philox_tiles[sali_isa_best()];
    for (; n >= SALI_PHILOX_WORDS; n -= SALI_PHILOX_WORDS) {
        tile(stream, first, out);
        first += SALI_PHILOX_BLOCKS;
        out += SALI_PHILOX_WORDS;
    }
    if (n > 4) {
        uint32_t last[SALI_PHILOX_WORDS];
        tile(stream, first, last);
        memcpy(out, last, (size_t)n * sizeof *out);
    } else if (n > 0) {
        philox4x32_ctr_t last = sali_philox_block(stream, first);
        memcpy(out, last.v, (size_t)n * sizeof *out);
    }
}

void sali_rng_words_by_chain(const sali_stream *stream, uint32_t block, int64_t n,
                             const uint32_t *chain, uint32_t *out)
{
    assert(n % SALI_RNG_CHAINS == 0);
    check_room(block, 4);
    sali_philox_rows[sali_isa_best()](stream, block, n, chain, out);
}

/* The middles of 2^23 and of 2^52 equal intervals: 0 and 1 cannot occur, and nothing rounds. */
static inline float unit_f32(uint32_t word)
{
    return (float)(int32_t)(word >> 9) * 0x1p-23f + 0x1p-24f;
}

static inline double unit_f64(uint32_t low, uint32_t high)
{
    uint64_t bits = (uint64_t)high << 32 | low;
    return (double)(int64_t)(bits >> 12) * 0x1p-52 + 0x1p-53;
}

SALI_CLONES
static void units_f32(int64_t n, const uint32_t *words, float *out)
{
    for (int64_t k = 0; k < n; k++) {
        out[k] = unit_f32(words[k]);
    }
}

SALI_CLONES
static void units_f64(int64_t n, const uint32_t *words, double *out)
{
    for (int64_t k = 0; k < n; k++) {
        out[k] = unit_f64(words[2 * k], words[2 * k + 1]);
    }
}

/* Words go through a buffer that stays in the first-level cache. */
#define CHUNK_BLOCKS (16 * SALI_PHILOX_BLOCKS)

void sali_rng_uniform_f32(const sali_stream *stream, int64_t n, float *out)
{
    enum { CHUNK = 4 * CHUNK_BLOCKS };
    uint32_t words[CHUNK];
    for (uint32_t block = 0; n > 0; block += CHUNK_BLOCKS, n -= CHUNK, out += CHUNK) {
        int64_t m = n < CHUNK ? n : CHUNK;
        sali_rng_words(stream, block, m, words);
        units_f32(m, words, out);
    }
}

/* The uniforms from block `first` on, for at most CHUNK_BLOCKS blocks. */
static void chunk_f64(const sali_stream *stream, uint32_t first, int64_t n, double *out)
{
    uint32_t words[4 * CHUNK_BLOCKS];
    sali_rng_words(stream, first, 2 * n, words);
    units_f64(n, words, out);
}

void sali_rng_uniform_f64(const sali_stream *stream, int64_t n, double *out)
{
    enum { CHUNK = 2 * CHUNK_BLOCKS };
    for (uint32_t block = 0; n > 0; block += CHUNK_BLOCKS, n -= CHUNK, out += CHUNK) {
        chunk_f64(stream, block, n < CHUNK ? n : CHUNK, out);
    }
}

double sali_rng_uniform_at(const sali_stream *stream, uint32_t k)
{
    check_room(k / 2, 4);
    philox4x32_ctr_t words = sali_philox_block(stream, k / 2);
    return k % 2 ? unit_f64(words.v[2], words.v[3]) : unit_f64(words.v[0], words.v[1]);
}

/* Box and Muller 1958: the uniforms u, v of a block give two normals, sqrt(-2 log u) times the
 * cosine and the sine of 2 pi v. SLEEF's "cinz" functions give the same bits on all machines. */
static void box_muller(int64_t pairs, double *z)
{
    for (int64_t i = 0; i < pairs; i++) {
        double radius = sqrt(-2 * Sleef_cinz_logd1_u10purec(z[2 * i]));
        double half_turns = 2 * z[2 * i + 1];
        z[2 * i] = radius * Sleef_cinz_cospid1_u05purec(half_turns);
        z[2 * i + 1] = radius * Sleef_cinz_sinpid1_u05purec(half_turns);
    }
}

void sali_rng_normal(const sali_stream *stream, int64_t n, double *out)
{
    enum { CHUNK = 2 * CHUNK_BLOCKS };
    double z[CHUNK];
    for (uint32_t block = 0; n > 0; block += CHUNK_BLOCKS, n -= CHUNK, out += CHUNK) {
        int64_t m = n < CHUNK ? n : CHUNK;
        int64_t pairs = (m + 1) / 2;
        chunk_f64(stream, block, 2 * pairs, z);
        box_muller(pairs, z);
        memcpy(out, z, (size_t)m * sizeof *out);
    }
}

uint32_t sali_rng_below(const sali_stream *stream, uint32_t k, uint32_t bound)
{
    assert(bound > 0);
    check_room(k / 2, 4);
    philox4x32_ctr_t words = sali_philox_block(stream, k / 2);
    uint64_t low = words.v[k % 2 * 2], high = words.v[k % 2 * 2 + 1];
    /* The top 32 bits of the 96-bit product (high 2^32 + low) bound. */
    return (uint32_t)((high * bound + (low * bound >> 32)) >> 32);
}

void sali_rng_choose(const sali_stream *stream, uint32_t n, uint32_t m, uint32_t *work,
                     uint32_t *out)
{
    assert(m <= n);
    for (uint32_t i = 0; i < n; i++) {
        work[i] = i;
    }
    for (uint32_t i = 0; i < m; i++) {
        uint32_t j = i + sali_rng_below(stream, i, n - i);
        out[i] = work[j];
        work[j] = work[i];
    }
}
