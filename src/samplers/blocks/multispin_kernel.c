/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <string.h>

#include "core/rng.h"
#include "core/vector/clones.h"
#include "samplers/blocks/multispin.h"

enum { LANES = SALI_SPIN_LANES, DIGITS = 64, BLOCK = 4 /* digits of a block of random numbers */ };

/* A word of each variable of a tile. */
typedef uint32_t spins __attribute__((vector_size(LANES * sizeof(uint32_t)), aligned(4)));

#define INLINE static inline __attribute__((always_inline))

/* Binary digits of a count of at most `slots`. */
INLINE int digits_of(const int slots)
{
    return slots < 2 ? 1 : slots < 4 ? 2 : slots < 8 ? 3 : slots < 16 ? 4 : 5;
}

/* digit [5]: the binary digits of how many of the words near [slots] are 1 in each bit. */
INLINE void count_bits(const int slots, const spins *near, spins *digit)
{
    const spins zero = { 0 };
#pragma GCC unroll 5
    for (int b = 0; b < 5; b++) {
        digit[b] = zero;
    }
#pragma GCC unroll 16
    for (int k = 0; k < slots; k++) {
        spins carry = near[k];
#pragma GCC unroll 5
        for (int b = 0; b < digits_of(slots); b++) {
            const spins both = digit[b] & carry;
            digit[b] ^= carry;
            carry = both;
        }
    }
}

/* masks [slots + 1]: the bits whose count is k. */
INLINE void select_counts(const int slots, const spins *digit, spins *masks)
{
#pragma GCC unroll 16
    for (int k = 0; k <= slots; k++) {
        spins mask = ~(spins){ 0 };
#pragma GCC unroll 4
        for (int b = 0; b < digits_of(slots); b++) {
            mask &= k >> b & 1 ? digit[b] : ~digit[b];
        }
        masks[k] = mask;
    }
}

/* Words near [n] of the neighbours of a tile's variables: 1 where they pull up. */
INLINE void gather(const int n, const uint32_t *near, const uint32_t *states, spins *words)
{
    for (int k = 0; k < n; k++) {
        uint32_t word[LANES];
#pragma omp simd
        for (int l = 0; l < LANES; l++) {
            const uint32_t to = near[k * LANES + l];
            word[l] = states[to & ~SALI_SPIN_TURNED] ^ -(to >> 31);
        }
        memcpy(&words[k], word, sizeof word);
    }
}

/* The words of a tile's variables. */
INLINE void load_sites(const sali_spin_tile *tile, const uint32_t *states, spins *words)
{
    uint32_t word[LANES];
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
        word[l] = states[tile->site[l]];
    }
    memcpy(words, word, sizeof word);
}

/* masks: the bits of each count of both sizes. Returns the number of counts. */
INLINE int count_near(const int first, const int second, const uint32_t *near,
                      const uint32_t *states, spins *masks)
{
    spins digit[5], words[SALI_SPIN_NEIGHBOURS + 1], own[SALI_SPIN_COUNTS], other[SALI_SPIN_COUNTS];
    gather(first, near, states, words);
    count_bits(first, words, digit);
    select_counts(first, digit, second > 0 ? own : masks);
    if (second > 0) {
        gather(second, near + first * LANES, states, words);
        count_bits(second, words, digit);
        select_counts(second, digit, other);
        for (int k = 0; k <= second; k++) {
            for (int j = 0; j <= first; j++) {
                masks[k * (first + 1) + j] = own[j] & other[k];
            }
        }
    }
    return (first + 1) * (second + 1);
}

/* Vectors go by pointers: as values of inline functions they would change calls by the instruction
 * set. */
INLINE bool is_any(const spins *v)
{
    uint64_t part[LANES / 2], all = 0;
    memcpy(part, v, sizeof part);
    for (int k = 0; k < LANES / 2; k++) {
        all |= part[k];
    }
    return all != 0;
}

/* Set the bits of *up that are 1 where u < p of their count, among those of `live`. Digits of u are
 * drawn until all of these are decided. */
