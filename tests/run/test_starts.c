/* SPDX-License-Identifier: MIT */
/* Starting states: of Bayesian networks, of models with forbidden states, and runs that are stopped
 * while they look for them. */
#include "test.h"

#include <math.h>

#include "alloc_fail.h"
#include "run_helpers.h"
#include "samplers/completion.h"
#include "samplers/start.h"

#define NO (-INFINITY)

/* ---- Bayesian networks */

enum { COPIES = 120 };

/* A fair bit, and copies of each bit before; `reversed` lists the last copy first. */
static sal_model *chain_of_copies(bool reversed)
{
    static int32_t states[COPIES];
    static int64_t begin[COPIES + 1], scope[2 * COPIES];
    static double tables[4 * COPIES];
    sal_model *model = NULL;
    sal_error err;
    int64_t entries = 0, places = 0;
    for (int64_t k = 0; k < COPIES; k++) {
        const int64_t v = reversed ? COPIES - 1 - k : k;
        const int64_t parent = reversed ? v + 1 : v - 1;
        states[k] = 2;
        if (k > 0) {
            scope[places++] = parent;
        }
        scope[places++] = v;
        for (int64_t e = 0; e < (k > 0 ? 4 : 2); e++) {
            tables[entries++] = k == 0 ? log(.5) : e == 0 || e == 3 ? 0 : NO;
        }
        begin[k + 1] = places;
    }
    ck_ok(
        sal_model_from_factors(COPIES, states, COPIES, begin, scope, tables, SAL_F64, &model, &err),
        &err);
    return model;
}

