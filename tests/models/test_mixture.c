/* SPDX-License-Identifier: MIT */
/* Independent variables and mixtures of them: their formulas written out, and closed forms against
 * enumeration and by hand. */
#include "alloc_fail.h"
#include "exact_answers.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include <saltus/io.h>
#include "models/model.h"

static sal_model *open_builtin(const char *specification, sal_dtype dtype)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, dtype, &model, &err), &err);
    return model;
}

static double f_of(const sal_model *model, const int32_t *codes)
{
    double f;
    sal_error err;
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    return f;
}

static void get(const sal_model *model, const char *name, double *values)
{
    sal_error err;
    ck_ok(sal_model_get_params(model, name, values, &err), &err);
}

/* ---- formulas */

START_TEST(bernoulli_and_categorical_are_linear)
{
    static const int32_t x[] = { 1, 0, 0, 1, 1 }, c[] = { 2, 0, 1 };
    sal_model *bernoulli = open_builtin("bernoulli:dim=5,seed=3", 0);
    sal_model *categorical = open_builtin("categorical:dim=3,states=4,seed=2", 0);
    double theta[12];
    get(bernoulli, "theta", theta);
    ck_assert_double_eq_tol(f_of(bernoulli, x), theta[0] + theta[3] + theta[4], 1e-14);
    ck_assert_int_eq(bernoulli->space->variables[0].kind, SAL_BINARY);
    get(categorical, "theta", theta);
    ck_assert_double_eq_tol(f_of(categorical, c), theta[2] + theta[4] + theta[9], 1e-14);
    sal_model_destroy(bernoulli);
    sal_model_destroy(categorical);
}
END_TEST

/* p is the probability where all variables are alike, and scale the spread of theta around it. */
START_TEST(bernoulli_parameters_are_what_they_say)
{
    enum { N = 20000 };
    sal_model *alike = open_builtin("bernoulli:dim=3,p=0.2,scale=0", 0);
    sal_model *spread = open_builtin("bernoulli:dim=20000,p=0.2,scale=0.5", 0);
    double *theta = calloc(N, sizeof *theta), mean = 0, square = 0;
    get(alike, "theta", theta);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(theta[i], log(0.25), 1e-14);
    }
    get(spread, "theta", theta);
    for (int i = 0; i < N; i++) {
        mean += theta[i] / N;
        square += pow(theta[i] - log(0.25), 2) / N;
    }
    ck_assert_double_eq_tol(mean, log(0.25), 4 * 0.5 / sqrt(N));
    ck_assert_double_eq_tol(square, 0.25, 4 * 0.25 * sqrt(2.0 / N));
    free(theta);
    sal_model_destroy(alike);
    sal_model_destroy(spread);
}
END_TEST

/* Thesis eq. 23 with f(x' = k) = exp(w_k): a sum of products. */
START_TEST(mixture_is_a_sum_of_products)
{
    sal_model *model = open_builtin("mixture:dim=4,states=3,components=3,seed=6", 0);
    double theta[3 * 12], w[3] = { 0.3, -1, 2 };
    sal_error err;
    get(model, "theta", theta);
    ck_ok(sal_model_set_params(model, "log_weight", w, &err), &err);
    for (int state = 0; state < 81; state++) {
        int32_t x[4] = { state % 3, state / 3 % 3, state / 9 % 3, state / 27 };
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            double p = exp(w[k]);
            for (int i = 0; i < 4; i++) {
                p *= exp(theta[k * 12 + i * 3 + x[i]]);
            }
            sum += p;
        }
        ck_assert_double_eq_tol(f_of(model, x), log(sum), 1e-13);
    }
    sal_model_destroy(model);
}
END_TEST

static void check_differences(const char *specification)
{
    sal_model *model = open_builtin(specification, 0);
    const sal_space *space = sal_model_space(model);
    int64_t V = sal_space_variables(space), at = 0;
    int32_t codes[8] = { 1, 0, 1, 1, 0 };
    double f, differences[64], g[64];
    sal_error err;
    ck_ok(sal_model_evaluate(model, 1, codes, &f, g, differences, &err), &err);
    for (int64_t v = 0; v < V; v++) {
        int32_t old = codes[v];
        for (int32_t k = 0; k < sal_space_states(space, v); k++) {
            codes[v] = k;
            ck_assert_double_eq_tol(differences[at++], f_of(model, codes) - f, 1e-12);
        }
        codes[v] = old;
    }
    sal_model_destroy(model);
}

