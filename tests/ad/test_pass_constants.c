/* SPDX-License-Identifier: MIT */
/* Additive constants, wherever they stand in a formula, cost f no digits in single precision. */
#include "gradient_fixture.h"

#include <saltus/model.h>

#include "alloc_fail.h"

/* The largest constant, and what is too large for single precision to add to a number near 1. */
#define LARGE (-3e7)

enum { N = 4, STATES = 1 << N };

/* ---- terms x [N] whose sum depends on the state */

static sal_expr weights(sal_tape *tape)
{
    return sal_constant(tape, ((double[N]){ 0.7, -0.4, 1.1, 0.3 }), SAL_SHAPE(N));
}

static sal_expr linear(sal_tape *tape)
{
    return sal_mul(weights(tape), sal_state(tape));
}

/* Neighbours on a ring. */
static sal_expr pairs(sal_tape *tape)
{
    sal_expr s = sal_state(tape);
    sal_expr next = sal_gather(s, 0, N, ((int64_t[N]){ 1, 2, 3, 0 }));
    return sal_mul(weights(tape), sal_mul(s, next));
}

static sal_expr general(sal_tape *tape)
{
    sal_expr s = sal_state(tape);
    return sal_tanh(sal_add(linear(tape), sal_mul(sal_sum(s), weights(tape))));
}

static sal_expr (*const terms[])(sal_tape *tape) = { linear, pairs, general };
enum { TERMS = sizeof terms / sizeof *terms };

/* ---- ways to add a constant to the sum of x */

static sal_expr number(sal_expr x, double value)
{
    return sal_scalar(x.tape, value);
}

static sal_expr vector(sal_expr x, double value)
{
    return sal_constant(x.tape, ((double[N]){ value, value, value, value }), SAL_SHAPE(N));
}

static sal_expr by_sum(sal_expr x)
{
    return sal_add(sal_sum(x), number(x, LARGE));
}

static sal_expr by_difference(sal_expr x)
{
    return sal_sub(number(x, LARGE), sal_sum(sal_neg(x)));
}

static sal_expr by_elements(sal_expr x)
{
    return sal_sum(sal_add(number(x, LARGE / N), x));
}

static sal_expr by_vector(sal_expr x)
{
    return sal_sum(sal_sub(x, vector(x, -LARGE / N)));
}

static sal_expr by_scale(sal_expr x)
{
    return sal_scale(sal_add(sal_scale(sal_sum(x), 2), number(x, 2 * LARGE)), 0.5);
}

static sal_expr by_product(sal_expr x)
{
    sal_expr twice = sal_div(sal_add(sal_sum(x), number(x, LARGE)), number(x, 0.5));
    return sal_mul(number(x, 0.5), twice);
}

static sal_expr by_mean(sal_expr x)
{
    return sal_mean(sal_add(sal_scale(x, N), vector(x, LARGE)));
}

static sal_expr by_axes(sal_expr x)
{
    sal_expr square = sal_transpose(sal_reshape(x, SAL_SHAPE(2, 2)), 0, 1);
    return sal_sum(sal_sum_axis(sal_add(square, number(x, LARGE / N)), 0));
}

/* As a net's last layer has it: element 0 of a vector of one. */
static sal_expr by_element(sal_expr x)
{
    sal_expr layer = sal_reshape(sal_sum(x), SAL_SHAPE(1));
    return sal_slice(sal_add(layer, number(x, LARGE)), 0, 0, 1);
}

/* A constant of two that cancel, of which single precision would lose the rest. */
static sal_expr by_cancelling(sal_expr x)
{
    sal_expr more = sal_add(sal_sum(x), number(x, LARGE - 0.3));
    return sal_sub(more, sal_sum(vector(x, LARGE / N)));
}

static sal_expr by_parameter(sal_expr x)
{
    return sal_add(sal_param(x.tape, "p", SAL_SHAPE(1)), sal_sum(x));
}

static sal_expr by_parameters(sal_expr x)
{
    sal_expr p = sal_param(x.tape, "p", SAL_SHAPE(1)), q = sal_param(x.tape, "q", SAL_SHAPE(1));
    sal_expr all = sal_add(sal_add(sal_sum(x), p), number(x, LARGE));
    return sal_div(sal_mul(q, all), number(x, 0.5));
}

static const struct {
    sal_expr (*write)(sal_expr x);
    double constant;
} writings[] = {
    { by_sum, LARGE },       { by_difference, LARGE },     { by_elements, LARGE },
    { by_vector, LARGE },    { by_scale, LARGE },          { by_product, LARGE },
    { by_mean, LARGE },      { by_axes, LARGE },           { by_cancelling, -0.3 },
    { by_parameter, LARGE }, { by_parameters, 2 * LARGE }, { by_element, LARGE },
};
enum { WRITINGS = sizeof writings / sizeof *writings };

static void set(sal_model *model, const char *name, double value)
{
    sal_error err;
    ck_ok(sal_model_set_params(model, name, &value, &err), &err);
}

/* The sum of terms by one of the writings; without any in double for w < 0. */
static sal_model *make(int t, int w)
{
    sal_tape *tape = tape_over(N, w < 0 ? SAL_F64 : SAL_F32);
    sal_expr x = terms[t](tape);
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_tape(tape, w < 0 ? sal_sum(x) : writings[w].write(x), &model, &err), &err);
    if (w >= 0 && writings[w].write == by_parameter) {
        set(model, "p", LARGE);
    } else if (w >= 0 && writings[w].write == by_parameters) {
        set(model, "p", LARGE);
        set(model, "q", 0.5);
    }
    sal_tape_destroy(tape);
    return model;
}

