/* SPDX-License-Identifier: MIT */
/* Streams of random numbers on top of Philox tiles. A tile never depends on how many numbers are
 * asked for, so neither does any element; conversions are exact, so all instruction sets agree. */
#include "core/rng.h"

#include <assert.h>
#include <math.h>
#include <sleef.h>
#include <stdbool.h>
#include <string.h>

#include "core/vector/clones.h"
#include "core/philox.h"

/* Assert that `words` words from block `first` on stay within the 24 bits of the block counter; a
 * larger number would spill into the purpose. */
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

void sali_rng_words_by_step(const sali_stream *stream, uint32_t block, int64_t n,
                            const uint32_t *after, uint32_t *out)
{
    assert(n % SALI_RNG_CHAINS == 0);
    check_room(block, 4);
    sali_philox_steps[sali_isa_best()](stream, block, n, after, out);
}

/* Write n words, rounded up to whole tiles: `out` needs room for the last tile. */
static void whole_tiles(const sali_stream *stream, uint32_t first, int64_t n, uint32_t *out)
{
    check_room(first, n);
    sali_philox_tile *tile = sali_philox_tiles[sali_isa_best()];
    for (int64_t k = 0; k < n; k += SALI_PHILOX_WORDS, first += SALI_PHILOX_BLOCKS) {
        tile(stream, first, out + k);
    }
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
        whole_tiles(stream, block, m, words);
        units_f32(m, words, out);
    }
}

/* The uniforms from block `first` on, for at most CHUNK_BLOCKS blocks. */
static void chunk_f64(const sali_stream *stream, uint32_t first, int64_t n, double *out)
{
    uint32_t words[4 * CHUNK_BLOCKS];
    whole_tiles(stream, first, 2 * n, words);
    units_f64(n, words, out);
}

void sali_rng_uniform_f64_from(const sali_stream *stream, uint32_t first, int64_t n, double *out)
{
    enum { CHUNK = 2 * CHUNK_BLOCKS };
    assert(first % 2 == 0);
    for (uint32_t block = first / 2; n > 0; block += CHUNK_BLOCKS, n -= CHUNK, out += CHUNK) {
        chunk_f64(stream, block, n < CHUNK ? n : CHUNK, out);
    }
}

void sali_rng_uniform_f64(const sali_stream *stream, int64_t n, double *out)
{
    sali_rng_uniform_f64_from(stream, 0, n, out);
}

/* Two uniforms of each of SALI_RNG_CHAINS chains, from `words` [4 x SALI_RNG_CHAINS] as
 * sali_rng_words_by_chain orders them. */
SALI_CLONES
static void pairs_of_row(const uint32_t *words, double *first, double *second)
{
    for (int k = 0; k < SALI_RNG_CHAINS; k++) {
        first[k] = unit_f64(words[k], words[SALI_RNG_CHAINS + k]);
        second[k] = unit_f64(words[2 * SALI_RNG_CHAINS + k], words[3 * SALI_RNG_CHAINS + k]);
    }
}

/* Chains fewer than this are faster one by one than as a part of a row. */
#define FEW_CHAINS 4

