/* SPDX-License-Identifier: MIT */
/* Answers by elimination for models of independent parts, against enumeration of the whole. */
#include "test.h"

#include <math.h>

#include "alloc_fail.h"
#include "models/exact/exact.h"
#include "tiny_models.h"

enum { MOST = 40 };

typedef struct answer {
    sal_exact exact;
    double marginals[MOST], pairs[MOST * MOST], covariance[MOST * MOST];
} answer;

static void ask(const sal_model *model, const char *oracle, answer *a)
{
    sal_exact_options options = { .oracle = oracle, .threads = 2 };
    sal_error err = { 0 };
    memset(a, 0, sizeof *a);
    ck_ok(sal_model_exact(model, &options, &a->exact, a->marginals, a->pairs, a->covariance, &err),
          &err);
    ck_assert_str_eq(a->exact.oracle, oracle);
}

static void check_numbers(const double *got, const double *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        ck_assert_double_eq_tol(got[i], want[i], 1e-12);
    }
}

static void check_model(const sal_model *model)
{
    static answer by_parts, whole;
    int64_t R = model->space->n_states, N = model->space->width;
    ck_assert_int_le(R, MOST);
    ask(model, "elimination", &by_parts);
    ask(model, "enumeration", &whole);
    ck_assert_double_eq_tol(by_parts.exact.log_z, whole.exact.log_z, 1e-12);
    ck_assert_double_eq_tol(by_parts.exact.log_prob_mean, whole.exact.log_prob_mean, 1e-12);
    check_numbers(by_parts.marginals, whole.marginals, R);
    check_numbers(by_parts.pairs, whole.pairs, R * R);
    check_numbers(by_parts.covariance, whole.covariance, N * N);
}

/* ---- component structures */

#define FACTORS 7

/* Variables of 1 to 4 states, and random tables over these scopes. */
typedef struct graph {
    const char *name;
    int64_t begin[FACTORS + 1];
    int64_t scope[16];
} graph;

static const int32_t states[] = { 2, 3, 1, 4, 2, 2, 3, 2 };

static const graph graphs[] = {
    { "all alone", { 0, 1, 2, 3, 4, 5, 6, 7 }, { 0, 1, 2, 3, 4, 5, 6 } },
    { "two interleaved chains",
      { 0, 2, 4, 6, 8, 10, 12, 12 },
      { 0, 2, 2, 4, 4, 6, 1, 3, 3, 5, 7, 5 } },
    { "one of three, pairs", { 0, 3, 5, 6, 8, 8, 8, 9 }, { 7, 0, 5, 3, 4, 3, 1, 6, 0 } },
    { "one large, one alone",
      { 0, 2, 4, 6, 8, 10, 12, 13 },
      { 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7 } },
    { "no factor at all", { 0 }, { 0 } },
};
#define N_GRAPHS ((int)(sizeof graphs / sizeof *graphs))

/* `forbid`: one entry in so many is -inf; 0: none. */
static sal_model *make_graph(const graph *g, int forbid)
{
    double tables[200];
    int64_t size = 0;
    sal_model *model = NULL;
    sal_error err = { 0 };
    for (int m = 0; m < FACTORS; m++) {
        int64_t entries = 1;
        for (int64_t k = g->begin[m]; k < g->begin[m + 1]; k++) {
            entries *= states[g->scope[k]];
        }
        size += entries;
    }
    tiny_normals(3, size, 2, tables);
    for (int64_t i = 0; forbid && i < size; i += forbid) {
        tables[i] = -INFINITY; /* the first state is forbidden */
    }
    ck_ok(sal_model_from_factors(8, states, FACTORS, g->begin, g->scope, tables, SAL_F64, &model,
                                 &err),
          &err);
    return model;
}

