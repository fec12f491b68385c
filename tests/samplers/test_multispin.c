/* SPDX-License-Identifier: MIT */
/* Gibbs sampling with many spins a word, against one spin after the other by the same digits. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/rng.h"
#include "samplers/blocks/multispin.h"
#include "samplers/shared.h"
#include "transition.h"

/* Two words of chains, and a part of one. */
#define N_CHAINS 70
#define FIRST_CHAIN 21

enum { MOST_EDGES = 400 };

/* A graph, with its couplings. */
typedef struct graph {
    sal_kind kind;
    int64_t V, n;
    int64_t pairs[2 * MOST_EDGES];
    double weight[MOST_EDGES];
    double bias;
} graph;

static void add_edge(graph *g, int64_t i, int64_t j, double J)
{
    ck_assert_int_lt(g->n, MOST_EDGES);
    g->pairs[2 * g->n] = i;
    g->pairs[2 * g->n + 1] = j;
    g->weight[g->n++] = J;
}

/* A lattice of `height` x `width`, with or without edges around its ends. */
static void add_lattice(graph *g, int64_t height, int64_t width, bool cyclic, double across,
                        double down)
{
    g->V = height * width;
    for (int64_t i = 0; i < g->V; i++) {
        const int64_t r = i / width, c = i % width;
        if (cyclic || c + 1 < width) {
            add_edge(g, i, r * width + (c + 1) % width, across);
        }
        if (cyclic || r + 1 < height) {
            add_edge(g, i, (r + 1) % height * width + c, down);
        }
    }
}

static void make_square(graph *g)
{
    add_lattice(g, 9, 7, true, 0.4, 0.4);
    g->bias = 0.1;
}

static void make_glass(graph *g)
{
    add_lattice(g, 8, 8, true, 0.7, 0.7);
    for (int64_t e = 0; e < g->n; e++) {
        g->weight[e] *= e * e % 5 < 2 ? -1 : 1;
    }
}

static void make_two_sizes(graph *g)
{
    add_lattice(g, 6, 11, true, 0.3, -0.2);
}

static void make_open(graph *g) /* three kinds of variables */
{
    add_lattice(g, 7, 7, false, 0.5, 0.5);
    g->kind = SAL_BINARY;
    g->bias = -0.3;
}

static void make_cube(graph *g)
{
    add_lattice(g, 16, 4, true, 0.2, 0.2); /* 4 x 4 x 4, down by whole layers */
    for (int64_t i = 0; i < g->V; i++) {
        add_edge(g, i, (i + 16) % g->V, 0.2);
    }
}

static void make_ladder(graph *g)
{
    add_lattice(g, 2, 20, false, 0.9, 0.9);
}

static void make_alone(graph *g) /* no couplings at all */
{
    g->V = 33;
    g->bias = 0.6;
}

static void make_long(graph *g) /* ten neighbours, which no compiled kernel has */
{
    g->V = 40;
    for (int64_t i = 0; i < g->V; i++) {
        for (int64_t k = 1; k < 6; k++) {
            add_edge(g, i, (i + k * k) % g->V, 0.1);
        }
    }
}

static void (*const graphs[])(graph *) = { make_square, make_glass,  make_two_sizes, make_open,
                                           make_cube,   make_ladder, make_alone,     make_long };

