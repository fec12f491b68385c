/* SPDX-License-Identifier: MIT */
/* Streams of random numbers. Seeds are fixed, so a test either always passes or never; thresholds
 * are such that a correct generator fails with probability about 1e-6 over the choice of seed. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "chi_square.h"
#include "core/philox.h"
#include "core/rng.h"

#define P_LEAST 1e-6
#define SIGMAS 5.0 /* two-sided 6e-7 */

static const sali_stream base = { 0x0123456789abcdef, 17, 3, SALI_RNG_TEST };

/* _i: 0 by chain, 1 by step, where sums pass 32 bits. */
START_TEST(rows_of_chains_and_of_steps_equal_their_streams)
{
    enum { N = 3 * SALI_RNG_CHAINS };
    uint32_t number[N], rows[4 * N], own[4];
    sali_stream s = { UINT64_C(0xfedcba9876543210), UINT64_C(0x380000007), 0, SALI_RNG_TEST };
    for (uint32_t k = 0; k < N; k++) {
        number[k] = k * k * 2654435761u;
    }
    for (sali_isa isa = SALI_ISA_BASE; isa <= sali_isa_best(); isa++) {
        (_i ? sali_philox_steps : sali_philox_rows)[isa](&s, 5, N, number, rows);
        for (int k = 0; k < N; k++) {
            sali_stream one = s;
            one.chain = _i ? s.chain : number[k];
            one.step += _i ? number[k] : 0;
            sali_rng_words(&one, 5, 4, own);
            for (int w = 0; w < 4; w++) {
                ck_assert_uint_eq(rows[w * N + k], own[w]);
            }
        }
    }
}
END_TEST

/* However many there are, and whatever comes behind them. */
START_TEST(uniform_pairs_are_the_first_two_of_each_stream)
{
    enum { MOST = 2 * SALI_RNG_CHAINS + 1 };
    static const int64_t counts[] = { 1, 7, SALI_RNG_CHAINS, SALI_RNG_CHAINS + 5, MOST };
    uint32_t chain[MOST];
    sali_stream s = base;
    for (uint32_t k = 0; k < MOST; k++) {
        chain[k] = k * k * 2654435761u + 1;
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double first[MOST + 1] = { 0 }, second[MOST + 1] = { 0 }, own[2];
        sali_rng_uniform_pairs(&base, counts[i], chain, first, second);
        for (int64_t k = 0; k < counts[i]; k++) {
            s.chain = chain[k];
            sali_rng_uniform_f64(&s, 2, own);
            ck_assert_double_eq(first[k], own[0]);
            ck_assert_double_eq(second[k], own[1]);
        }
        ck_assert_double_eq(first[counts[i]], 0);
        ck_assert_double_eq(second[counts[i]], 0);
    }
}
END_TEST

/* The p-value of equal expected counts. */
static double uniform_p(int cells, const double *counts)
{
    double total = 0, *expected = malloc((size_t)cells * sizeof *expected);
    for (int i = 0; i < cells; i++) {
        total += counts[i];
    }
    for (int i = 0; i < cells; i++) {
        expected[i] = total / cells;
    }
    double p = chi_square_p(cells, counts, expected);
    free(expected);
    return p;
}

/* The stream whose block `block` has this counter and key. */
static sali_stream stream_at(const uint32_t counter[4], const uint32_t key[2], uint32_t *block)
{
    *block = counter[3] & 0xffffff;
    return (sali_stream){ (uint64_t)key[1] << 32 | key[0], (uint64_t)counter[1] << 32 | counter[0],
                          counter[2], counter[3] >> 24 };
}

/* Random123 1.14, tests/kat_vectors, "philox4x32 10": zeros, ones, digits of pi. */
START_TEST(known_answers)
{
    static const struct {
        uint32_t counter[4], key[2], words[4];
    } known[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { ~0u, ~0u, ~0u, ~0u },
          { ~0u, ~0u },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t block, words[SALI_PHILOX_WORDS];
        sali_stream s = stream_at(known[i].counter, known[i].key, &block);
        sali_rng_words(&s, block, 4, words);
        ck_assert_mem_eq(words, known[i].words, sizeof known[i].words);
        for (sali_isa isa = SALI_ISA_BASE; isa <= sali_isa_best(); isa++) {
            sali_philox_tiles[isa](&s, block, words);
            ck_assert_mem_eq(words, known[i].words, sizeof known[i].words);
        }
    }
}
END_TEST