START_TEST(parts_equal_the_whole)
{
    for (int g = 0; g < N_GRAPHS; g++) {
        sal_model *model = make_graph(&graphs[g], 0);
        check_model(model);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(forbidden_states_have_no_probability)
{
    sal_model *model = make_graph(&graphs[1], 5);
    check_model(model);
    sal_model_destroy(model);
}
END_TEST

/* Fixing what connects them leaves parts. */
START_TEST(a_chain_clamped_in_the_middle_falls_apart)
{
    sal_model *model = make_graph(&graphs[3], 0), *clamped = NULL;
    sal_error err = { 0 };
    ck_ok(sal_model_clamp(model, 2, (const int64_t[]){ 3, 7 }, (const int32_t[]){ 2, 1 }, &clamped,
                          &err),
          &err);
    check_model(clamped);
    sal_model_destroy(clamped);
    sal_model_destroy(model);
}
END_TEST

/* A formula over blocks of several kinds: a square of a sum, a logarithm of a sum, single terms, a
 * product of constants with the state, and a large constant that must not spoil sums. */
START_TEST(formulas_over_several_kinds_fall_apart)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    const double levels[] = { -1.5, 0.2, 3 };
    const sal_block blocks[] = {
        { .name = "a", .kind = SAL_SPIN, .count = 3 },
        { .name = "b", .kind = SAL_ORDINAL, .count = 2, .states = 3, .levels = levels },
        { .name = "c", .kind = SAL_CATEGORICAL, .count = 2, .states = 4 },
        { .name = "d", .kind = SAL_BINARY, .count = 3 },
        { .name = "e", .kind = SAL_COUNT, .count = 1, .cap = 3 }
    };
    for (int b = 0; b < 5; b++) {
        ck_ok(sal_space_add(space, &blocks[b], &err), &err);
    }
    double weights[8];
    tiny_normals(5, 8, 1, weights);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr a = sal_square(sal_sum(sal_state_block(tape, "a")));
    sal_expr b = sal_log(sal_sum(sal_exp(sal_state_block(tape, "b"))));
    sal_expr c = sal_dot(sal_reshape(sal_state_block(tape, "c"), SAL_SHAPE(8)),
                         sal_constant(tape, weights, SAL_SHAPE(8)));
    sal_expr d = sal_sum(sal_scale(sal_state_block(tape, "d"), -0.7));
    sal_expr e = sal_sum(sal_lgamma(sal_add(sal_state_block(tape, "e"), sal_scalar(tape, 1))));
    sal_expr f = sal_add(sal_add(sal_scale(a, 0.3), b), sal_sub(sal_add(c, d), e));
    ck_ok(sal_model_from_tape(tape, sal_add(f, sal_scalar(tape, 100)), &model, &err), &err);
    check_model(model);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* 200 variables: Z and E f are those of independent ones. */
START_TEST(many_parts_add_up)
{
    sal_model *model = NULL;
    sal_error err = { 0 };
    sal_exact exact;
    ck_ok(sal_model_open("poisson:dim=200,rate=0.5,cap=1", SAL_F64, &model, &err), &err);
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, 200 * log(1.5), 1e-11);
    ck_assert_double_eq_tol(exact.log_prob_mean, 200 * log(0.5) / 3, 1e-11);
    sal_model_destroy(model);
}
END_TEST

/* f = sum of (sum of the part)^2 / 20 over parts of so many spins. */
static sal_model *squares(int64_t parts, int64_t spins)
{
    const sal_block block = { .name = "s", .kind = SAL_SPIN, .count = parts * spins };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err = { 0 };
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr sums = sal_sum_axis(sal_reshape(sal_state(tape), SAL_SHAPE(parts, spins)), 1);
    sal_expr f = sal_scale(sal_sum(sal_square(sal_add(sums, sal_scalar(tape, 1)))), 0.05);
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

/* Passes for pairs over the whole model would take more than the limit. */
START_TEST(pairs_of_many_large_parts_are_had)
{
    enum { PARTS = 40, SPINS = 13, R = 2 * PARTS * SPINS };
    static double marginals[R], pairs[R * R], one[2 * SPINS], of_one[4 * SPINS * SPINS];
    sal_model *model = squares(PARTS, SPINS), *part = squares(1, SPINS);
    sal_error err = { 0 };
    sal_exact exact, single;
    sal_exact_options options = { .oracle = "enumeration" };
    ck_ok(sal_model_exact(model, NULL, &exact, marginals, pairs, NULL, &err), &err);
    ck_ok(sal_model_exact(part, &options, &single, one, of_one, NULL, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, PARTS * single.log_z, 1e-9);
    ck_assert_double_eq_tol(exact.log_prob_mean, PARTS * single.log_prob_mean, 1e-9);
    for (int64_t a = 0; a < R; a++) {
        for (int64_t b = 0; b < R; b++) {
            int64_t i = a % (2 * SPINS), j = b % (2 * SPINS);
            bool same = a / (2 * SPINS) == b / (2 * SPINS);
            double want = same ? of_one[i * 2 * SPINS + j] : one[i] * one[j];
            ck_assert_double_eq_tol(pairs[a * R + b], want, 1e-12);
        }
    }
    sal_model_destroy(part);
    sal_model_destroy(model);
}
END_TEST

START_TEST(parts_that_are_forbidden_forbid_the_whole)
{
    sal_model *model = make_graph(&graphs[0], 1);
    sal_exact_options options = { .oracle = "elimination" };
    sal_exact exact = { .log_z = 7 };
    sal_error err;
    ck_fails(sal_model_exact(model, &options, &exact, NULL, NULL, NULL, &err), SAL_ERR_MODEL, &err,
             "f is -inf at all states");
    ck_assert_double_eq(exact.log_z, 7);
    sal_model_destroy(model);
}
END_TEST

START_TEST(allocation_failures_are_reported)
{
    sal_model *model = make_graph(&graphs[2], 0);
    static answer a;
    sal_error err = { 0 };
    sal_exact_options options = { .oracle = "elimination", .threads = 1 };
    ck_alloc_sweep(sal_model_exact(model, &options, &a.exact, a.marginals, a.pairs, NULL, &err),
                   (void)0);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts");
    TCase *tcase = tcase_create("parts");
    tcase_add_test(tcase, parts_equal_the_whole);
    tcase_add_test(tcase, forbidden_states_have_no_probability);
    tcase_add_test(tcase, a_chain_clamped_in_the_middle_falls_apart);
    tcase_add_test(tcase, formulas_over_several_kinds_fall_apart);
    tcase_add_test(tcase, many_parts_add_up);
    tcase_add_test(tcase, pairs_of_many_large_parts_are_had);
    tcase_add_test(tcase, parts_that_are_forbidden_forbid_the_whole);
    tcase_add_test(tcase, allocation_failures_are_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