/* f of all states and their differences [STATES x 2 N]. */
static void evaluate_all(const sal_model *model, double *f, double *differences)
{
    int32_t codes[STATES * N];
    sal_error err;
    for (int32_t k = 0; k < STATES * N; k++) {
        codes[k] = k / N >> k % N & 1;
    }
    ck_ok(sal_model_evaluate(model, STATES, codes, f, NULL, differences, &err), &err);
}

/* To what a sum of numbers near 1 in single precision is good for, and the constant in double. */
static void check_all(const char *what, int64_t n, const double *got, const double *want,
                      double constant)
{
    for (int64_t k = 0; k < n; k++) {
        ck_assert_msg(fabs(got[k] - constant - want[k]) < 3e-6, "%s %lld is %.17g, not %.17g", what,
                      (long long)k, got[k], constant + want[k]);
    }
}

START_TEST(large_constants_cost_no_digits)
{
    const double constant = writings[_i].constant;
    for (int t = 0; t < TERMS; t++) {
        sal_model *model = make(t, _i), *plain = make(t, -1);
        double f[STATES], moves[STATES * 2 * N], f_plain[STATES], moves_plain[STATES * 2 * N];
        double p[2 * N], p_plain[2 * N];
        sal_exact exact, exact_plain;
        sal_error err;
        evaluate_all(model, f, moves);
        evaluate_all(plain, f_plain, moves_plain);
        check_all("f", STATES, f, f_plain, constant);
        check_all("difference", STATES * 2 * N, moves, moves_plain, 0);
        ck_ok(sal_model_exact(model, NULL, &exact, p, NULL, NULL, &err), &err);
        ck_ok(sal_model_exact(plain, NULL, &exact_plain, p_plain, NULL, NULL, &err), &err);
        check_all("log Z", 1, &exact.log_z, &exact_plain.log_z, constant);
        check_all("mean", 1, &exact.log_prob_mean, &exact_plain.log_prob_mean, constant);
        check_all("marginal", 2 * N, p, p_plain, 0);
        sal_model_destroy(model);
        sal_model_destroy(plain);
    }
}
END_TEST

/* f = 2 q (sum x + p + LARGE): df/dp = 2 q, df/dq = 2 (sum x + p + LARGE), summed over chains. */
START_TEST(parameters_keep_their_gradients)
{
    enum { CHAINS = 5 };
    for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        sal_tape *tape = tape_over(N, dtype);
        fixture *f = fixture_create(tape, by_parameters(linear(tape)), true);
        sali_params_set(f->params, (double[]){ 1e6, 0.25 });
        evaluate(f, CHAINS);
        double sums = 0, want[2], constant = LARGE + 1e6;
        for (int64_t c = 0; c < CHAINS; c++) {
            const double *x = f->x + c * N;
            double sum = 0.7 * x[0] - 0.4 * x[1] + 1.1 * x[2] + 0.3 * x[3];
            sums += sum;
            ck_assert_double_eq_tol(f->f[c], 0.5 * (sum + constant), 1e-6);
            ck_assert_double_eq_tol(f->gradient[c * N + 2], 0.5 * 1.1, 1e-6);
        }
        want[0] = CHAINS * 2 * 0.25;
        want[1] = 2 * (sums + CHAINS * constant);
        check_close("df/dparameter", 1, f->parameters, want, 1e-6, 0);
        check_close("df/dparameter", 1, f->parameters + 1, want + 1, 1e-6, 0);
        fixture_destroy(f);
        sal_tape_destroy(tape);
    }
}
END_TEST

/* A sum of constants that others read too, and an f that depends on no state. */
START_TEST(shared_and_constant_sums_are_right)
{
    sal_error err;
    for (int k = 0; k < 2; k++) {
        sal_tape *tape = tape_over(N, SAL_F64);
        sal_expr c = number(sal_state(tape), 2), sum = sal_add(sal_sum(linear(tape)), c);
        sal_model *model = NULL, *plain = make(0, -1);
        double f[STATES], f_plain[STATES];
        sal_tape_set_passes(tape, 0);
        sal_exp(sum); /* f does not need it */
        ck_ok(sal_model_from_tape(tape, k ? sal_add(c, c) : sal_add(sum, sal_mul(sum, sum)), &model,
                                  &err),
              &err);
        evaluate_all(model, f, NULL);
        evaluate_all(plain, f_plain, NULL);
        for (int s = 0; s < STATES; s++) {
            double y = f_plain[s] + 2;
            ck_assert_double_eq_tol(f[s], k ? 4 : y + y * y, 1e-12);
        }
        sal_model_destroy(model);
        sal_model_destroy(plain);
        sal_tape_destroy(tape);
    }
}
END_TEST

START_TEST(failed_allocations_leak_nothing)
{
    sal_tape *tape = tape_over(N, SAL_F32);
    sal_expr f = by_parameters(sal_add(linear(tape), vector(sal_state(tape), 2)));
    sali_program *program = NULL;
    sal_error err;
    ck_alloc_sweep(sali_program_create(tape, f, &program, &err), sali_program_destroy(program));
    sal_tape_destroy(tape);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pass_constants");
    TCase *tc = tcase_create("constants");
    tcase_add_loop_test(tc, large_constants_cost_no_digits, 0, WRITINGS);
    tcase_add_test(tc, parameters_keep_their_gradients);
    tcase_add_test(tc, shared_and_constant_sums_are_right);
    tcase_add_test(tc, failed_allocations_leak_nothing);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