INLINE void decide(const int counts, const spins *masks, const spins *live,
                   const sali_spin_tile *tile, const sali_stream *stream, spins *up)
{
    const spins zero = { 0 };
    spins open = *live, ones = zero;
    /* of many bits some are always left after four digits */
    const int sure = __builtin_popcount(tile->live) > 4 ? 2 * BLOCK : BLOCK;
    for (int j = 0; j < sure || (j < DIGITS && is_any(&open)); j += BLOCK) {
        spins random[BLOCK];
        uint32_t words[BLOCK * LANES];
        sali_rng_words_by_step(stream, (uint32_t)(j / BLOCK), LANES, tile->site, words);
        memcpy(random, words, sizeof random);
        for (int d = 0; d < BLOCK; d++) {
            const uint32_t *digits = tile->digits + (j + d) * counts;
            spins p = zero;
            for (int k = 0; k < counts; k++) {
                p |= masks[k] & (zero + digits[k]);
            }
            const spins differs = (random[d] ^ p) & open;
            ones |= differs & p;
            open &= ~differs;
        }
    }
    *up = ones;
}

INLINE void update(const int first, const int second, const sali_spin_tile *tile,
                   const sali_stream *stream, uint32_t *states, uint32_t *changed)
{
    const spins zero = { 0 };
    spins masks[SALI_SPIN_COUNTS], old, site, up;
    uint32_t after[LANES];
    const int counts = count_near(first, second, tile->near, states, masks);
    memcpy(&site, tile->site, sizeof site);
    const spins moving = (spins)(site >= zero + tile->from) & (spins)(site < zero + tile->to);
    const spins live = moving & (zero + tile->live);
    load_sites(tile, states, &old);
    decide(counts, masks, &live, tile, stream, &up);
    up |= old & ~moving;
    memcpy(after, &up, sizeof up);
    for (int l = 0; l < LANES; l++) {
        states[tile->site[l]] = after[l];
    }
    old ^= up;
    memcpy(changed, &old, sizeof old);
}

SALI_CLONES static void update_any(const sali_spin_tile *tile, const sali_stream *stream,
                                   uint32_t *states, uint32_t *changed)
{
    update(tile->slots[0], tile->slots[1], tile, stream, states, changed);
}

/* The usual numbers of neighbours, which the compiler knows: of square, honeycomb, triangular and
 * cubic lattices, and of square lattices with two sizes. */
#define UPDATE(first, second)                                                                      \
    SALI_CLONES static void update_##first##_##second(const sali_spin_tile *tile,                  \
                                                      const sali_stream *stream, uint32_t *states, \
                                                      uint32_t *changed)                           \
    {                                                                                              \
        update(first, second, tile, stream, states, changed);                                      \
    }
UPDATE(4, 0)
UPDATE(3, 0)
UPDATE(6, 0)
UPDATE(2, 2)

void sali_spin_update(const sali_spin_tile *tile, const sali_stream *stream, uint32_t *states,
                      uint32_t *changed)
{
    static const struct {
        int slots[2];
        void (*update)(const sali_spin_tile *, const sali_stream *, uint32_t *, uint32_t *);
    } known[] = { { { 4, 0 }, update_4_0 },
                  { { 3, 0 }, update_3_0 },
                  { { 6, 0 }, update_6_0 },
                  { { 2, 2 }, update_2_2 } };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (known[k].slots[0] == tile->slots[0] && known[k].slots[1] == tile->slots[1]) {
            known[k].update(tile, stream, states, changed);
            return;
        }
    }
    update_any(tile, stream, states, changed);
}

/* ---- states as they are */

/* Words `digit` [SALI_SPIN_DIGITS lists] of the sums over neighbours of one size of those that pull
 * up and of those that are turned, in the bits that are 1. */
