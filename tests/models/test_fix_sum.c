/* SPDX-License-Identifier: MIT */
/* Sums fixed in models that there are: answers, samplers, files; what refuses them. */
#include "temp_dir.h"

#include <math.h>
#include <string.h>

#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "model_equal.h"
#include "models/model.h"
#include "test.h"

static sal_model *opened(const char *specification)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

static sal_model *fixed(const char *specification, const char *block, int64_t sum)
{
    sal_error err = { 0 };
    sal_model *model = opened(specification);
    ck_ok(sal_model_fix_sum(model, block, sum, &err), &err);
    return model;
}

static double log_z(const sal_model *model)
{
    sal_error err = { 0 };
    sal_exact exact;
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    return exact.log_z;
}

/* The states of all sums are the states of the model: of spins on a torus, which elimination
 * answers, and of an RBM, whose structure gives its hidden units. */
START_TEST(sums_add_up_to_the_model)
{
    static const struct {
        const char *specification, *block;
        int64_t low, high, step;
    } cases[] = { { "ising:side=3", "spin", -9, 9, 2 },
                  { "formula: x: count(3)[4]; 0.3 sum(i: x[i]) - 0.1 sum(i<j: x[i] x[j])", "x", 0,
                    12, 1 },
                  { "rbm:visible=8,hidden=3", "visible", 0, 8, 1 } };
    const char *specification = cases[_i].specification;
    sal_model *whole = opened(specification);
    double sum = 0;
    for (int64_t s = cases[_i].low; s <= cases[_i].high; s += cases[_i].step) {
        sal_model *model = fixed(specification, cases[_i].block, s);
        sum += exp(log_z(model) - log_z(whole));
        sal_model_destroy(model);
    }
    ck_assert_double_eq_tol(sum, 1, 1e-9);
    sal_model_destroy(whole);
}
END_TEST

/* Draws of the default sampler keep to the sum, and f is that of the model without it. A run whose
 * chains leave most variables where they are is summarised too. */
