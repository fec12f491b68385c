/* SPDX-License-Identifier: MIT */
/* Exchanges of clusters between two states: the exact transition matrix on pairs of states, for
 * spaces of every kind and terms of any size. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "run/parts/cluster_exchange.h"
#include "run_helpers.h"

#define TOLERANCE 1e-12
#define MOST TINY_MOST_REALS

/* ---- models whose variables do not all interact */

/* A model over one block, sum of c_k x_k x_k+1 .. over runs of `order` variables, and fields times
 * `field`. */
static sal_model *sums_of_products(const sal_block *block, int order, double field)
{
    const int64_t N = block->count, n = N - order + 1;
    double c[MOST], h[MOST];
    sal_model *model = NULL;
    sal_error err;
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, block, &err), &err);
    tiny_normals(21, n, 0.7, c);
    tiny_normals(22, N, field, h);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape), product = sal_slice(s, 0, 0, n);
    for (int k = 1; k < order; k++) {
        product = sal_mul(product, sal_slice(s, 0, k, n));
    }
    sal_expr f = sal_add(sal_dot(sal_constant(tape, c, SAL_SHAPE(n)), product),
                         sal_dot(sal_constant(tape, h, SAL_SHAPE(N)), s));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

/* A spin glass on 2 x 3 sites with couplings of +1 and -1. */
static sal_model *glass(double field)
{
    static const int64_t pairs[] = { 0, 1, 1, 2, 3, 4, 4, 5, 0, 3, 1, 4, 2, 5 };
    static const double J[] = { 1, -1, 1, 1, -1, -1, 1 };
    double h[6];
    sal_model *model = NULL;
    sal_error err;
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &(sal_block)TINY_SPIN(6), &err), &err);
    tiny_normals(23, 6, field, h);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    sal_expr f = sal_add(sal_edges(s, sal_constant(tape, J, SAL_SHAPE(7)), 7, pairs),
                         sal_dot(sal_constant(tape, h, SAL_SHAPE(6)), s));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

static sal_model *tables_over(const tiny_space *tiny)
{
    sal_space *space = tiny_space_make(tiny);
    sal_model *model = tiny_tables(space, SAL_F64);
    sal_space_destroy(space);
    return model;
}

static sal_model *glass_with_fields(void)
{
    return glass(0.4);
}
static sal_model *glass_without_fields(void)
{
    return glass(0);
}
static sal_model *threes_of_bits(void)
{
    return sums_of_products(&(sal_block)TINY_BINARY(7), 3, 0.5);
}
static sal_model *threes_of_spins(void)
{
    return sums_of_products(&(sal_block)TINY_SPIN(6), 3, 0);
}
static sal_model *levels(void)
{
    return sums_of_products(&(sal_block)TINY_GRID(4), 2, 0.3);
}
static sal_model *pairs_of_levels(void)
{
    return sums_of_products(&(sal_block)TINY_PAIR(5), 2, 0);
}
static sal_model *counts(void)
{
    return sums_of_products(&(sal_block)TINY_COUNT(4), 2, 0.3);
}
static sal_model *label_tables(void)
{
    return tables_over(&(tiny_space){ "labels", 1, { TINY_LABEL(4) } });
}
static sal_model *mixed_tables(void)
{
    return tables_over(tiny_space_named("factors"));
}
static sal_model *twin_tables(void)
{
    return tables_over(tiny_space_named("twins"));
}

static const struct {
    const char *name;
    sal_model *(*make)(void);
    bool symmetric;
} models[] = {
    { "glass with fields", glass_with_fields, false },
    { "glass without fields", glass_without_fields, true },
    { "threes of bits", threes_of_bits, false },
    { "threes of spins", threes_of_spins, false },
    { "levels", levels, false },
    { "pairs of levels", pairs_of_levels, false },
    { "counts", counts, false },
    { "label tables", label_tables, false },
    { "mixed tables", mixed_tables, false },
    { "twin tables", twin_tables, false },
};
#define MODELS ((int)(sizeof models / sizeof *models))

/* ---- a model with its exchange */

typedef struct fixture {
    const char *name;
    sal_model *model;
    sali_interactions graph;
    sali_memory memory;
    sali_cluster_exchange exchange;
    int64_t n, V;
    double f[TINY_MOST_STATES], p[TINY_MOST_STATES];
} fixture;

static fixture fixture_open(int k)
{
    fixture x = { .name = models[k].name, .model = models[k].make() };
    bool known, symmetric;
    sal_error err;
    ck_ok(sali_interactions_create(x.model, &x.graph, &known, &err), &err);
    ck_assert_msg(known, "%s", x.name);
    ck_ok(sali_is_flip_symmetric(x.model, &symmetric, &err), &err);
    ck_assert_msg(symmetric == models[k].symmetric, "%s", x.name);
    x.n = states_count(x.model->space);
    x.V = x.model->space->n_variables;
    states_probabilities(x.model, 1, x.f, x.p);
    return x;
}