START_TEST(tiles_of_all_instruction_sets_equal_random123)
{
    for (uint32_t trial = 0; trial < 2000; trial++) {
        sali_stream source = base;
        source.step = trial;
        uint32_t random[6], block, got[SALI_PHILOX_WORDS];
        sali_rng_words(&source, 0, 6, random);
        sali_stream s = stream_at(random, random + 4, &block);
        block &= 0xffff00; /* leave room for a tile */
        for (sali_isa isa = SALI_ISA_BASE; isa <= sali_isa_best(); isa++) {
            sali_philox_tiles[isa](&s, block, got);
            for (uint32_t b = 0; b < SALI_PHILOX_BLOCKS; b++) {
                philox4x32_ctr_t counter = { { random[0], random[1], random[2],
                                               (random[3] & 0xffffff00) + b } };
                philox4x32_key_t key = { { random[4], random[5] } };
                philox4x32_ctr_t want = philox4x32(counter, key);
                ck_assert_mem_eq(got + 4 * b, want.v, sizeof want.v);
            }
        }
    }
}
END_TEST

START_TEST(words_depend_neither_on_n_nor_on_the_first_block)
{
    enum { N = 2000 };
    static uint32_t all[N], some[N + 1];
    sali_rng_words(&base, 0, N, all);
    for (int n = 0; n < 300; n++) {
        for (uint32_t first = 0; first < 40; first += 13) {
            some[n] = 42;
            sali_rng_words(&base, first, n, some);
            ck_assert_mem_eq(some, all + 4 * first, (size_t)n * sizeof *some);
            ck_assert_uint_eq(some[n], 42);
        }
    }
}
END_TEST

START_TEST(elements_depend_on_words_only)
{
    enum { N = 2500 };
    static const int lengths[] = { 0, 1, 2, 3, 4, 5, 63, 64, 65, 511, 512, 513, 1025, 2049, N };
    static uint32_t words[2 * N];
    static float f[N + 1], g[N + 1], g_all[N];
    static double d[N + 1], z[N + 1], z_all[N];
    sali_rng_words(&base, 0, 2 * N, words);
    sali_rng_normal(&base, N, z_all);
    sali_rng_normal_f32(&base, N, g_all);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int n = lengths[i];
        f[n] = g[n] = 42;
        d[n] = z[n] = 42;
        sali_rng_uniform_f32(&base, n, f);
        sali_rng_uniform_f64(&base, n, d);
        sali_rng_normal(&base, n, z);
        sali_rng_normal_f32(&base, n, g);
        for (int k = 0; k < n; k++) {
            ck_assert(f[k] == (float)(words[k] >> 9) * 0x1p-23f + 0x1p-24f);
            uint64_t bits = (uint64_t)words[2 * k + 1] << 32 | words[2 * k];
            ck_assert(d[k] == (double)(bits >> 12) * 0x1p-52 + 0x1p-53);
            ck_assert(d[k] == sali_rng_uniform_at(&base, (uint32_t)k));
            ck_assert(z[k] == z_all[k]);
            ck_assert(g[k] == g_all[k]);
        }
        ck_assert(f[n] == 42 && g[n] == 42 && d[n] == 42 && z[n] == 42);
    }
}
END_TEST

/* Streams that differ in one thing share no block; steps are 64 bits wide. */
START_TEST(streams_differ)
{
    sali_stream streams[16];
    int n = 0;
    const uint64_t steps[] = { 0, 1, 0xffffffff, 0x100000000, 0x100000001, UINT64_MAX };
    for (int i = 0; i < 6; i++) {
        streams[n] = base;
        streams[n++].step = steps[i];
    }
    const uint64_t seeds[] = { 0, 1, base.seed ^ 1, base.seed ^ (uint64_t)1 << 63 };
    for (int i = 0; i < 4; i++) {
        streams[n] = base;
        streams[n++].seed = seeds[i];
    }
    for (uint32_t i = 0; i < 3; i++) {
        streams[n] = base;
        streams[n++].chain = i << 30;
        streams[n] = base;
        streams[n++].purpose = SALI_RNG_INIT + i;
    }
    for (int a = 0; a < n; a++) {
        for (int b = a + 1; b < n; b++) {
            uint32_t u[64], v[64];
            sali_rng_words(&streams[a], 0, 64, u);
            sali_rng_words(&streams[b], 0, 64, v);
            int equal = 0;
            for (int k = 0; k < 64; k++) {
                equal += u[k] == v[k];
            }
            ck_assert_msg(equal <= 1, "streams %d and %d agree in %d words", a, b, equal);
        }
    }
}
END_TEST

