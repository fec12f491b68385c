/* SPDX-License-Identifier: MIT */
/* The multilinear extension: its three methods against brute force and against each other. */
#include "test.h"

#include <math.h>
#include <stdbool.h>

#include "alloc_fail.h"
#include "tiny_models.h"

#define MOST_R 64

static const sal_extension_method methods[] = { SAL_EXTENSION_CLOSED, SAL_EXTENSION_ENUMERATE,
                                                SAL_EXTENSION_MONTE_CARLO };
#define N_METHODS ((int)(sizeof methods / sizeof *methods))

/* Equal, both -inf, or close. */
static bool close_to(double a, double b, double tolerance)
{
    return a == b || fabs(a - b) <= tolerance * (1 + fabs(b));
}

#define CLOSE(a, b, tolerance)                                                                    \
    ck_assert_msg(close_to((a), (b), (tolerance)), "%s = %.17g, %s = %.17g", #a, (double)(a), #b, \
                  (double)(b))

/* The next state; false after the last. */
static bool advance(const sal_space *space, int32_t *codes)
{
    for (int64_t v = 0; v < space->n_variables; v++) {
        if (++codes[v] < space->variables[v].states) {
            return true;
        }
        codes[v] = 0;
    }
    return false;
}

static double value_of(const sal_model *model, const int32_t *codes)
{
    sal_error err = { 0 };
    double f;
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    return f;
}

/* Random rows; every third entry is 0 when `sparse`, never a row's first. */
static void random_theta(const sal_space *space, uint64_t k, bool sparse, double *theta)
{
    int64_t at = 0;
    sali_stream stream = { .seed = 11, .step = k, .purpose = SALI_RNG_TEST };
    ck_assert_int_le(space->n_states, MOST_R);
    sali_rng_uniform_f64(&stream, space->n_states, theta);
    for (int64_t v = 0; v < space->n_variables; v++) {
        double sum = 0;
        int32_t states = space->variables[v].states;
        for (int32_t j = 0; j < states; j++) {
            theta[at + j] = sparse && j > 0 && (at + j) % 3 == 0 ? 0 : theta[at + j];
            sum += theta[at + j];
        }
        for (int32_t j = 0; j < states; j++) {
            theta[at + j] /= sum;
        }
        at += states;
    }
}

static void theta_of_state(const sal_space *space, const int32_t *codes, double *theta)
{
    memset(theta, 0, (size_t)space->n_states * sizeof *theta);
    for (int64_t v = 0; v < space->n_variables; v++) {
        theta[codes[v]] = 1;
        theta += space->variables[v].states;
    }
}

/* F with variable `fixed` (-1: none) in state `code`, by the definition, from the last variable. */
static double brute(const sal_model *model, const double *theta, int64_t fixed, int32_t code)
{
    const sal_space *space = sal_model_space(model);
    int32_t codes[TINY_MOST_REALS] = { 0 };
    double F = 0;
    do {
        const double *row = theta + space->n_states;
        double weight = 1;
        for (int64_t v = space->n_variables; v-- > 0;) {
            row -= space->variables[v].states;
            weight *= v == fixed ? codes[v] == code : row[codes[v]];
        }
        F += weight > 0 ? weight * value_of(model, codes) : 0;
    } while (advance(space, codes));
    return F;
}

/* sum w_ij x_i x_j over the reals of different variables + b'x: multilinear on any space. */
static sal_model *bilinear(const sal_space *space, sal_dtype dtype)
{
    int64_t N = sal_space_width(space), n = 0;
    int64_t pairs[TINY_MOST_REALS * TINY_MOST_REALS];
    double w[TINY_MOST_REALS * TINY_MOST_REALS], b[TINY_MOST_REALS];
    sal_model *model = NULL;
    sal_error err;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < i; j++) {
            if (sali_space_owner(space, i) != sali_space_owner(space, j)) {
                pairs[2 * n] = i;
                pairs[2 * n++ + 1] = j;
            }
        }
    }
    tiny_normals(21, n, 0.5, w);
    tiny_normals(22, N, 0.5, b);
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr s = sal_state(tape);
    sal_expr f = sal_add(sal_edges(s, sal_constant(tape, w, SAL_SHAPE(n)), n, pairs),
                         sal_dot(sal_constant(tape, b, SAL_SHAPE(N)), s));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    ck_assert(sal_model_is_multilinear(model));
    sal_tape_destroy(tape);
    return model;
}