/* Create the exchange, once the fixture is where it stays. */
static void fixture_connect(fixture *x, bool symmetric)
{
    sal_error err;
    ck_ok(sali_cluster_exchange_create(&x->exchange, &x->memory, &x->graph, symmetric, &err), &err);
}

static void fixture_close(fixture *x)
{
    sali_memory_free(&x->memory);
    sali_interactions_free(&x->graph);
    sal_model_destroy(x->model);
}

/* The pairs of states, numbers i n + j, that the exchange leads to from a pair, one for each
 * candidate; returns how many. */
static int64_t exchanges_of(fixture *x, int64_t pair, int64_t *to)
{
    int32_t s[MOST], t[MOST];
    state_codes(x->model->space, pair / x->n, s);
    state_codes(x->model->space, pair % x->n, t);
    const int64_t candidates = sali_cluster_candidates(&x->exchange, s, t);
    for (int64_t which = 0; which < candidates; which++) {
        state_codes(x->model->space, pair / x->n, s);
        state_codes(x->model->space, pair % x->n, t);
        ck_assert_int_eq(sali_cluster_candidates(&x->exchange, s, t), candidates);
        const int64_t size = sali_cluster_exchange_states(&x->exchange, which, s, t);
        ck_assert(size >= 1 && size <= candidates);
        to[which] = state_of(x->model->space, s) * x->n + state_of(x->model->space, t);
    }
    return candidates;
}

/* The probability of going from one pair of states to another. */
static double probability(fixture *x, int64_t from, int64_t to)
{
    int64_t list[MOST], there = 0;
    const int64_t candidates = exchanges_of(x, from, list);
    for (int64_t k = 0; k < candidates; k++) {
        there += list[k] == to;
    }
    return candidates == 0 ? from == to : (double)there / (double)candidates;
}

/* ---- what must hold */

static double weight(const fixture *x, int64_t pair)
{
    return x->p[pair / x->n] * x->p[pair % x->n];
}

/* (p x p) P = p x p, and the flow from any pair of states to any other is the flow back. */
START_TEST(exchanges_are_balanced_for_the_product_target)
{
    fixture x = fixture_open(_i);
    fixture_connect(&x, models[_i].symmetric);
    double *after = calloc((size_t)(x.n * x.n), sizeof *after);
    int64_t to[MOST];
    for (int64_t pair = 0; pair < x.n * x.n; pair++) {
        const int64_t candidates = exchanges_of(&x, pair, to);
        for (int64_t k = 0; k < candidates; k++) {
            after[to[k]] += weight(&x, pair) / (double)candidates;
            const double there = weight(&x, pair) * probability(&x, pair, to[k]);
            const double back = weight(&x, to[k]) * probability(&x, to[k], pair);
            ck_assert_msg(fabs(there - back) < TOLERANCE, "%s: %.15g, back %.15g", x.name, there,
                          back);
        }
        after[pair] += candidates == 0 ? weight(&x, pair) : 0;
    }
    for (int64_t pair = 0; pair < x.n * x.n; pair++) {
        ck_assert_msg(fabs(after[pair] - weight(&x, pair)) < TOLERANCE, "%s: %.15g, expected %.15g",
                      x.name, after[pair], weight(&x, pair));
    }
    free(after);
    fixture_close(&x);
}
END_TEST

/* f(s) + f(t) is kept, also where some states are forbidden, and some exchange leads to other pairs
 * of states than {s, t}. */
START_TEST(exchanges_keep_the_sum_of_f)
{
    fixture x = fixture_open(_i);
    fixture_connect(&x, models[_i].symmetric);
    int64_t to[MOST], new_pairs = 0;
    for (int64_t pair = 0; pair < x.n * x.n; pair++) {
        const int64_t i = pair / x.n, j = pair % x.n, candidates = exchanges_of(&x, pair, to);
        for (int64_t k = 0; k < candidates; k++) {
            const double before = x.f[i] + x.f[j], after = x.f[to[k] / x.n] + x.f[to[k] % x.n];
            ck_assert_msg(!isfinite(before) || fabs(before - after) < TOLERANCE,
                          "%s: %.15g became %.15g", x.name, before, after);
            new_pairs += to[k] != pair && to[k] != j * x.n + i;
        }
    }
    ck_assert_int_gt(new_pairs, 0);
    fixture_close(&x);
}
END_TEST

/* ---- which variables move */