INLINE void list_size(const int slots, const uint32_t *near, const uint32_t *states,
                      const spins *ones, uint32_t *list, int64_t step)
{
    spins words[2 * SALI_SPIN_NEIGHBOURS + 1], digit[5];
    gather(slots, near, states, words);
    for (int k = 0; k < slots; k++) {
        spins to;
        memcpy(&to, near + k * LANES, sizeof to);
        words[slots + k] = -(to >> 31);
    }
    count_bits(2 * slots, words, digit);
    for (int b = 0; b < SALI_SPIN_DIGITS; b++) {
        const spins some = digit[b] & *ones;
        memcpy(list + b * step, &some, sizeof some);
    }
}

SALI_CLONES static void list_states(const sali_spin_tile *tile, const uint32_t *states,
                                    uint32_t *ones, uint32_t *digits, int64_t step)
{
    spins own;
    load_sites(tile, states, &own);
    memcpy(ones, &own, sizeof own);
    list_size(tile->slots[0], tile->near, states, &own, digits, step);
    list_size(tile->slots[1], tile->near + tile->slots[0] * LANES, states, &own,
              digits + SALI_SPIN_DIGITS * step, step);
}

void sali_spin_list(const sali_spin_tile *tile, const uint32_t *states, uint32_t *ones,
                    uint32_t *digits, int64_t step)
{
    list_states(tile, states, ones, digits, step);
}

/* ---- totals */

/* *sum + b + c, bit by bit: *sum and *carry. */
INLINE void add_three(spins *sum, const spins *b, const spins *c, spins *carry)
{
    const spins half = *sum ^ *b;
    *carry = (*sum & *b) | (half & *c);
    *sum = half ^ *c;
}

/* totals [32] += `weight` times the bits of all words of v. */
INLINE void add_bits(const spins *v, int64_t weight, int64_t *totals)
{
    for (int l = 0; l < LANES; l++) {
        const uint32_t word = (*v)[l];
#pragma omp simd
        for (int c = 0; c < 32; c++) {
            totals[c] += weight * (int64_t)(word >> c & 1);
        }
    }
}

/* Four vectors at a time go into counters of COUNTER binary digits, which are emptied before they
 * are full. */
SALI_CLONES static void add_totals(int64_t n, const uint32_t *words, int64_t weight,
                                   int64_t *totals)
{
    enum { AT_ONCE = 4, COUNTER = 6, MOST = (1 << COUNTER) - AT_ONCE };
    const spins *v = (const spins *)words, *end = v + n / LANES;
    while (v < end) {
        spins digit[COUNTER] = { { 0 } };
        for (int k = 0; k < MOST && v < end; k += AT_ONCE) {
            spins x[AT_ONCE] = { { 0 } }, twos[2], carry;
            const int some = end - v < AT_ONCE ? (int)(end - v) : AT_ONCE;
            memcpy(x, v, (size_t)some * sizeof *x);
            v += some;
            add_three(&digit[0], &x[0], &x[1], &twos[0]);
            add_three(&digit[0], &x[2], &x[3], &twos[1]);
            add_three(&digit[1], &twos[0], &twos[1], &carry);
            for (int b = 2; b < COUNTER; b++) {
                const spins both = digit[b] & carry;
                digit[b] ^= carry;
                carry = both;
            }
        }
        for (int b = 0; b < COUNTER; b++) {
            add_bits(&digit[b], weight * (INT64_C(1) << b), totals);
        }
    }
}

void sali_spin_totals(int64_t n, const uint32_t *words, int64_t weight, int64_t *totals)
{
    add_totals(n, words, weight, totals);
}

SALI_CLONES static void add_word(uint32_t word, int64_t weight, int64_t *totals)
{
#pragma omp simd
    for (int c = 0; c < 32; c++) {
        totals[c] += weight * (int64_t)(word >> c & 1);
    }
}

void sali_spin_add(uint32_t word, int64_t weight, int64_t *totals)
{
    add_word(word, weight, totals);
}

/* ---- states */

SALI_CLONES static void take_codes(int64_t count, const uint32_t *states, int bit, int32_t *codes)
{
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        codes[i] = (int32_t)(states[i] >> bit & 1);
    }
}

void sali_spin_codes(int64_t count, const uint32_t *states, int bit, int32_t *codes)
{
    take_codes(count, states, bit, codes);
}
