/* SPDX-License-Identifier: MIT */
/* Elimination over states whose sums or labels are fixed: against enumeration, closed forms, and
 * the answers over all sums. */
#include <string.h>

#include "alloc_fail.h"
#include "chi_square.h"
#include "elimination_helpers.h"
#include "models/exact/exact.h"
#include "models/states.h"
#include "tiny_models.h"

static sal_model *fixed(const char *specification, const char *block, int64_t sum)
{
    sal_model *model = open_model(specification);
    sal_error err;
    ck_ok(sal_model_fix_sum(model, block, sum, &err), &err);
    return model;
}

static sal_exact eliminate(const sal_model *model)
{
    sal_exact exact = { 0 };
    sal_error err;
    ck_ok(sal_model_exact(model, &by_elimination, &exact, NULL, NULL, NULL, &err), &err);
    return exact;
}

static bool is_local(const sal_model *model)
{
    sal_exact exact;
    sal_error err;
    sal_status status = sal_model_exact(model, &by_elimination, &exact, NULL, NULL, NULL, &err);
    ck_assert(status == SAL_OK || strstr(err.message, "elimination: ") != NULL);
    return status == SAL_OK;
}

START_TEST(tiny_slices_have_enumerations_answers)
{
    int served = 0;
    sal_space *space = tiny_space_make(&tiny_slices[_i]);
    for (int m = 0; m < N_TINY_MODELS; m++) {
        sal_model *model = tiny_models[m].make(space, SAL_F64);
        if (model && is_local(model)) {
            check_oracles(model, 1e-12);
            served++;
        }
        sal_model_destroy(model);
    }
    ck_assert_int_ge(served, 1);
    sal_space_destroy(space);
}
END_TEST

/* Lattices, trees, networks of many parts, and counts; every sum that can be. */
START_TEST(models_have_enumerations_answers_at_every_sum)
{
    const struct {
        const char *specification;
        int64_t least, most, step;
    } cases[] = {
        { "ising:side=3,theta=0.4,bias=0.3", -9, 9, 2 },
        { "ising:side=4,cyclic=0,theta=-0.5,bias=0.1", -16, 16, 2 },
        { "ising-dense:dim=9,scale=0.5", -9, 9, 2 },
        { "ising-er:nodes=11,degree=1.2,theta=0.7,bias=0.2", -11, 11, 2 },
        { "independent-set:nodes=11,degree=2,penalty=1", 0, 11, 1 },
        { "random-factors:n=10,m=8,p=0.3,seed=4", 0, 10, 1 },
        { "poisson:dim=4,cap=6,interaction=0.1", 0, 24, 3 },
    };
    int forbidden = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int64_t sum = cases[k].least; sum <= cases[k].most; sum += cases[k].step) {
            sal_model *model = open_model(cases[k].specification);
            const char *block = sal_space_block(sal_model_space(model), 0)->name;
            sal_error err;
            ck_ok(sal_model_fix_sum(model, block, sum, &err), &err);
            sal_exact exact;
            if (sal_model_exact(model, &by_enumeration, &exact, NULL, NULL, NULL, &err) == SAL_OK) {
                check_oracles(model, 1e-11);
            } else {
                ck_fails(sal_model_exact(model, &by_elimination, &exact, NULL, NULL, NULL, &err),
                         SAL_ERR_MODEL, &err, "f is -inf at all states");
                forbidden++;
            }
            sal_model_destroy(model);
        }
    }
    ck_assert_int_ge(forbidden, 1);
}
END_TEST

/* Z of a model is the sum of Z given each sum; so are unnormalised marginals. Too many states to
 * enumerate. */