/* Call check(model) for the models over all tiny spaces. */
static void for_all_models(sal_dtype dtype, void (*check)(const sal_model *model))
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int m = 0; m <= N_TINY_MODELS; m++) {
            sal_model *model =
                m < N_TINY_MODELS ? tiny_models[m].make(space, dtype) : bilinear(space, dtype);
            if (model) {
                check(model);
            }
            sal_model_destroy(model);
        }
        sal_space_destroy(space);
    }
}

/* ---- exact methods */

static void check_states(const sal_model *model)
{
    const sal_space *space = sal_model_space(model);
    int32_t codes[TINY_MOST_REALS] = { 0 };
    sal_error err = { 0 };
    double tolerance = sal_model_dtype(model) == SAL_F32 ? 1e-5 : 1e-12;
    do {
        double theta[MOST_R], gradient[MOST_R], error[MOST_R];
        theta_of_state(space, codes, theta);
        for (int k = sal_model_is_multilinear(model) ? 0 : 1; k < N_METHODS; k++) {
            sal_extension_options options = { .method = methods[k], .samples = 3 };
            sal_extension ext;
            int64_t at = 0;
            ck_ok(sal_model_extension(model, &options, theta, &ext, gradient, error, &err), &err);
            ck_assert_int_eq(ext.method, methods[k]);
            ck_assert_double_le(ext.standard_error, tolerance);
            CLOSE(ext.F, value_of(model, codes), tolerance);
            for (int64_t v = 0; v < space->n_variables; v++) {
                int32_t now = codes[v];
                for (codes[v] = 0; codes[v] < space->variables[v].states; codes[v]++, at++) {
                    CLOSE(gradient[at], value_of(model, codes), tolerance);
                    ck_assert_double_le(error[at], tolerance);
                }
                codes[v] = now;
            }
        }
    } while (advance(space, codes));
}

START_TEST(at_a_state_the_extension_is_f_and_its_gradient_f_of_the_neighbours)
{
    for_all_models(SAL_F64, check_states);
    for_all_models(SAL_F32, check_states);
}
END_TEST

/* Levels whose span has an inexact inverse: a forbidden entry must not leak in with a weight that
 * is zero but for rounding. */
START_TEST(forbidden_states_next_to_uneven_levels_have_no_weight)
{
    const double T[4] = { 0.3, -INFINITY, 0.5, 0.1 };
    for (int i = 0; i < 300; i++) {
        double low = (i % 7) * 0.37 - 1, levels[2] = { low, low + 1 + i * 0.013 };
        sal_error err = { 0 };
        sal_space *space = sal_space_create();
        sal_model *model = NULL;
        sal_block pair = {
            .name = "x", .kind = SAL_ORDINAL, .count = 2, .states = 2, .levels = levels
        };
        ck_ok(sal_space_add(space, &pair, &err), &err);
        sal_tape *tape = sal_tape_create(space, i % 2 ? SAL_F32 : SAL_F64);
        sal_expr f = sal_table(tape, sal_constant(tape, T, SAL_SHAPE(4)), 1, ((int64_t[]){ 0, 2 }),
                               ((int64_t[]){ 0, 1 }));
        ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
        check_states(model);
        sal_model_destroy(model);
        sal_tape_destroy(tape);
        sal_space_destroy(space);
    }
}
END_TEST