/* A purpose that is missing here is a warning, and two with one number do not compile. */
static bool is_purpose(sali_purpose purpose)
{
    switch (purpose) {
    case SALI_RNG_INIT:
    case SALI_RNG_REPAIR:
    case SALI_RNG_PROPOSAL:
    case SALI_RNG_ACCEPT:
    case SALI_RNG_PARAMS:
    case SALI_RNG_DATA:
    case SALI_RNG_BUFFER:
    case SALI_RNG_DIGITS:
    case SALI_RNG_STATISTIC:
    case SALI_RNG_TEST:
    case SALI_RNG_EXTENSION:
    case SALI_RNG_AUXILIARY:
    case SALI_RNG_RELAXATION:
    case SALI_RNG_SCAN:
    case SALI_RNG_SWAP:
    case SALI_RNG_ANNEAL:
    case SALI_RNG_LEARNING:
    case SALI_RNG_ORDER:
    case SALI_RNG_RESTART:
    case SALI_RNG_BINARISE:
    case SALI_RNG_INPAINT:
    case SALI_RNG_OWN:
    case SALI_RNG_SPLIT:
    case SALI_RNG_VISITS:
    case SALI_RNG_DIRECTION:
    case SALI_RNG_COOLING:
    case SALI_RNG_NOISE:
    case SALI_RNG_EXACT_DRAW:
    case SALI_RNG_EXCHANGE:
    case SALI_RNG_SPINS:
        return true;
    }
    return false;
}

/* The counter has 8 bits for it. */
START_TEST(no_two_purposes_have_one_number)
{
    int known = 0;
    for (int k = 0; k < 256; k++) {
        known += is_purpose((sali_purpose)k);
    }
    ck_assert_int_eq(known, 30);
}
END_TEST

/* Mean k-th power of u over n draws against 1 / (k + 1), whose variance is known. */
static void check_uniform_moments(const double *u, int n)
{
    for (int k = 1; k <= 4; k++) {
        double sum = 0, mean = 1.0 / (k + 1);
        for (int i = 0; i < n; i++) {
            sum += pow(u[i], k);
        }
        double sigma = sqrt((1.0 / (2 * k + 1) - mean * mean) / n);
        ck_assert_msg(fabs(sum / n - mean) < SIGMAS * sigma, "moment %d: %g", k, sum / n);
    }
}

/* Cells of single numbers, and of pairs of neighbours. */
static void check_uniform_cells(const double *u, int n)
{
    enum { CELLS = 256, SIDE = 32 };
    static double single[CELLS], pair[SIDE * SIDE];
    memset(single, 0, sizeof single);
    memset(pair, 0, sizeof pair);
    for (int i = 0; i < n; i++) {
        if (!(u[i] > 0 && u[i] < 1)) {
            ck_abort_msg("element %d is %a", i, u[i]);
        }
        single[(int)(u[i] * CELLS)]++;
    }
    for (int i = 0; i + 1 < n; i += 2) {
        pair[(int)(u[i] * SIDE) * SIDE + (int)(u[i + 1] * SIDE)]++;
    }
    ck_assert_double_gt(uniform_p(CELLS, single), P_LEAST);
    ck_assert_double_gt(uniform_p(SIDE * SIDE, pair), P_LEAST);
}

START_TEST(uniforms_are_uniform)
{
    enum { N = 1000000 };
    float *f = malloc(N * sizeof *f);
    double *u = malloc(N * sizeof *u);
    sali_rng_uniform_f32(&base, N, f);
    for (int i = 0; i < N; i++) {
        u[i] = f[i];
    }
    check_uniform_moments(u, N);
    check_uniform_cells(u, N);
    sali_rng_uniform_f64(&base, N, u);
    check_uniform_moments(u, N);
    check_uniform_cells(u, N);
    free(f);
    free(u);
}
END_TEST

/* Neighbours across chains and across steps, where the counter changes by one. */
START_TEST(first_numbers_of_successive_streams_are_uniform)
{
    enum { N = 200000 };
    double *u = malloc(N * sizeof *u);
    for (uint32_t i = 0; i < N; i++) {
        sali_stream s = base;
        s.chain = i;
        u[i] = sali_rng_uniform_at(&s, 0);
    }
    check_uniform_moments(u, N);
    check_uniform_cells(u, N);
    for (uint32_t i = 0; i < N; i++) {
        sali_stream s = base;
        s.step = i;
        u[i] = sali_rng_uniform_at(&s, 0);
    }
    check_uniform_moments(u, N);
    check_uniform_cells(u, N);
    free(u);
}
END_TEST