void sali_rng_uniform_pairs(const sali_stream *stream, int64_t n, const uint32_t *chain,
                            double *first, double *second)
{
    int64_t k = 0;
    for (; n - k >= FEW_CHAINS; k += SALI_RNG_CHAINS) {
        const size_t m = n - k < SALI_RNG_CHAINS ? (size_t)(n - k) : SALI_RNG_CHAINS;
        uint32_t row[SALI_RNG_CHAINS] = { 0 }, words[4 * SALI_RNG_CHAINS];
        double one[SALI_RNG_CHAINS], two[SALI_RNG_CHAINS];
        memcpy(row, chain + k, m * sizeof *row);
        sali_rng_words_by_chain(stream, 0, SALI_RNG_CHAINS, row, words);
        pairs_of_row(words, one, two);
        memcpy(first + k, one, m * sizeof *first);
        memcpy(second + k, two, m * sizeof *second);
    }
    for (; k < n; k++) {
        sali_stream own = *stream;
        own.chain = chain[k];
        philox4x32_ctr_t words = sali_philox_block(&own, 0);
        first[k] = unit_f64(words.v[0], words.v[1]);
        second[k] = unit_f64(words.v[2], words.v[3]);
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

/* ---- normals in single precision
 *
 * A tile of words gives a tile of normals: word j of its first half is a uniform, word j of its
 * second half an angle, and the pair gives element j of either half. The polynomials are least in
 * their largest error; with nothing but sums, products and roots all instruction sets agree. */

enum { HALF_TILE = 16, TILE = 2 * HALF_TILE };

/* log u of the middle of one of 2^31 intervals of (0, 1), rounded (small ones keep their digits, so
 * tails are right), by u = 2^e m, m in [sqrt 1/2, sqrt 2): errors below 1e-7, relative. */
static inline float log_unit(uint32_t word)
{
    float u = ((float)(int32_t)(word >> 1) + 0.5f) * 0x1p-31f, m;
    int32_t bits, root_half = 0x3f3504f3;
    memcpy(&bits, &u, sizeof bits);
    int32_t e = (bits - root_half) >> 23;
    bits -= e * (1 << 23);
    memcpy(&m, &bits, sizeof m);
    float t = m - 1, p = 0.087003596f;
    p = p * t - 0.14267476f;
    p = p * t + 0.14914787f;
    p = p * t - 0.16577587f;
    p = p * t + 0.19963062f;
    p = p * t - 0.25001338f;
    p = p * t + 0.3333391f;
    return (float)e * 0.6931472f + (t + t * t * (p * t - 0.5f));
}

/* Cosine and sine of a random angle: the top two bits of `word` choose the quarter of the circle,
 * the rest is a signed position within pi / 4 of the middle of that quarter. */
static inline void random_angle(uint32_t word, float *cosine, float *sine)
{
    float t = ((float)((int32_t)(word << 2) >> 2) + 0.5f) * (0x1p-30f * 1.5707964f), t2 = t * t;
    float s = t + t * t2 * (-0.16666655f + t2 * (0.008332178f - t2 * 0.00019517298f));
    float c = 1 - t2 * (0.5f - t2 * (0.041666646f + t2 * (-0.0013887368f + t2 * 2.443845e-5f)));
    bool odd = word & 1u << 30, minus = word & 1u << 31;
    float x = odd ? -s : c, y = odd ? c : s;
    *cosine = minus ? -x : x;
    *sine = minus ? -y : y;
}

/* Normals z from uniform words, tile by tile, as described above; both have `tiles` * TILE
 * elements. */
SALI_CLONES
static void box_muller_f32(int64_t tiles, const uint32_t *restrict words, float *restrict z)
{
    for (int64_t t = 0; t < tiles; t++, words += TILE, z += TILE) {
        for (int j = 0; j < HALF_TILE; j++) {
            float cosine, sine, radius = sqrtf(-2 * log_unit(words[j]));
            random_angle(words[HALF_TILE + j], &cosine, &sine);
            z[j] = radius * cosine;
            z[HALF_TILE + j] = radius * sine;
        }
    }
}

void sali_rng_normal_f32(const sali_stream *stream, int64_t n, float *out)
{
    enum { CHUNK = 4 * CHUNK_BLOCKS };
    uint32_t words[CHUNK];
    float last[TILE];
    for (uint32_t block = 0; n > 0; block += CHUNK_BLOCKS, n -= CHUNK, out += CHUNK) {
        int64_t m = n < CHUNK ? n : CHUNK, tiles = m / TILE, rest = m % TILE;
        whole_tiles(stream, block, (tiles + (rest > 0)) * TILE, words);
        box_muller_f32(tiles, words, out);
        if (rest > 0) {
            box_muller_f32(1, words + tiles * TILE, last);
            memcpy(out + tiles * TILE, last, (size_t)rest * sizeof *out);
        }
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