static void check_brute(const sal_model *model)
{
    const sal_space *space = sal_model_space(model);
    sal_error err = { 0 };
    for (uint64_t k = 0; k < 4; k++) {
        double theta[MOST_R], gradient[MOST_R];
        random_theta(space, k, k % 2, theta);
        for (int m = sal_model_is_multilinear(model) ? 0 : 1; m < 2; m++) {
            sal_extension_options options = { .method = methods[m] };
            sal_extension ext;
            int64_t at = 0;
            ck_ok(sal_model_extension(model, &options, theta, &ext, gradient, NULL, &err), &err);
            CLOSE(ext.F, brute(model, theta, -1, 0), 1e-12);
            for (int64_t v = 0; v < space->n_variables; v++) {
                for (int32_t j = 0; j < space->variables[v].states; j++, at++) {
                    CLOSE(gradient[at], brute(model, theta, v, j), 1e-12);
                }
            }
            double F = ext.F;
            ck_ok(sal_model_extension(model, &options, theta, &ext, NULL, NULL, &err), &err);
            CLOSE(ext.F, F, 1e-15);
        }
    }
}

START_TEST(closed_form_and_enumeration_equal_brute_force)
{
    for_all_models(SAL_F64, check_brute);
}
END_TEST

static double extension_at(const sal_model *model, const double *theta)
{
    sal_error err = { 0 };
    sal_extension ext;
    ck_ok(sal_model_extension(model, NULL, theta, &ext, NULL, NULL, &err), &err);
    return ext.F;
}

static void check_central(const sal_model *model)
{
    const sal_space *space = sal_model_space(model);
    double theta[MOST_R], gradient[MOST_R], h = 1e-3;
    sal_error err = { 0 };
    sal_extension ext;
    int64_t at = 0;
    random_theta(space, 9, false, theta);
    ck_ok(sal_model_extension(model, NULL, theta, &ext, gradient, NULL, &err), &err);
    if (ext.F == -INFINITY) {
        return;
    }
    for (int64_t v = 0; v < space->n_variables; v++) {
        for (int32_t j = 1; j < space->variables[v].states; j++) {
            double base = theta[at], other = theta[at + j];
            theta[at + j] = other + h;
            theta[at] = base - h;
            double up = extension_at(model, theta);
            theta[at + j] = other - h;
            theta[at] = base + h;
            double down = extension_at(model, theta);
            theta[at + j] = other;
            theta[at] = base;
            CLOSE((up - down) / (2 * h), gradient[at + j] - gradient[at], 1e-10);
        }
        at += space->variables[v].states;
    }
}

START_TEST(gradient_matches_central_differences_along_the_simplices)
{
    for_all_models(SAL_F64, check_central);
}
END_TEST

/* A formula whose type is f32 gives what f64 gives, to its precision. */
static void check_f32(const sal_model *model)
{
    double theta[MOST_R], F;
    sal_error err = { 0 };
    sal_extension ext;
    random_theta(sal_model_space(model), 5, false, theta);
    F = extension_at(model, theta);
    ck_ok(sal_model_extension(model, &(sal_extension_options){ .method = SAL_EXTENSION_ENUMERATE },
                              theta, &ext, NULL, NULL, &err),
          &err);
    CLOSE(F, ext.F, 1e-5);
}

START_TEST(f32_models_have_closed_forms_too)
{
    for_all_models(SAL_F32, check_f32);
}
END_TEST

/* ---- Monte Carlo */

static sal_model *open_builtin(const char *specification)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

/* With 5 standard errors a right estimate fails with probability 6e-7, or 1e-3 for the 1,000 or so
 * estimates here; the seed is fixed. A forbidden state that was sampled makes -inf exactly. */