enum { NORMALS = 1000000 };

/* E z^k is 0, 1, 0, 3 for k = 1 .. 4, and Var z^k = E z^2k - (E z^k)^2 is 1, 2, 15, 96. */
static void check_normal(const double *z)
{
    enum { N = NORMALS, CELLS = 64 };
    static const double moment[] = { 0, 1, 0, 3 }, variance[] = { 1, 2, 15, 96 };
    double sums[4] = { 0 }, counts[CELLS] = { 0 };
    for (int i = 0; i < N; i++) {
        double power = 1;
        for (int k = 0; k < 4; k++) {
            power *= z[i];
            sums[k] += power;
        }
        counts[(int)(CELLS * 0.5 * erfc(-z[i] * sqrt(0.5)))]++;
    }
    for (int k = 0; k < 4; k++) {
        ck_assert_msg(fabs(sums[k] / N - moment[k]) < SIGMAS * sqrt(variance[k] / N),
                      "moment %d: %g", k + 1, sums[k] / N);
    }
    ck_assert_double_gt(uniform_p(CELLS, counts), P_LEAST);
}

/* The two normals of a pair, `apart` from each other, are independent: E z0 z1 = 0 and
 * Cov(z0^2, z1^2) = 0, of variance 1 and 8. */
static void check_pairs(const double *z, int apart)
{
    double cross = 0, squares = 0;
    int pairs = 0;
    for (int i = 0; i + apart < NORMALS; i += i % apart == apart - 1 ? apart + 1 : 1) {
        cross += z[i] * z[i + apart];
        squares += z[i] * z[i] * z[i + apart] * z[i + apart] - 1;
        pairs++;
    }
    ck_assert_double_lt(fabs(cross), SIGMAS * sqrt(pairs));
    ck_assert_double_lt(fabs(squares), SIGMAS * sqrt(8.0 * pairs));
}

START_TEST(normals_are_normal)
{
    double *z = malloc(NORMALS * sizeof *z);
    sali_rng_normal(&base, NORMALS, z);
    check_normal(z);
    check_pairs(z, 1);
    free(z);
}
END_TEST

START_TEST(normals_in_single_precision_are_normal)
{
    double *z = malloc(NORMALS * sizeof *z);
    float *single = malloc(NORMALS * sizeof *single);
    sali_rng_normal_f32(&base, NORMALS, single);
    for (int i = 0; i < NORMALS; i++) {
        z[i] = (double)single[i];
    }
    check_normal(z);
    check_pairs(z, 16);
    free(z);
    free(single);
}
END_TEST

/* Against the same function of the words in double precision; the uniform is a float. */
START_TEST(normals_in_single_precision_are_box_muller_of_the_words)
{
    enum { N = 320000, HALF = 16 };
    static uint32_t words[N];
    static float z[N];
    double pi = acos(-1.0), worst = 0;
    sali_rng_words(&base, 0, N, words);
    sali_rng_normal_f32(&base, N, z);
    for (int i = 0; i < N; i += i % HALF == HALF - 1 ? HALF + 1 : 1) {
        uint32_t turn = words[i + HALF];
        float u = ((float)(words[i] >> 1) + 0.5f) * 0x1p-31f;
        double radius = sqrt(-2 * log((double)u));
        double place = (double)(turn & 0x3fffffff) - (turn & 1u << 29 ? 0x1p30 : 0) + 0.5;
        double angle = pi / 2 * ((double)(turn >> 30) + place * 0x1p-30);
        worst = fmax(worst, fabs((double)z[i] - radius * cos(angle)));
        worst = fmax(worst, fabs((double)z[i + HALF] - radius * sin(angle)));
    }
    ck_assert_double_lt(worst, 2e-6);
}
END_TEST

/* More of them than are made at once. */
START_TEST(normals_are_box_muller_of_the_uniforms)
{
    enum { N = 1100 };
    double u[N], z[N];
    sali_rng_uniform_f64(&base, N, u);
    sali_rng_normal(&base, N, z);
    for (int i = 0; i < N; i += 2) {
        double radius = sqrt(-2 * log(u[i])), angle = 2 * acos(-1.0) * u[i + 1];
        ck_assert_double_eq_tol(z[i], radius * cos(angle), 1e-14);
        ck_assert_double_eq_tol(z[i + 1], radius * sin(angle), 1e-14);
    }
}
END_TEST

