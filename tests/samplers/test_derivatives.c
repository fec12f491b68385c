/* SPDX-License-Identifier: MIT */
/* The check of a model's derivatives: in double, at the ends of domains, and of wrong gradients. */
#include "test.h"

#include <math.h>

#include <saltus/model.h>

#include "alloc_fail.h"

enum { N = 3 };

static sal_space *binary_space(void)
{
    sal_space *space = sal_space_create();
    sal_error err = { 0 };
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_BINARY, .count = N }, &err),
          &err);
    return space;
}

/* A formula over N bits, which may be large. */
static sal_model *formula_model(sal_expr (*write)(sal_expr s), sal_dtype dtype)
{
    sal_space *space = binary_space();
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_model *model = NULL;
    sal_error err = { 0 };
    ck_ok(sal_model_from_tape(tape, write(sal_state(tape)), &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

/* ---- double precision */

static sal_expr large_constant(sal_expr s)
{
    return sal_add(sal_sum(sal_exp(s)), sal_scalar(s.tape, -3e7));
}

/* No constant to the library: the terms that make it large are functions of the state. */
static sal_expr large_terms(sal_expr s)
{
    sal_expr zero = sal_sum(sal_sub(s, sal_sin(s)));
    sal_expr hard = sal_mul(sal_scalar(s.tape, 3e7), sal_cos(sal_scale(zero, 1e-4)));
    return sal_add(sal_sum(sal_exp(s)), hard);
}

/* `model` with one bit fixed, in its place. */
static sal_model *clamped(sal_model *model)
{
    sal_model *made = NULL;
    sal_error err = { 0 };
    ck_ok(sal_model_clamp(model, 1, (int64_t[]){ 1 }, (int32_t[]){ 1 }, &made, &err), &err);
    sal_model_destroy(model);
    return made;
}

START_TEST(single_precision_is_checked_in_double)
{
    sal_expr (*const writings[])(sal_expr) = { large_constant, large_terms };
    for (int k = 0; k < 4; k++) {
        sal_model *model[2];
        sal_model_checks checks[2];
        sal_error err;
        for (int wide = 0; wide < 2; wide++) {
            model[wide] = formula_model(writings[k / 2], wide ? SAL_F64 : SAL_F32);
            model[wide] = k % 2 ? clamped(model[wide]) : model[wide];
            ck_ok(sal_model_check(model[wide], NULL, 1, &checks[wide], &err), &err);
            sal_model_destroy(model[wide]);
        }
        /* A large f has a rounding in double of 4e-9; the step of differences is 1e-5. */
        ck_assert_double_lt(checks[0].gradient_error, k / 2 ? 1e-3 : 1e-9);
        ck_assert_double_lt(checks[0].against_error, 1e-7);
        ck_assert(checks[0].gradient_error == checks[1].gradient_error);
        ck_assert(checks[0].first_order_error == checks[1].first_order_error);
        ck_assert(checks[0].slopes == checks[1].slopes && checks[0].kinks == checks[1].kinks);
    }
}
END_TEST

/* ---- ends of domains */

static sal_expr by_power(sal_expr s)
{
    return sal_sum(sal_pow(s, 1.5));
}

static sal_expr by_root(sal_expr s)
{
    return sal_sum(sal_sqrt(sal_sub(sal_scalar(s.tape, 1), sal_pow(s, 3.5))));
}

static sal_expr by_logdet(sal_expr s)
{
    const double A[] = { 2, 0.5, 0.1, 0.5, 1.5, -0.3, 0.1, -0.3, 1 };
    return sal_masked_logdet(s, sal_constant(s.tape, A, SAL_SHAPE(N, N)));
}

/* f ends at 0, where s^1.5 has a slope of 0. */
START_TEST(differences_stay_in_the_domain)
{
    sal_expr (*const writings[])(sal_expr) = { by_power, by_logdet };
    for (int k = 0; k < 4; k++) {
        sal_model *model = formula_model(writings[k / 2], k % 2 ? SAL_F64 : SAL_F32);
        sal_model_checks checks;
        sal_error err;
        ck_ok(sal_model_check(model, NULL, 1, &checks, &err), &err);
        ck_assert_int_eq(checks.slopes, 4 * N);
        ck_assert_int_eq(checks.skipped, 0);
        ck_assert_int_eq(checks.kinks, 0);
        ck_assert_msg(checks.gradient_error < 1e-5, "%d: %g", k, checks.gradient_error);
        sal_model_destroy(model);
    }
}
END_TEST

/* At 1 f has an infinite slope to one side and no value on the other. */
START_TEST(infinite_slopes_at_the_end_are_left)
{
    sal_model *model = formula_model(by_root, SAL_F64);
    sal_model_checks checks;
    sal_error err;
    ck_ok(sal_model_check(model, NULL, 1, &checks, &err), &err);
    ck_assert(checks.slopes > 0 && checks.slopes < 4 * N);
    ck_assert_int_eq(checks.slopes + checks.skipped, 4 * N);
    ck_assert_double_lt(checks.gradient_error, 1e-5);
    sal_model_destroy(model);
}
END_TEST

/* ---- differences by other methods */

/* At s_0 = s_1 = 1 both sums are infinite, and f is NaN; the gradient is finite everywhere. */
static sal_expr infinite_sums(sal_expr s)
{
    const double a[N] = { 1e308, 1e308, 1 }, b[N] = { 1e308, 0.9e308, 2 };
    sal_expr wide = sal_constant(s.tape, a, SAL_SHAPE(N)),
             narrow = sal_constant(s.tape, b, SAL_SHAPE(N));
    return sal_sub(sal_sum(sal_mul(wide, s)), sal_sum(sal_mul(narrow, s)));
}

START_TEST(differences_that_are_nan_disagree)
{
    sal_model *model = formula_model(infinite_sums, SAL_F64);
    int checked = 0;
    for (uint64_t seed = 0; seed < 20; seed++) { /* f is a number at all states of some seeds */
        sal_model_checks checks;
        if (sal_model_check(model, NULL, seed, &checks, NULL) == SAL_OK) {
            ck_assert_msg(checks.against_error == INFINITY, "%g", checks.against_error);
            checked++;
        }
    }
    ck_assert_int_gt(checked, 0);
    sal_model_destroy(model);
}
END_TEST

START_TEST(memory_running_out_is_explained)
{
    sal_model *model = formula_model(by_power, SAL_F64);
    sal_status status = SAL_ERR_MEMORY;
    for (int64_t n = 1; status != SAL_OK; n++) {
        sal_model_checks checks;
        sal_error err = { 0 };
        alloc_fail_at(n);
        status = sal_model_check(model, NULL, 1, &checks, &err);
        alloc_fail_at(0);
        ck_assert_msg(status == SAL_OK || strstr(err.message, "memory"), "allocation %d: '%s'",
                      (int)n, err.message);
    }
    sal_model_destroy(model);
}
END_TEST

/* ---- wrong gradients */

/* f = s_0 + 2 s_1 + 3 s_2; the slope of s_1 is replaced by *data, a slope of 1 by a wrong one. */
static double replaced(const double *s, double *gradient, void *data)
{
    if (gradient) {
        gradient[0] = 1;
        gradient[1] = *(const double *)data;
        gradient[2] = 3;
    }
    return s[0] + 2 * s[1] + 3 * s[2];
}

START_TEST(gradients_that_are_no_slopes_are_refused)
{
    static const struct {
        double slope;
        const char *what;
    } cases[] = { { NAN, "in coordinate 1 at state " },
                  { NAN, "the gradient is NaN" },
                  { INFINITY, "in coordinate 1 at state " },
                  { -INFINITY, "the gradient is infinite, f finite on both sides" } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double slope = cases[k].slope;
        sal_space *space = binary_space();
        sal_model *model = NULL;
        sal_error err = { 0 };
        sal_model_checks checks;
        const sal_callback callback = { .f = replaced, .data = &slope, .has_gradient = true };
        ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
        ck_fails(sal_model_check(model, NULL, 0, &checks, &err), SAL_ERR_MODEL, &err,
                 cases[k].what);
        ck_assert(checks.states == 4 && checks.slopes == 0);
        slope = 2;
        ck_ok(sal_model_check(model, NULL, 0, &checks, &err), &err);
        ck_assert_double_lt(checks.gradient_error, 1e-9);
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("derivatives");
    TCase *tc = tcase_create("derivatives");
    tcase_add_test(tc, single_precision_is_checked_in_double);
    tcase_add_test(tc, differences_stay_in_the_domain);
    tcase_add_test(tc, infinite_slopes_at_the_end_are_left);
    tcase_add_test(tc, differences_that_are_nan_disagree);
    tcase_add_test(tc, memory_running_out_is_explained);
    tcase_add_test(tc, gradients_that_are_no_slopes_are_refused);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