static void check_sampled(const sal_model *model)
{
    const sal_space *space = sal_model_space(model);
    double theta[MOST_R], gradient[MOST_R], error[MOST_R], exact[MOST_R];
    sal_error err = { 0 };
    sal_extension ext, truth;
    random_theta(space, 3, false, theta);
    ck_ok(sal_model_extension(model, &(sal_extension_options){ .method = SAL_EXTENSION_ENUMERATE },
                              theta, &truth, exact, NULL, &err),
          &err);
    ck_ok(sal_model_extension(model,
                              &(sal_extension_options){
                                  .method = SAL_EXTENSION_MONTE_CARLO, .samples = 3000, .seed = 1 },
                              theta, &ext, gradient, error, &err),
          &err);
    ck_assert_int_eq(ext.method, SAL_EXTENSION_MONTE_CARLO);
    ck_assert_msg(ext.F == truth.F || fabs(ext.F - truth.F) <= 5 * ext.standard_error,
                  "F %g, estimated %g +- %g", truth.F, ext.F, ext.standard_error);
    for (int64_t k = 0; k < space->n_states; k++) {
        ck_assert_msg(
            gradient[k] == exact[k] || fabs(gradient[k] - exact[k]) <= 5 * error[k] + 1e-12,
            "gradient %d: %g, estimated %g +- %g", (int)k, exact[k], gradient[k], error[k]);
    }
}

START_TEST(monte_carlo_is_within_its_standard_errors)
{
    for_all_models(SAL_F64, check_sampled);
}
END_TEST

START_TEST(standard_errors_shrink_with_the_root_of_the_samples_and_are_calibrated)
{
    enum { REPEATS = 200 };
    sal_model *model = open_builtin("rbm:visible=8,hidden=4,scale=1");
    double theta[16], sum = 0, squares = 0, error[2] = { 0 };
    sal_error err = { 0 };
    sal_extension ext;
    random_theta(sal_model_space(model), 1, false, theta);
    for (int k = 0; k < 2; k++) {
        sal_extension_options options = { .method = SAL_EXTENSION_MONTE_CARLO,
                                          .samples = k ? 40000 : 2500,
                                          .seed = 5 };
        ck_ok(sal_model_extension(model, &options, theta, &ext, NULL, NULL, &err), &err);
        error[k] = ext.standard_error;
    }
    /* Relative error of a standard deviation from n samples: about 1/sqrt(2 n) = 1.4%. */
    ck_assert_double_eq_tol(error[0] / error[1], 4, 0.25);
    double truth = extension_at(model, theta);
    for (uint64_t seed = 0; seed < REPEATS; seed++) {
        sal_extension_options options = { .method = SAL_EXTENSION_MONTE_CARLO,
                                          .samples = 100,
                                          .seed = seed };
        ck_ok(sal_model_extension(model, &options, theta, &ext, NULL, NULL, &err), &err);
        double z = (ext.F - truth) / ext.standard_error;
        sum += z;
        squares += z * z;
    }
    /* z is nearly standard normal: its mean within 5 / sqrt(200), its mean square within
     * 5 sqrt(2 / 200), and 0.05 for the t distribution. */
    ck_assert_double_eq_tol(sum / REPEATS, 0, 5 / sqrt(REPEATS));
    ck_assert_double_eq_tol(squares / REPEATS, 1, 5 * sqrt(2.0 / REPEATS) + 0.05);
    sal_model_destroy(model);
}
END_TEST

