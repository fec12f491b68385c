/* SPDX-License-Identifier: MIT */
/* Runs in single precision: constants cost nothing, and an f too large for its digits is told. */
#include "test.h"

#include <math.h>

#include "run_helpers.h"

/* Two bits, f = s_0 - s_1 / 2 + s_0 s_1 + large + constant, where only the last term is known to be
 * a constant. */
static sal_model *two_bits(sal_dtype dtype, double large, double constant)
{
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err = { 0 };
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_BINARY, .count = 2 }, &err),
          &err);
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr s = sal_state(tape), a = sal_slice(s, 0, 0, 1), b = sal_slice(s, 0, 1, 1);
    sal_expr f = sal_sum(sal_add(sal_sub(a, sal_scale(b, 0.5)), sal_mul(a, b)));
    sal_expr sum = sal_square(sal_sum(sal_sub(s, sal_square(s)))); /* 0 */
    f = sal_add(f, sal_mul(sal_scalar(tape, large), sal_exp(sum)));
    ck_ok(sal_model_from_tape(tape, sal_add(f, sal_scalar(tape, constant)), &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

/* The same marginals with a large constant as without it. The deviation of 20000 independent draws
 * is .0035 at most, and that of these no more than three times as large; rounded to 2, as in single
 * precision beside the constant, f would move the marginals by .1. */
START_TEST(constants_change_no_draw)
{
    const double f[] = { 0, -0.5, 1, 1.5 };
    double z = 0, p[2] = { 0 }, marginals[4];
    for (int k = 0; k < 4; k++) {
        z += exp(f[k]);
        p[0] += k / 2 * exp(f[k]);
        p[1] += k % 2 * exp(f[k]);
    }
    const char *samplers[] = { "gwg", "dlmc" };
    for (int k = 0; k < 2; k++) {
        sal_model *model = two_bits(SAL_F32, 0, -3e7);
        sal_run_options options = {
            .sampler = samplers[k], .chains = 4, .draws = 5000, .thin = 2, .seed = 3
        };
        char text[SAL_ERROR_SIZE];
        sal_error err;
        sal_run *run = run_it(model, &options);
        sal_run_summary s = summary_of(run);
        ck_ok(sal_run_marginals(run, marginals, &err), &err);
        ck_assert_double_eq_tol(marginals[1], p[0] / z, 0.04);
        ck_assert_double_eq_tol(marginals[3], p[1] / z, 0.04);
        ck_assert_msg(!sal_run_warning(&s, text, sizeof text), "%s", text);
        ck_assert_double_lt(s.rounding, 1e-6);
        ck_assert_double_eq_tol(s.log_prob_mean, -3e7 + 1, 1);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

/* What is large and no constant is told, in either precision, and of a search as well. */
START_TEST(too_large_an_f_is_told)
{
    static const struct {
        double large;
        sal_dtype dtype;
        bool anneals, warns;
    } cases[] = {
        { 3e6, SAL_F32, false, true },  { 3e6, SAL_F64, false, false },
        { -3e6, SAL_F32, false, true }, { 1e5, SAL_F32, false, false },
        { 3e6, SAL_F32, true, true },   { 1e15, SAL_F64, false, true },
        { -1e15, SAL_F64, true, true }, { 1e14, SAL_F64, true, false },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_model *model = two_bits(cases[k].dtype, cases[k].large, 7);
        sal_run_options options = { .sampler = "gibbs",
                                    .draws = 200,
                                    .annealing.on = cases[k].anneals };
        char text[SAL_ERROR_SIZE] = "";
        sal_run *run = run_it(model, &options);
        sal_run_summary s = summary_of(run);
        bool warns = sal_run_warning(&s, text, sizeof text);
        const bool single = cases[k].dtype == SAL_F32;
        const char *said = strstr(text, single ? "single precision rounds it by up to"
                                               : "double precision rounds it by up to");
        ck_assert_msg((said != NULL) == cases[k].warns, "case %zu: %s", k, text);
        ck_assert(!cases[k].warns || (warns && sal_run_warning(&s, NULL, 0)));
        ck_assert(!cases[k].warns || (strstr(text, "--dtype f64") != NULL) == single);
        double unit = ldexp(1, single ? -24 : -53);
        ck_assert_double_eq_tol(s.rounding, fabs(cases[k].large) * unit, 1e-5);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

/* Exact answers say the same. */
START_TEST(coarse_exact_answers_are_told)
{
    static const struct {
        double large;
        sal_dtype dtype;
        const char *said; /* NULL: nothing */
    } cases[] = { { 3e6, SAL_F32, "single precision rounds it by up to" },
                  { -1e15, SAL_F64, "double precision rounds it by up to" },
                  { 3e6, SAL_F64, NULL } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_model *model = two_bits(cases[k].dtype, cases[k].large, 7);
        char text[SAL_ERROR_SIZE] = "";
        sal_exact exact;
        sal_error err;
        ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
        ck_assert_int_eq(sal_exact_warning(&exact, text, sizeof text), cases[k].said != NULL);
        ck_assert_int_eq(sal_exact_warning(&exact, NULL, 0), cases[k].said != NULL);
        ck_assert_msg(!cases[k].said || strstr(text, cases[k].said), "%s", text);
        ck_assert_int_eq(exact.dtype, cases[k].dtype);
        sal_model_destroy(model);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("precision");
    TCase *tc = tcase_create("precision");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, constants_change_no_draw);
    tcase_add_test(tc, too_large_an_f_is_told);
    tcase_add_test(tc, coarse_exact_answers_are_told);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