/* Spins in a row: clusters are runs of differing ones. */
START_TEST(the_cluster_of_a_candidate_is_exchanged)
{
    sal_model *model = sums_of_products(&(sal_block)TINY_SPIN(8), 2, 1);
    sali_interactions graph;
    sali_memory memory = { 0 };
    sali_cluster_exchange e;
    bool known;
    sal_error err;
    ck_ok(sali_interactions_create(model, &graph, &known, &err), &err);
    ck_assert(known && !sali_interactions_are_complete(&graph));
    ck_ok(sali_cluster_exchange_create(&e, &memory, &graph, false, &err), &err);
    static const int32_t ones[8] = { 1, 1, 1, 0, 1, 0, 1, 1 }; /* clusters of 3, 1 and 2 */
    static const struct {
        int64_t which, size;
        int32_t s[8];
    } cases[] = { { 0, 3, { 1, 1, 1, 0, 0, 0, 0, 0 } },
                  { 2, 3, { 1, 1, 1, 0, 0, 0, 0, 0 } },
                  { 3, 1, { 0, 0, 0, 0, 1, 0, 0, 0 } },
                  { 5, 2, { 0, 0, 0, 0, 0, 0, 1, 1 } } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int32_t s[8] = { 0 }, t[8];
        memcpy(t, ones, sizeof t);
        ck_assert_int_eq(sali_cluster_candidates(&e, s, t), 6);
        ck_assert_int_eq(sali_cluster_exchange_states(&e, cases[k].which, s, t), cases[k].size);
        ck_assert_mem_eq(s, cases[k].s, sizeof s);
        for (int v = 0; v < 8; v++) {
            ck_assert_int_eq(s[v] + t[v], ones[v]);
        }
    }
    /* a cluster of more than half stays, and the rest is exchanged */
    int32_t s[8] = { 0 }, t[8] = { 1, 1, 1, 0, 1, 0, 0, 0 };
    ck_assert_int_eq(sali_cluster_candidates(&e, s, t), 4);
    ck_assert_int_eq(sali_cluster_exchange_states(&e, 1, s, t), 3);
    ck_assert_mem_eq(s, ((int32_t[]){ 0, 0, 0, 0, 1, 0, 0, 0 }), sizeof s);
    ck_assert_mem_eq(t, ((int32_t[]){ 1, 1, 1, 0, 0, 0, 0, 0 }), sizeof t);
    sali_memory_free(&memory);
    sali_interactions_free(&graph);
    sal_model_destroy(model);
}
END_TEST

/* Where f is the same for flipped states, the smaller set of variables has the clusters. */
START_TEST(agreeing_variables_are_flipped_if_they_are_fewer)
{
    fixture x = fixture_open(1);
    fixture_connect(&x, true);
    int32_t s[6] = { 0, 1, 0, 1, 0, 1 }, t[6] = { 0, 0, 1, 0, 1, 1 };
    ck_assert_int_eq(sali_cluster_candidates(&x.exchange, s, t), 2);
    ck_assert_int_eq(sali_cluster_exchange_states(&x.exchange, 1, s, t), 1);
    ck_assert_mem_eq(s, ((int32_t[]){ 0, 1, 0, 1, 0, 0 }), sizeof s);
    ck_assert_mem_eq(t, ((int32_t[]){ 0, 0, 1, 0, 1, 0 }), sizeof t);
    fixture_close(&x);
}
END_TEST

START_TEST(complete_graphs_are_seen)
{
    sal_space *space = tiny_space_make(tiny_space_named("spin"));
    sal_model *model = tiny_pairwise(space, SAL_F64);
    sali_interactions graph;
    bool known, symmetric = true;
    sal_error err;
    ck_ok(sali_interactions_create(model, &graph, &known, &err), &err);
    ck_assert(known && sali_interactions_are_complete(&graph));
    ck_ok(sali_is_flip_symmetric(model, &symmetric, &err), &err);
    ck_assert(!symmetric);
    sali_interactions_free(&graph);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

static Suite *cluster_exchange_suite(void)
{
    Suite *suite = suite_create("cluster_exchange");
    TCase *tcase = tcase_create("cluster_exchange");
    tcase_add_loop_test(tcase, exchanges_are_balanced_for_the_product_target, 0, MODELS);
    tcase_add_loop_test(tcase, exchanges_keep_the_sum_of_f, 0, MODELS);
    tcase_add_test(tcase, the_cluster_of_a_candidate_is_exchanged);
    tcase_add_test(tcase, agreeing_variables_are_flipped_if_they_are_fewer);
    tcase_add_test(tcase, complete_graphs_are_seen);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(cluster_exchange_suite());
}