START_TEST(slopes_of_a_linear_f_are_exact_whatever_is_sampled)
{
    sal_model *model = open_builtin("ising:side=3,theta=0,bias=0.4");
    double theta[18], gradient[18], error[18];
    sal_error err = { 0 };
    sal_extension ext;
    random_theta(sal_model_space(model), 2, false, theta);
    sal_extension_options options = { .method = SAL_EXTENSION_MONTE_CARLO, .samples = 7 };
    ck_ok(sal_model_extension(model, &options, theta, &ext, gradient, error, &err), &err);
    for (int v = 0; v < 9; v++) {
        ck_assert_double_eq_tol(gradient[2 * v + 1] - gradient[2 * v], 0.8, 1e-12);
        ck_assert_double_gt(error[2 * v], 0);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(same_seed_same_bits_and_another_seed_others)
{
    sal_model *model = open_builtin("rbm:visible=30,hidden=4");
    double theta[60], gradient[3][60], error[3][60];
    sal_error err = { 0 };
    sal_extension ext[3];
    random_theta(sal_model_space(model), 2, true, theta);
    for (int k = 0; k < 3; k++) {
        sal_extension_options options = { .samples = 130, .seed = k == 2 };
        memset(&ext[k], 0, sizeof ext[k]);
        ck_ok(sal_model_extension(model, &options, theta, &ext[k], gradient[k], error[k], &err),
              &err);
        ck_assert_int_eq(ext[k].method, SAL_EXTENSION_MONTE_CARLO); /* 2^30 states */
    }
    ck_assert_double_eq(ext[0].F, ext[1].F);
    ck_assert_double_eq(ext[0].standard_error, ext[1].standard_error);
    ck_assert_mem_eq(gradient[0], gradient[1], sizeof gradient[0]);
    ck_assert_mem_eq(error[0], error[1], sizeof error[0]);
    ck_assert_double_ne(ext[0].F, ext[2].F);
    sal_model_destroy(model);
}
END_TEST

/* ---- choices and mistakes */

START_TEST(the_method_is_chosen_by_the_model_and_the_limit)
{
    double theta[18];
    sal_error err = { 0 };
    sal_extension ext;
    sal_model *ising = open_builtin("ising:side=3"), *rbm = open_builtin("rbm:visible=9,hidden=3");
    random_theta(sal_model_space(ising), 0, false, theta);
    ck_ok(sal_model_extension(ising, NULL, theta, &ext, NULL, NULL, &err), &err);
    ck_assert_int_eq(ext.method, SAL_EXTENSION_CLOSED);
    ck_ok(sal_model_extension(rbm, NULL, theta, &ext, NULL, NULL, &err), &err);
    ck_assert_int_eq(ext.method, SAL_EXTENSION_ENUMERATE);
    sal_extension_options options = { .limit = 511 };
    ck_ok(sal_model_extension(rbm, &options, theta, &ext, NULL, NULL, &err), &err);
    ck_assert_int_eq(ext.method, SAL_EXTENSION_MONTE_CARLO);
    options.method = SAL_EXTENSION_ENUMERATE;
    ck_fails(sal_model_extension(rbm, &options, theta, &ext, NULL, NULL, &err), SAL_ERR_UNSUPPORTED,
             &err, "512");
    options.method = SAL_EXTENSION_CLOSED;
    ck_fails(sal_model_extension(rbm, &options, theta, &ext, NULL, NULL, &err), SAL_ERR_UNSUPPORTED,
             &err, "multilinear");
    options.method = (sal_extension_method)9;
    ck_fails(sal_model_extension(rbm, &options, theta, &ext, NULL, NULL, &err), SAL_ERR_ARGUMENT,
             &err, "method 9");
    options = (sal_extension_options){ .samples = 1 };
    ck_fails(sal_model_extension(rbm, &options, theta, &ext, NULL, NULL, &err), SAL_ERR_ARGUMENT,
             &err, "samples 1");
    sal_model_destroy(ising);
    sal_model_destroy(rbm);
}
END_TEST

START_TEST(bad_theta_names_the_variable_and_touches_nothing)
{
    const double bad[] = { NAN, -0.1, 1.1, 0.7, INFINITY };
    sal_model *model = open_builtin("rbm:visible=3,hidden=2");
    sal_error err = { 0 };
    sal_extension ext = { .F = 7 };
    double gradient[6] = { 7 };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        double theta[] = { 0.5, 0.5, 0.25, 0.75, 0.5, bad[k] };
        ck_fails(sal_model_extension(model, NULL, theta, &ext, gradient, NULL, &err),
                 SAL_ERR_ARGUMENT, &err, "variable 2");
    }
    double nearly[] = { 0.5, 0.5 + 5e-10, 0.25, 0.75, 1, 0 };
    ck_assert_double_eq(ext.F, 7);
    ck_assert_double_eq(gradient[0], 7);
    ck_ok(sal_model_extension(model, NULL, nearly, &ext, gradient, NULL, &err), &err);
    sal_model_destroy(model);
}
END_TEST

static double bad_at_two(const double *x, double *gradient, void *data)
{
    (void)gradient;
    return x[0] == 1 && x[1] == 1 ? *(const double *)data : x[0];
}

START_TEST(values_that_are_no_numbers_show_the_state_unless_it_is_impossible)
{
    const double bad[] = { NAN, INFINITY };
    sal_error err = { 0 };
    sal_extension ext;
    double theta[] = { 0.5, 0.5, 0.5, 0.5 }, lower[] = { 1, 0, 1, 0 }, gradient[4];
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &(sal_block){ .name = "x", .kind = SAL_BINARY, .count = 2 }, &err),
          &err);
    for (int k = 0; k < 2; k++) {
        sal_model *model = NULL;
        ck_ok(sal_model_from_callback(
                  space, &(sal_callback){ .f = bad_at_two, .data = (void *)&bad[k] }, &model, &err),
              &err);
        for (int m = 1; m < N_METHODS; m++) {
            sal_extension_options options = { .method = methods[m] };
            ck_fails(sal_model_extension(model, &options, theta, &ext, gradient, NULL, &err),
                     SAL_ERR_MODEL, &err, "state 1 1");
            ck_ok(sal_model_extension(model, &options, lower, &ext, gradient, NULL, &err), &err);
            double beside[] = { 0, 1, 1, 0 }; /* the bad state is a neighbour */
            ck_fails(sal_model_extension(model, &options, beside, &ext, gradient, NULL, &err),
                     SAL_ERR_MODEL, &err, "f is ");
            ck_ok(sal_model_extension(model, &options, beside, &ext, NULL, NULL, &err), &err);
            ck_assert_double_eq(ext.F, 1);
        }
        sal_model_destroy(model);
    }
    sal_space_destroy(space);
}
END_TEST