/* Bounds above the number of cells are cut into equal parts as well as integers allow. */
START_TEST(below_is_unbiased_and_in_range)
{
    enum { N = 300000, CELLS = 10 };
    static const uint32_t bounds[] = { 1, 2, 3, 10, 1000003, 0x80000001, 0xffffffff };
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        uint32_t bound = bounds[i];
        int cells = bound < CELLS ? (int)bound : CELLS;
        double counts[CELLS] = { 0 };
        for (uint32_t k = 0; k < N; k++) {
            uint32_t value = sali_rng_below(&base, k, bound);
            if (value >= bound) {
                ck_abort_msg("%u is not below %u", value, bound);
            }
            counts[(uint64_t)value * (uint32_t)cells / bound]++;
        }
        ck_assert_msg(uniform_p(cells, counts) > P_LEAST, "bound %u", bound);
    }
}
END_TEST

/* value = floor(bits bound / 2^64), checked without a wider integer: long double holds `bits`, and
 * its product is off by less than 1e-9. */
START_TEST(below_is_the_multiply_shift_of_the_words)
{
    uint32_t words[2000];
    sali_rng_words(&base, 0, 2000, words);
    for (uint32_t k = 0; k < 1000; k++) {
        uint64_t bits = (uint64_t)words[2 * k + 1] << 32 | words[2 * k];
        uint32_t bound = 0xffffffffu - k * 4000000u;
        long double exact = ldexpl((long double)bits * bound, -64);
        uint32_t value = sali_rng_below(&base, k, bound);
        ck_assert(value - 1e-9L <= exact && exact <= value + 1 + 1e-9L);
    }
}
END_TEST

START_TEST(choose_gives_ordered_pairs_uniformly)
{
    enum { TRIALS = 200000 };
    double counts[20] = { 0 };
    for (int t = 0; t < TRIALS; t++) {
        sali_stream s = base;
        s.step = (uint64_t)t;
        uint32_t work[5], out[2];
        sali_rng_choose(&s, 5, 2, work, out);
        if (out[0] >= 5 || out[1] >= 5 || out[0] == out[1]) {
            ck_abort_msg("chose %u and %u", out[0], out[1]);
        }
        counts[4 * out[0] + out[1] - (out[1] > out[0])]++;
    }
    ck_assert_double_gt(uniform_p(20, counts), P_LEAST);
}
END_TEST

START_TEST(choose_gives_distinct_integers)
{
    enum { N = 100 };
    for (uint32_t m = 0; m <= N; m++) {
        uint32_t work[N], out[N + 1];
        bool seen[N] = { false };
        out[m] = 42;
        sali_rng_choose(&base, N, m, work, out);
        for (uint32_t i = 0; i < m; i++) {
            ck_assert_uint_lt(out[i], N);
            ck_assert(!seen[out[i]]);
            seen[out[i]] = true;
        }
        ck_assert_uint_eq(out[m], 42);
    }
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("rng");
    TCase *c = tcase_create("rng");
    tcase_add_test(c, known_answers);
    tcase_add_test(c, tiles_of_all_instruction_sets_equal_random123);
    tcase_add_loop_test(c, rows_of_chains_and_of_steps_equal_their_streams, 0, 2);
    tcase_add_test(c, uniform_pairs_are_the_first_two_of_each_stream);
    tcase_add_test(c, words_depend_neither_on_n_nor_on_the_first_block);
    tcase_add_test(c, elements_depend_on_words_only);
    tcase_add_test(c, streams_differ);
    tcase_add_test(c, no_two_purposes_have_one_number);
    tcase_add_test(c, uniforms_are_uniform);
    tcase_add_test(c, first_numbers_of_successive_streams_are_uniform);
    tcase_add_test(c, normals_are_normal);
    tcase_add_test(c, normals_are_box_muller_of_the_uniforms);
    tcase_add_test(c, normals_in_single_precision_are_normal);
    tcase_add_test(c, normals_in_single_precision_are_box_muller_of_the_words);
    tcase_add_test(c, below_is_unbiased_and_in_range);
    tcase_add_test(c, below_is_the_multiply_shift_of_the_words);
    tcase_add_test(c, choose_gives_ordered_pairs_uniformly);
    tcase_add_test(c, choose_gives_distinct_integers);
    suite_add_tcase(s, c);
    return s;
}

int main(void)
{
    return test_main(suite());
}