START_TEST(copies_start_equal)
{
    for (int reversed = 0; reversed < 2; reversed++) {
        sal_model *model = chain_of_copies(reversed);
        sal_run *run = run_it(
            model, &(sal_run_options){
                       .sampler = "gibbs", .chains = 40, .draws = 1, .warmup = -1, .thin = 1 });
        int32_t last[40 * COPIES];
        int64_t ones = 0;
        sal_error err;
        ck_ok(sal_run_last(run, last, &err), &err);
        for (int64_t c = 0; c < 40; c++) {
            for (int64_t v = 1; v < COPIES; v++) {
                ck_assert_int_eq(last[c * COPIES + v], last[c * COPIES]);
            }
            ones += last[c * COPIES];
        }
        ck_assert_int_gt(ones, 5); /* of 40 fair coins; outside with probability 2e-6 */
        ck_assert_int_lt(ones, 35);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

/* Where the last copy is observed, all others follow from it. */
START_TEST(copies_of_an_observed_bit_start_as_it_is)
{
    static const int64_t last = COPIES - 1;
    for (int32_t code = 0; code < 2; code++) {
        sal_model *model = chain_of_copies(false);
        sal_run *run = run_it(model, &(sal_run_options){ .sampler = "gibbs",
                                                         .chains = 3,
                                                         .draws = 1,
                                                         .warmup = -1,
                                                         .thin = 1,
                                                         .clamps = { 1, &last, &code } });
        int32_t states[3 * COPIES];
        sal_error err;
        ck_ok(sal_run_last(run, states, &err), &err);
        for (int64_t k = 0; k < 3 * COPIES; k++) {
            ck_assert_int_eq(states[k], code);
        }
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

/* p(c | a, b) p(b | a) p(a), listed and scoped in any order: the child of the first table is the
 * first of its scope. Variables a (2 states), b (3), c (2) are 2, 0, 1. */
static sal_model *small_network(sal_dtype dtype)
{
    static const int32_t states[] = { 3, 2, 2 };
    static const int64_t begin[] = { 0, 3, 5, 6 }, scope[] = { 1, 2, 0, 2, 0, 2 };
    static const double p[] = { .1, .2, 0,  .4, .5, 1, /* c = 0: a = 0, b = 0, 1, 2; a = 1 */
                                .9, .8, 1,  .6, .5, 0, /* c = 1 */
                                .2, .3, .5, .7, 0,  .3, .4, .6 };
    double tables[20];
    sal_model *model = NULL;
    sal_error err;
    for (int k = 0; k < 20; k++) {
        tables[k] = log(p[k]);
    }
    ck_ok(sal_model_from_factors(3, states, 3, begin, scope, tables, dtype, &model, &err), &err);
    return model;
}

/* 40000 independent starts against all 12 probabilities, by chi-square. The p-value of a right
 * program is below 1e-4 for one seed in 10000; these seeds are fixed. */
START_TEST(starts_of_a_network_are_draws_from_it)
{
    enum { DRAWS = 40000 };
    for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        sal_model *model = small_network(dtype);
        sali_completion *completion = NULL;
        double f[12], pi[12], counts[12] = { 0 };
        sal_error err;
        ck_ok(sali_completion_create(model, false, &completion, &err), &err);
        ck_assert_ptr_nonnull(completion);
        states_probabilities(model, 1, f, pi);
        for (uint32_t k = 0; k < DRAWS; k++) {
            const sali_stream stream = { .seed = 3, .chain = k, .purpose = SALI_RNG_INIT };
            int32_t codes[3];
            sali_completion_draw(completion, &stream, codes);
            counts[state_of(model->space, codes)]++;
        }
        for (int k = 0; k < 12; k++) {
            pi[k] *= DRAWS;
            ck_assert(pi[k] > 0 || counts[k] == 0);
        }
        ck_assert_double_gt(chi_square_p(12, counts, pi), 1e-4);
        sali_completion_destroy(completion);
        sal_model_destroy(model);
    }
}
END_TEST

/* A cycle of tables whose rows sum to 1 is no network, nor are tables with other sums. */
START_TEST(what_is_no_network_starts_at_random)
{
    static const int32_t states[] = { 2, 2 };
    static const int64_t begin[] = { 0, 2, 4 }, cycle[] = { 0, 1, 1, 0 }, pair[] = { 0, 1, 0, 1 };
    const double tables[] = {
        log(.2), log(.8), log(.6), log(.4), log(.2), log(.8), log(.6), log(.4)
    };
    const double others[] = { 1, 2, 3, 4, 1, 1, 1, 1 };
    for (int k = 0; k < 3; k++) {
        sal_model *model = NULL;
        sali_completion *completion = NULL;
        sal_error err;
        ck_ok(sal_model_from_factors(2, states, 2, begin, k == 1 ? pair : cycle,
                                     k == 2 ? others : tables, SAL_F64, &model, &err),
              &err);
        ck_ok(sali_completion_create(model, false, &completion, &err), &err);
        ck_assert_ptr_null(completion);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- being stopped */

/* Three bits of which no two may be equal: no state is allowed. */
static sal_model *contradiction(void)
{
    static const int32_t states[] = { 2, 2, 2 };
    static const int64_t begin[] = { 0, 2, 4, 6 }, scope[] = { 0, 1, 1, 2, 0, 2 };
    const double tables[] = { NO, 0, 0, NO, NO, 0, 0, NO, NO, 0, 0, NO };
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_factors(3, states, 3, begin, scope, tables, SAL_F64, &model, &err), &err);
    return model;
}

static int stop_at_call(int64_t done, int64_t total, void *data)
{
    int *left = data;
    ck_assert_int_eq(done, 0);
    ck_assert_int_gt(total, 0);
    return --*left == 0;
}

START_TEST(search_for_starts_is_stopped)
{
    for (int replicas = 1; replicas <= 3; replicas += 2) {
        for (int annealing = 0; annealing < (replicas > 1 ? 1 : 3); annealing++) {
            sal_model *model = contradiction();
            int left = 5;
            sal_run_options options = {
                .chains = 3,
                .draws = 10,
                .tempering = { .replicas = replicas },
                .annealing = { .on = annealing > 0, .coolings = annealing > 1 ? 3 : 0 },
                .record = { .draws = true, .best = true },
                .callbacks = { .progress = stop_at_call, .progress_data = &left },
            };
            sal_run *run = run_it(model, &options);
            int64_t draws = -1;
            sal_run_size(run, NULL, &draws, NULL);
            ck_assert_int_eq(draws, 0);
            ck_assert_int_eq(left, 0); /* not called again */
            ck_assert(summary_of(run).stopped);
            sal_run_options more;
            sal_error err;
            ck_ok(sal_run_state_options(sal_run_last_state(run), &more, &err), &err);
            run_refused(model, &more, SAL_ERR_DATA, "before it had its starting states");
            sal_run_destroy(run);
            left = 1000000;
            run_refused(model, &options, SAL_ERR_MODEL, "no state with finite f");
            sal_model_destroy(model);
        }
    }
}
END_TEST

/* ---- memory */

static sal_status start_network(sal_model *model, sal_error *err)
{
    sali_completion *mark = (sali_completion *)&mark, *completion = mark;
    sal_status status = sali_completion_create(model, true, &completion, err);
    if (status == SAL_OK) {
        sali_completion_destroy(completion);
    } else {
        ck_assert_ptr_eq(completion, mark);
    }
    return status;
}

START_TEST(starts_run_out_of_memory)
{
    sal_model *model = small_network(SAL_F64);
    const sal_run_options options = { .chains = 2, .draws = 2, .warmup = -1, .thin = 1 };
    sal_error err;
    sal_run *run = NULL;
    ck_alloc_sweep(start_network(model, &err), (void)0);
    ck_alloc_sweep(sal_sample(model, &options, &run, &err), sal_run_destroy(run));
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("starts");
    TCase *tcase = tcase_create("starts");
    tcase_add_test(tcase, copies_start_equal);
    tcase_add_test(tcase, copies_of_an_observed_bit_start_as_it_is);
    tcase_add_test(tcase, starts_of_a_network_are_draws_from_it);
    tcase_add_test(tcase, what_is_no_network_starts_at_random);
    tcase_add_test(tcase, search_for_starts_is_stopped);
    tcase_add_test(tcase, starts_run_out_of_memory);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