START_TEST(differences_are_those_of_f)
{
    check_differences("bernoulli:dim=5");
    check_differences("categorical:dim=5,states=3");
    check_differences("mixture:dim=5,states=3,components=4");
}
END_TEST

/* df / dx is the posterior mean of theta over the components. */
START_TEST(gradient_is_the_posterior_mean_of_theta)
{
    sal_model *model = open_builtin("mixture:dim=2,states=2,components=2,seed=1", 0);
    static const int32_t x[] = { 1, 0 };
    double theta[8], f, g[4];
    sal_error err;
    get(model, "theta", theta);
    ck_ok(sal_model_evaluate(model, 1, x, &f, g, NULL, &err), &err);
    double a = exp(theta[1] + theta[2]), b = exp(theta[5] + theta[6]);
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(g[i], (a * theta[i] + b * theta[4 + i]) / (a + b), 1e-13);
    }
    sal_model_destroy(model);
}
END_TEST

/* ---- closed forms */

static void check_oracle(const sal_model *model, bool knows_mean, double tolerance)
{
    static answers want, got;
    int64_t R = model->space->n_states;
    ask(model, "enumeration", &want);
    ask(model, "closed form", &got);
    ck_assert_double_eq_tol(got.exact.log_z, want.exact.log_z, tolerance);
    if (knows_mean) {
        ck_assert_double_eq_tol(got.exact.log_prob_mean, want.exact.log_prob_mean, tolerance);
    } else {
        ck_assert(isnan(got.exact.log_prob_mean));
    }
    for (int64_t a = 0; a < R * R; a++) {
        ck_assert_double_eq_tol(got.pairs[a], want.pairs[a], tolerance);
        ck_assert_double_eq_tol(got.marginals[a / R], want.marginals[a / R], tolerance);
    }
}

static const char *const small[] = {
    "bernoulli:dim=9,p=0.3,scale=2",       "bernoulli:dim=1",
    "categorical:dim=5,states=4,scale=2",  "mixture:dim=5,states=3,components=1",
    "mixture:dim=5,states=4,components=4", "mixture:dim=8,states=2,components=3,scale=5",
};

static bool knows_mean(int k)
{
    return k < 4;
}

START_TEST(closed_forms_equal_enumeration)
{
    for (int k = 0; k < 6; k++) {
        sal_model *model = open_builtin(small[k], 0), *clamped = NULL;
        sal_error err;
        check_oracle(model, knows_mean(k), 1e-12);
        if (k != 1) {
            static const int64_t variables[] = { 0, 2, 4 };
            static const int32_t codes[] = { 1, 0, 1 };
            for (int first = 0; first < 2; first++) {
                ck_ok(sal_model_clamp(model, 2, variables + first, codes + first, &clamped, &err),
                      &err);
                check_oracle(clamped, knows_mean(k), 1e-12);
                sal_model_destroy(clamped);
            }
        }
        sal_model_destroy(model);
    }
}
END_TEST

/* Weights and tables that are not normalised, as training makes them. */
START_TEST(closed_forms_follow_parameters_and_single_precision)
{
    sal_model *model = open_builtin("mixture:dim=4,states=3,components=2", SAL_F32);
    double w[2] = { 3, -1 }, theta[24];
    sal_error err;
    for (int i = 0; i < 24; i++) {
        theta[i] = sin(3.0 * i);
    }
    ck_ok(sal_model_set_params(model, "log_weight", w, &err), &err);
    ck_ok(sal_model_set_params(model, "theta", theta, &err), &err);
    check_oracle(model, false, 1e-5);
    sal_model_destroy(model);
}
END_TEST

START_TEST(large_models_are_served)
{
    sal_model *model = open_builtin("bernoulli:dim=1000,seed=5", 0);
    double *marginals = calloc(2000, sizeof *marginals), *theta = calloc(1000, sizeof *theta);
    double log_z = 0, mean = 0;
    sal_exact exact;
    sal_error err;
    get(model, "theta", theta);
    ck_ok(sal_model_exact(model, NULL, &exact, marginals, NULL, NULL, &err), &err);
    ck_assert_str_eq(exact.oracle, "closed form");
    for (int i = 0; i < 1000; i++) {
        double p = 1 / (1 + exp(-theta[i]));
        ck_assert_double_eq_tol(marginals[2 * i + 1], p, 1e-14);
        ck_assert_double_eq_tol(marginals[2 * i], 1 - p, 1e-14);
        log_z += log1p(exp(theta[i]));
        mean += p * theta[i];
    }
    ck_assert_double_eq_tol(exact.log_z, log_z, 1e-10);
    ck_assert_double_eq_tol(exact.log_prob_mean, mean, 1e-10);
    sal_model_destroy(model);
    model = open_builtin("mixture:dim=100,states=20", 0);
    ck_ok(sal_model_exact(model, NULL, &exact, marginals, NULL, NULL, &err), &err);
    ck_assert_str_eq(exact.oracle, "closed form");
    ck_assert_double_eq_tol(exact.log_z, 0, 1e-12);
    sal_model_destroy(model);
    free(marginals);
    free(theta);
}
END_TEST