START_TEST(allocation_failures_are_reported)
{
    sal_model *model = open_builtin("ising:side=2");
    double theta[8], gradient[8];
    sal_error err = { 0 };
    sal_extension ext;
    random_theta(sal_model_space(model), 0, false, theta);
    for (int m = 0; m < N_METHODS; m++) {
        sal_extension_options options = { .method = methods[m], .samples = 10 };
        ck_alloc_sweep(sal_model_extension(model, &options, theta, &ext, gradient, NULL, &err),
                       (void)0);
    }
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("extension");
    TCase *tcase = tcase_create("extension");
    tcase_add_test(tcase, at_a_state_the_extension_is_f_and_its_gradient_f_of_the_neighbours);
    tcase_add_test(tcase, forbidden_states_next_to_uneven_levels_have_no_weight);
    tcase_add_test(tcase, closed_form_and_enumeration_equal_brute_force);
    tcase_add_test(tcase, gradient_matches_central_differences_along_the_simplices);
    tcase_add_test(tcase, f32_models_have_closed_forms_too);
    tcase_add_test(tcase, monte_carlo_is_within_its_standard_errors);
    tcase_add_test(tcase, standard_errors_shrink_with_the_root_of_the_samples_and_are_calibrated);
    tcase_add_test(tcase, slopes_of_a_linear_f_are_exact_whatever_is_sampled);
    tcase_add_test(tcase, same_seed_same_bits_and_another_seed_others);
    tcase_add_test(tcase, the_method_is_chosen_by_the_model_and_the_limit);
    tcase_add_test(tcase, bad_theta_names_the_variable_and_touches_nothing);
    tcase_add_test(tcase, values_that_are_no_numbers_show_the_state_unless_it_is_impossible);
    tcase_add_test(tcase, allocation_failures_are_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