static sal_model *make_model(const graph *g, sal_dtype dtype)
{
    sal_error err;
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    const sal_block block = { .name = "s", .kind = g->kind, .count = g->V };
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr s = sal_state(tape), f = sal_scale(sal_sum(s), g->bias);
    if (g->n > 0) {
        const sal_expr w = sal_constant(tape, g->weight, SAL_SHAPE(g->n));
        f = sal_add(f, sal_edges(s, w, g->n, g->pairs));
    }
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

/* ---- one spin after the other */

/* The first 64 binary digits of the uniform number of a chain's step. */
static uint64_t digits_of(const sali_chains *chains, int64_t c, uint64_t t)
{
    uint32_t words[64];
    uint64_t digits = 0;
    const sali_stream stream = {
        .seed = chains->seed, .step = t, .chain = chains->id[c / 32 * 32], .purpose = SALI_RNG_SPINS
    };
    sali_rng_words(&stream, 0, 64, words);
    for (int j = 0; j < 64; j++) {
        digits = digits << 1 | (words[j] >> c % 32 & 1);
    }
    return digits;
}

/* n steps of chain c from step t on, at `codes`. Returns how often a variable changed. */
static int64_t walk(const sali_chains *chains, const sali_coupling_values *values, int64_t c,
                    uint64_t t, int64_t n, int32_t *codes)
{
    int64_t flips = 0;
    for (int64_t k = 0; k < n; k++) {
        const int64_t v = (int64_t)((t + (uint64_t)k) % (uint64_t)values->n);
        const double rise = sali_couplings_rise(values, codes, v);
        const double p = 1 / (1 + exp(-chains->beta[c] * rise));
        const int32_t code = (double)digits_of(chains, c, t + (uint64_t)k) < p * 0x1p64;
        flips += code != codes[v];
        codes[v] = code;
    }
    return flips;
}

/* ---- comparison */

/* A model with its couplings, chains and words. */
typedef struct scene {
    sal_model *model;
    sali_couplings *couplings;
    const sali_coupling_values *values;
    bench b;
    sali_multispin *spins;
} scene;

static scene scene_open(void (*make)(graph *), sal_dtype dtype, double beta, uint64_t step)
{
    sal_error err;
    scene s = { 0 };
    graph *g = calloc(1, sizeof *g);
    g->kind = SAL_SPIN;
    make(g);
    s.model = make_model(g, dtype);
    free(g);
    ck_ok(sali_couplings_create(s.model, SALI_BIT_COUPLINGS, &s.couplings, &err), &err);
    s.values = sali_couplings_values(s.couplings);
    const sali_inspection inspection = {
        sali_sampler_find("gibbs"), { .values = { 0, 1 } }, beta, 123
    };
    ck_ok(sali_bench_open(&inspection, s.model, N_CHAINS, step, &s.b, &err), &err);
    sali_chains *chains = s.b.chains;
    for (int64_t c = 0; c < N_CHAINS; c++) {
        chains->id[c] = (uint32_t)(FIRST_CHAIN + c);
        for (int64_t v = 0; v < s.values->n; v++) {
            chains->codes[c * s.values->n + v] = (int32_t)((c * c + 3 * v + v * v * c) % 7 % 2);
        }
    }
    sali_chains_embed(chains);
    sali_chains_start(chains, false);
    ck_assert_int_eq(sali_multispin_create(s.model->space, s.values, N_CHAINS, 0, &s.spins),
                     SAL_OK);
    return s;
}

static void scene_close(scene *s)
{
    sali_multispin_destroy(s->spins);
    bench_close(&s->b);
    sali_couplings_destroy(s->couplings);
    sal_model_destroy(s->model);
}

/* States are equal, f and jumps right after n more steps, which begin at step t. */
static void check_steps(scene *s, uint64_t t, int64_t n, int32_t *codes)
{
    sali_chains *chains = s->b.chains;
    const int64_t V = s->values->n;
    const double span =
        s->model->space->variables[0].levels[1] - s->model->space->variables[0].levels[0];
    double *jump = malloc(N_CHAINS * sizeof *jump);
    memcpy(jump, chains->jump_sum, N_CHAINS * sizeof *jump);
    memcpy(codes, chains->codes, (size_t)(N_CHAINS * V) * sizeof *codes);
    sali_multispin_steps(s->spins, chains, n);
    for (int64_t c = 0; c < N_CHAINS; c++) {
        const int64_t flips = walk(chains, s->values, c, t, n, codes + c * V);
        ck_assert_mem_eq(chains->codes + c * V, codes + c * V, (size_t)V * sizeof *codes);
        ck_assert_double_eq_tol(chains->jump_sum[c] - jump[c], span * (double)flips, 1e-9);
        ck_assert_double_eq_tol(chains->f[c], sali_couplings_value(s->values, codes + c * V), 1e-4);
        ck_assert(chains->step[c] == t + (uint64_t)n);
        for (int64_t v = 0; v < V; v++) {
            ck_assert_double_eq(sali_load(s->model->dtype, chains->x, c * V + v),
                                s->model->space->variables[v].levels[codes[c * V + v]]);
        }
    }
    free(jump);
}

/* Steps by words are the steps of single spins: parts of sweeps, whole ones, and both. */
START_TEST(words_are_single_spins)
{
    const double beta = _i % 2 ? 0.8 : 1;
    uint64_t t = 3;
    scene s = scene_open(graphs[_i / 2], _i % 2 ? SAL_F32 : SAL_F64, beta, t);
    const int64_t V = s.values->n, n[] = { 1, 4, V - 8, V, 3 * V + 7, V - 7, 70 * V, 2 };
    int32_t *codes = malloc((size_t)(N_CHAINS * V) * sizeof *codes);
    ck_assert_ptr_nonnull(s.spins);
    ck_assert(sali_multispin_start(s.spins, s.b.chains));
    for (size_t k = 0; k < sizeof n / sizeof *n; k++) {
        check_steps(&s, t, n[k], codes);
        t += (uint64_t)n[k];
    }
    free(codes);
    scene_close(&s);
}
END_TEST

/* States, f and jumps do not depend on how steps are divided into calls: all bits are equal. */
START_TEST(calls_may_be_divided)
{
    scene one = scene_open(graphs[_i], SAL_F64, 1, 5), many = scene_open(graphs[_i], SAL_F64, 1, 5);
    const int64_t V = one.values->n, n = 5 * V + 11;
    ck_assert(sali_multispin_start(one.spins, one.b.chains));
    ck_assert(sali_multispin_start(many.spins, many.b.chains));
    sali_multispin_steps(one.spins, one.b.chains, n);
    for (int64_t done = 0, k = 0; done < n; k++) {
        const int64_t some = k % 3 == 0 ? 1 : k % 3 == 1 ? V - 2 : V + 3;
        const int64_t left = n - done, part = some < left ? some : left;
        sali_multispin_steps(many.spins, many.b.chains, part);
        done += part;
    }
    ck_assert_mem_eq(one.b.chains->codes, many.b.chains->codes,
                     (size_t)(N_CHAINS * V) * sizeof *one.b.chains->codes);
    ck_assert_mem_eq(one.b.chains->f, many.b.chains->f, N_CHAINS * sizeof(double));
    ck_assert_mem_eq(one.b.chains->jump_sum, many.b.chains->jump_sum, N_CHAINS * sizeof(double));
    scene_close(&one);
    scene_close(&many);
}
END_TEST

/* ---- what is not suited */

static void make_three_sizes(graph *g)
{
    add_lattice(g, 5, 5, true, 0.3, 0.2);
    g->weight[3] = 0.25;
}

static void make_many_neighbours(graph *g)
{
    g->V = 40;
    for (int64_t i = 1; i < 20; i++) {
        add_edge(g, 0, i, 0.1);
    }
}

START_TEST(other_models_are_left_to_other_ways)
{
    void (*const others[])(graph *) = { make_three_sizes, make_many_neighbours };
    for (int k = 0; k < 2; k++) {
        scene s = scene_open(others[k], SAL_F64, 1, 0);
        ck_assert_ptr_null(s.spins);
        scene_close(&s);
    }
    /* a ladder in this order is two lines, whose spins follow one another */
    scene s = scene_open(make_ladder, SAL_F64, 1, 0);
    sali_multispin *spins;
    ck_assert_int_eq(sali_multispin_create(s.model->space, s.values, 5, 0.4, &spins), SAL_OK);
    ck_assert_ptr_null(spins);
    s.b.chains->beta[3] = 0.5;
    ck_assert(!sali_multispin_start(s.spins, s.b.chains));
    scene_close(&s);
}
END_TEST

/* ---- totals */

START_TEST(totals_are_counts_of_bits)
{
    enum { WORDS = 131 * SALI_SPIN_LANES };
    uint32_t *words = malloc(WORDS * sizeof *words);
    const sali_stream stream = { .seed = 5, .purpose = SALI_RNG_TEST };
    sali_rng_words(&stream, 0, WORDS, words);
    memset(words, 0xff, 60 * SALI_SPIN_LANES * sizeof *words); /* counters at their fullest */
    for (int64_t n = 0; n <= WORDS; n += SALI_SPIN_LANES) {
        int64_t totals[32] = { 0 };
        sali_spin_totals(n, words, 3, totals);
        for (int c = 0; c < 32 && n % 7 == 0; c++) {
            int64_t want = 0;
            for (int64_t k = 0; k < n; k++) {
                want += words[k] >> c & 1;
            }
            ck_assert_int_eq(totals[c], 3 * want);
        }
    }
    free(words);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("multispin");
    TCase *tcase = tcase_create("words");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, words_are_single_spins, 0,
                        2 * (int)(sizeof graphs / sizeof *graphs));
    tcase_add_loop_test(tcase, calls_may_be_divided, 0, (int)(sizeof graphs / sizeof *graphs));
    tcase_add_test(tcase, other_models_are_left_to_other_ways);
    tcase_add_test(tcase, totals_are_counts_of_bits);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