/* A component that says nothing is not asked; and enumeration, which knows E f, comes first. */
START_TEST(small_mixtures_are_enumerated)
{
    sal_model *model = open_builtin("mixture:dim=3,states=2,components=2", 0);
    sal_model *ising = open_builtin("ising:side=2", 0);
    sal_exact_options options = { .oracle = "closed form" };
    double w[2] = { 0, -INFINITY }, marginals[6], theta[12];
    sal_exact exact;
    sal_error err;
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_str_eq(exact.oracle, "enumeration");
    ck_ok(sal_model_set_params(model, "log_weight", w, &err), &err);
    get(model, "theta", theta);
    ck_ok(sal_model_exact(model, &options, &exact, marginals, NULL, NULL, &err), &err);
    for (int a = 0; a < 6; a++) {
        ck_assert_double_eq_tol(marginals[a], exp(theta[a]), 1e-12);
    }
    ck_fails(sal_model_exact(ising, &options, &exact, NULL, NULL, NULL, &err), SAL_ERR_UNSUPPORTED,
             &err, "not known to be independent");
    w[0] = NAN;
    ck_ok(sal_model_set_params(model, "log_weight", w, &err), &err);
    ck_fails(sal_model_exact(model, &options, &exact, NULL, NULL, NULL, &err), SAL_ERR_MODEL, &err,
             "f is NaN");
    ck_fails(sal_model_open("mixture:dim=1000000,states=256", 0, &model, &err), SAL_ERR_ARGUMENT,
             &err, "1000000 x 256 x 5; at most");
    sal_model_destroy(model);
    sal_model_destroy(ising);
}
END_TEST

static sal_status exact_once(const sal_model *model)
{
    double marginals[32], pairs[32 * 32];
    sal_exact exact;
    sal_exact_options options = { .oracle = "closed form" };
    return sal_model_exact(model, &options, &exact, marginals, pairs, NULL, NULL);
}

static sal_status make_once(const char *specification)
{
    sal_model *model = NULL;
    sal_status status = sal_model_open(specification, 0, &model, NULL);
    sal_model_destroy(model);
    return status;
}

START_TEST(allocation_failures_are_reported)
{
    static const char *const tiny[] = { "bernoulli:dim=3", "categorical:dim=3,states=2",
                                        "mixture:dim=3,states=2,components=2" };
    for (int k = 0; k < 3; k++) {
        sal_model *model = open_builtin(tiny[k], 0), *clamped = NULL;
        sal_error err;
        ck_ok(sal_model_clamp(model, 1, (int64_t[]){ 1 }, (int32_t[]){ 1 }, &clamped, &err), &err);
        ck_alloc_sweep(exact_once(clamped), (void)0);
        ck_alloc_sweep(make_once(tiny[k]), (void)0);
        sal_model_destroy(clamped);
        sal_model_destroy(model);
    }
}
END_TEST

static Suite *mixture_suite(void)
{
    Suite *suite = suite_create("mixture");
    TCase *tcase = tcase_create("mixture");
    tcase_add_test(tcase, bernoulli_and_categorical_are_linear);
    tcase_add_test(tcase, bernoulli_parameters_are_what_they_say);
    tcase_add_test(tcase, mixture_is_a_sum_of_products);
    tcase_add_test(tcase, differences_are_those_of_f);
    tcase_add_test(tcase, gradient_is_the_posterior_mean_of_theta);
    tcase_add_test(tcase, closed_forms_equal_enumeration);
    tcase_add_test(tcase, closed_forms_follow_parameters_and_single_precision);
    tcase_add_test(tcase, large_models_are_served);
    tcase_add_test(tcase, small_mixtures_are_enumerated);
    tcase_add_test(tcase, allocation_failures_are_reported);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(mixture_suite());
}