START_TEST(the_answers_of_all_sums_add_up_to_those_of_the_model)
{
    const struct {
        const char *specification, *block;
        int32_t n, states;
    } cases[] = {
        { "ising:side=6,theta=0.25,bias=0.1", "spin", 36, 2 },
        { "poisson:dim=9,cap=4,interaction=0.02", "count", 9, 5 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int32_t n = cases[k].n, K = cases[k].states, R = n * K;
        sal_model *whole = open_model(cases[k].specification);
        double want[100], got[100], sums[100] = { 0 }, ratio = 0, mean = 0;
        sal_exact all, exact;
        sal_error err;
        ck_ok(sal_model_exact(whole, &by_elimination, &all, want, NULL, NULL, &err), &err);
        for (int64_t total = 0; total <= n * (K - 1); total++) {
            sal_model *model =
                fixed(cases[k].specification, cases[k].block, K == 2 ? 2 * total - n : total);
            ck_ok(sal_model_exact(model, &by_elimination, &exact, got, NULL, NULL, &err), &err);
            const double weight = exp(exact.log_z - all.log_z);
            ratio += weight;
            mean += weight * exact.log_prob_mean;
            for (int32_t r = 0; r < R; r++) {
                sums[r] += weight * got[r];
            }
            sal_model_destroy(model);
        }
        ck_assert_double_eq_tol(ratio, 1, 1e-12);
        ck_assert_double_eq_tol(mean, all.log_prob_mean, 1e-11 * fabs(mean));
        ck_close(R, sums, want, 1e-12);
        sal_model_destroy(whole);
    }
}
END_TEST

/* Independent variables that differ: elementary symmetric polynomials of their odds. */
START_TEST(independent_variables_have_elementary_symmetric_polynomials)
{
    enum { N = 120, K = 50 };
    static double b[N], e[N + 1];
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    tiny_normals(3, N, 1.5, b);
    ck_ok(sal_space_add(space, &(sal_block)TINY_CHOSEN(N, K), &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr f = sal_dot(sal_constant(tape, b, SAL_SHAPE(N)), sal_state(tape));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    for (int j = 0; j <= N; j++) {
        e[j] = j == 0;
    }
    for (int v = 0; v < N; v++) {
        for (int j = v + 1; j > 0; j--) {
            e[j] += exp(b[v]) * e[j - 1];
        }
    }
    ck_assert_double_eq_tol(eliminate(model).log_z, log(e[K]), 1e-11 * log(e[K]));
    sal_model_destroy(model);
}
END_TEST

START_TEST(equal_permutations_are_counted)
{
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_space_permutation(space, "p", 9, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr f = sal_sum(sal_scale(sal_state(tape), 0.5));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    ck_assert_double_eq_tol(eliminate(model).log_z, lgamma(10) + 4.5, 1e-12 * lgamma(10));
    sal_model_destroy(model);
}
END_TEST

/* Clamped variables take their part of the sum; the rest has enumeration's answers. */
START_TEST(clamped_variables_take_their_part)
{
    for (int64_t n = 1; n <= 8; n++) {
        sal_model *model = fixed("ising:side=3,theta=0.4,bias=0.3", "spin", 1), *clamped = NULL;
        const int64_t variables[] = { 4, 0, 8, 1, 2, 7, 3, 5 };
        const int32_t codes[] = { 1, 0, 1, 1, 0, 0, 1, 0 };
        sal_error err;
        ck_ok(sal_model_clamp(model, n, variables, codes, &clamped, &err), &err);
        check_oracles(clamped, 1e-12);
        sal_model_destroy(clamped);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(draws_have_the_probabilities_of_their_states)
{
    enum { DRAWS = 100000 };
    static int32_t codes[DRAWS * TINY_MOST_REALS];
    sal_space *space = tiny_space_make(&tiny_slices[_i]);
    sal_model *model = tiny_tables(space, SAL_F64);
    model = model ? model : tiny_formula(space, SAL_F64);
    if (is_local(model)) {
        const int64_t count = (int64_t)sali_states_count(space), V = sal_space_variables(space);
        double *expected = new_numbers(count), *observed = new_numbers(count), log_z;
        sal_error err;
        ck_ok(sal_model_exact_draws(model, &by_elimination, DRAWS, 7, codes, NULL, &err), &err);
        ck_ok(sali_enumerate_table(model, count, 1, expected, &log_z, &err), &err);
        for (int64_t i = 0; i < count; i++) {
            expected[i] = DRAWS * exp(expected[i]);
            observed[i] = 0;
        }
        for (int64_t d = 0; d < DRAWS; d++) {
            observed[sali_states_index(space, codes + d * V)]++;
        }
        ck_assert_double_gt(chi_square_p((int)count, observed, expected), 1e-6);
        free(expected);
        free(observed);
    }
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(same_bits_for_any_number_of_threads)
{
    sal_model *model = fixed("ising:side=6,bias=0.1", "spin", 4);
    sal_exact want = { 0 }, exact;
    double marginals[2][72] = { { 0 } };
    sal_error err;
    for (int threads = 1; threads <= 7; threads += threads == 2 ? 5 : 1) {
        const sal_exact_options options = { .oracle = "elimination", .threads = threads };
        ck_ok(sal_model_exact(model, &options, &exact, marginals[threads > 1], NULL, NULL, &err),
              &err);
        want = threads == 1 ? exact : want;
        ck_assert(exact.log_z == want.log_z && exact.log_prob_mean == want.log_prob_mean);
        ck_assert(threads == 1 || memcmp(marginals[0], marginals[1], sizeof *marginals) == 0);
    }
    ck_assert_double_gt(exact.memory, 1 << 20);
    sal_model_destroy(model);
}
END_TEST

START_TEST(what_takes_too_much_memory_is_refused)
{
    sal_model *wide = fixed("ising:side=9", "spin", 1),
              *long_sum = fixed("poisson:dim=400,cap=4000", "count", 800000);
    sal_exact exact;
    sal_error err;
    ck_fails(sal_model_exact(wide, NULL, &exact, NULL, NULL, NULL, &err), SAL_ERR_UNSUPPORTED, &err,
             "elimination: its induced width is");
    ck_fails(sal_model_exact(long_sum, NULL, &exact, NULL, NULL, NULL, &err), SAL_ERR_UNSUPPORTED,
             &err, "counting its fixed sums and labels takes more memory");
    sal_model_destroy(wide);
    sal_model_destroy(long_sum);
}
END_TEST

START_TEST(allocation_failures_are_reported)
{
    sal_space *space = tiny_space_make(&tiny_slices[4]);
    sal_model *model = tiny_tables(space, SAL_F64);
    sal_exact exact;
    sal_error err = { 0 };
    const sal_exact_options options = { .oracle = "elimination", .threads = 1 };
    double covariance[400];
    int32_t codes[10 * TINY_MOST_REALS];
    ck_alloc_sweep(sal_model_exact(model, &options, &exact, NULL, NULL, covariance, &err), (void)0);
    ck_alloc_sweep(sal_model_exact_draws(model, &options, 10, 1, codes, NULL, &err), (void)0);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("counters");
    TCase *tcase = tcase_create("all");
    tcase_add_loop_test(tcase, tiny_slices_have_enumerations_answers, 0, N_TINY_SLICES);
    tcase_add_test(tcase, models_have_enumerations_answers_at_every_sum);
    tcase_add_test(tcase, the_answers_of_all_sums_add_up_to_those_of_the_model);
    tcase_add_test(tcase, independent_variables_have_elementary_symmetric_polynomials);
    tcase_add_test(tcase, equal_permutations_are_counted);
    tcase_add_test(tcase, clamped_variables_take_their_part);
    tcase_add_loop_test(tcase, draws_have_the_probabilities_of_their_states, 0, N_TINY_SLICES);
    tcase_add_test(tcase, same_bits_for_any_number_of_threads);
    tcase_add_test(tcase, what_takes_too_much_memory_is_refused);
    tcase_add_test(tcase, allocation_failures_are_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