START_TEST(draws_keep_to_the_sum)
{
    static const int64_t sums[] = { 0, 22, 23, 25, -25 };
    sal_error err = { 0 };
    sal_model *model = opened("ising:side=5"), *whole = opened("ising:side=5");
    const sal_status status = sal_model_fix_sum(model, "spin", sums[_i], &err);
    ck_assert_int_eq(status, sums[_i] % 2 ? SAL_OK : SAL_ERR_ARGUMENT);
    if (status == SAL_OK) {
        const sal_run_options options = { .chains = 2, .draws = 20, .record = { .draws = true } };
        sal_run *run = NULL;
        sal_run_summary summary;
        int32_t codes[25];
        double f[2];
        int bytes = 0;
        ck_ok(sal_sample(model, &options, &run, &err), &err);
        ck_ok(sal_run_summarise(run, &summary, &err), &err);
        for (int64_t d = 0; d < 20; d++) {
            int64_t total = 0;
            for (int64_t v = 0; v < 25; v++) {
                codes[v] = ((const uint8_t *)sal_run_draws(run, &bytes))[d * 25 + v];
                total += 2 * codes[v] - 1;
            }
            ck_assert_int_eq(total, sums[_i]);
        }
        ck_ok(sal_model_evaluate(model, 1, codes, &f[0], NULL, NULL, &err), &err);
        ck_ok(sal_model_evaluate(whole, 1, codes, &f[1], NULL, NULL, &err), &err);
        ck_assert(f[0] == f[1]);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
    sal_model_destroy(whole);
}
END_TEST

static double count_ones(const double *x, double *gradient, void *data)
{
    double f = 0;
    (void)data;
    (void)gradient;
    for (int i = 0; i < 4; i++) {
        f += x[i];
    }
    return f;
}

START_TEST(models_of_functions_are_fixed)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    const sal_block block = { .name = "b", .kind = SAL_BINARY, .count = 4 };
    ck_ok(sal_space_add(space, &block, &err), &err);
    ck_ok(sal_model_from_callback(space, &(sal_callback){ .f = count_ones }, &model, &err), &err);
    ck_ok(sal_model_fix_sum(model, "b", 3, &err), &err);
    ck_assert_double_eq_tol(log_z(model), log(4) + 3, 1e-12);
    ck_ok(sal_model_fix_sum(model, "b", 1, &err), &err);
    ck_assert_double_eq_tol(log_z(model), log(4) + 1, 1e-12);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(a_saved_model_keeps_its_sum)
{
    sal_error err = { 0 };
    const char *path = temp_path("m.xml");
    sal_model *model = fixed("ising:side=3", "spin", -3), *copy = NULL;
    ck_ok(sal_model_save(model, path, &err), &err);
    ck_ok(sal_model_open(path, 0, &copy, &err), &err);
    ck_models_equal(model, copy);
    ck_assert(sal_space_block(sal_model_space(copy), 0)->sum == -3);
    sal_model_destroy(model);
    sal_model_destroy(copy);
}
END_TEST

/* What knows no sums is gone: pieces of hidden units, decoded states, mixtures of products. */
START_TEST(what_knows_no_sums_is_left_out)
{
    sal_model *rbm = fixed("rbm:visible=8,hidden=3", "visible", 2);
    sal_model *set = fixed("independent-set:nodes=12,degree=3", "selected", 3);
    ck_assert(!rbm->structure && !rbm->products && !set->decoding);
    sal_model_destroy(rbm);
    sal_model_destroy(set);
}
END_TEST

START_TEST(a_model_in_use_is_not_changed)
{
    sal_error err = { 0 };
    sal_model *model = opened("ising:side=3"), *clamped = NULL;
    sal_run *run = NULL;
    ck_ok(sal_model_clamp(model, 1, (int64_t[]){ 0 }, (int32_t[]){ 1 }, &clamped, &err), &err);
    ck_fails(sal_model_fix_sum(clamped, "spin", 0, &err), SAL_ERR_ARGUMENT, &err,
             "fix the sum first, then clamp");
    ck_fails(sal_model_fix_sum(model, "spin", 1, &err), SAL_ERR_ARGUMENT, &err, "is in use");
    sal_model_destroy(clamped);
    ck_ok(sal_sample(model, &(sal_run_options){ .draws = 5 }, &run, &err), &err);
    ck_fails(sal_model_fix_sum(model, "spin", 1, &err), SAL_ERR_ARGUMENT, &err, "is in use");
    sal_run_destroy(run);
    ck_assert(!sal_space_block(sal_model_space(model), 0)->fixed_sum);
    ck_ok(sal_model_fix_sum(model, "spin", 1, &err), &err);
    ck_ok(sal_model_clamp(model, 1, (int64_t[]){ 0 }, (int32_t[]){ 1 }, &clamped, &err), &err);
    ck_assert_int_eq(sal_space_block(sal_model_space(clamped), 0)->sum, 0);
    sal_model_destroy(clamped);
    sal_model_destroy(model);
}
END_TEST

START_TEST(mistakes_are_told)
{
    sal_error err = { 0 };
    sal_model *model = opened("ising:side=3"), *potts = opened("potts:side=3,states=3");
    ck_fails(sal_model_fix_sum(model, "spin", 2, &err), SAL_ERR_ARGUMENT, &err,
             "ising:side=3: block 'spin': no state has the sum 2");
    ck_fails(sal_model_fix_sum(model, "x", 1, &err), SAL_ERR_NOT_FOUND, &err, "there are: spin");
    ck_fails(sal_model_fix_sum(model, NULL, 1, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_model_fix_sum(potts, sal_space_block(sal_model_space(potts), 0)->name, 1, &err),
             SAL_ERR_ARGUMENT, &err, "a fixed sum is for");
    ck_assert(!sal_space_block(sal_model_space(model), 0)->fixed_sum);
    sal_model_destroy(model);
    sal_model_destroy(potts);
}
END_TEST

START_TEST(running_out_of_memory_changes_nothing)
{
    sal_model *model = opened("ising:side=3");
    ck_alloc_sweep(sal_model_fix_sum(model, "spin", 1, NULL), (void)0);
    ck_assert_int_eq(sal_space_block(sal_model_space(model), 0)->sum, 1);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fix_sum");
    TCase *tc = tcase_create("fix_sum");
    tcase_add_checked_fixture(tc, temp_dir_make, temp_dir_remove);
    tcase_add_loop_test(tc, sums_add_up_to_the_model, 0, 3);
    tcase_add_loop_test(tc, draws_keep_to_the_sum, 0, 5);
    tcase_add_test(tc, models_of_functions_are_fixed);
    tcase_add_test(tc, a_saved_model_keeps_its_sum);
    tcase_add_test(tc, what_knows_no_sums_is_left_out);
    tcase_add_test(tc, a_model_in_use_is_not_changed);
    tcase_add_test(tc, mistakes_are_told);
    tcase_add_test(tc, running_out_of_memory_changes_nothing);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
