/* SPDX-License-Identifier: MIT */
/* Exact answers of RBMs by enumeration of their hidden units, against enumeration of their states
 * and against sums written out. Draws are tested in test_exact_draws.c. */
#include <math.h>
#include <stdlib.h>

#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "exact_answers.h"
#include "rbm_formula.h"

#define BY "enumeration of hidden units"

static sal_model *open_rbm(const char *specification, sal_dtype dtype)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, dtype, &model, &err), &err);
    return model;
}

/* Set all parameters to normals of this scale, which a float can hold. */
static void randomise(sal_model *model, double scale)
{
    const int64_t n = sal_model_parameters_size(model);
    double *flat = malloc((size_t)n * sizeof *flat);
    sal_error err;
    tiny_normals(62, n, scale, flat);
    for (int64_t k = 0; k < n; k++) {
        flat[k] = (float)flat[k];
    }
    ck_ok(sal_model_set_params(model, NULL, flat, &err), &err);
    free(flat);
}

static void check_against_enumeration(const sal_model *model, double tolerance)
{
    static answers want, got;
    const int64_t R = model->space->n_states;
    ask(model, "enumeration", &want);
    ask(model, BY, &got);
    ck_assert_str_eq(got.exact.oracle, BY);
    ck_assert_int_eq(got.exact.width, -1);
    ck_assert_double_eq(got.exact.rounding, 0);
    ck_assert(isnan(got.exact.log_prob_mean));
    ck_assert_double_eq_tol(got.exact.log_z, want.exact.log_z,
                            tolerance * (1 + fabs(want.exact.log_z)));
    for (int64_t a = 0; a < R * R; a++) {
        ck_assert_double_eq_tol(got.pairs[a], want.pairs[a], tolerance);
        ck_assert_double_eq_tol(got.marginals[a / R], want.marginals[a / R], tolerance);
    }
}

/* 1 to 512 states of the hidden units, of which a block has 128. */
START_TEST(answers_over_variables_of_any_kind_equal_enumeration)
{
    static const int64_t hidden[] = { 1, 4, 9 };
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int k = 0; k < 3; k++) {
            sal_model *model = rbm_over(space, hidden[k], 0.8, SAL_F64), *clamped = NULL;
            const int64_t last = space->n_variables - 1, ends[] = { 0, last };
            const int32_t codes[] = { 1, space->variables[last].states - 1 };
            sal_error err;
            check_against_enumeration(model, 1e-12);
            for (int n = 1; n <= 2 && n <= last; n++) {
                ck_ok(sal_model_clamp(model, n, ends + 2 - n, codes + 2 - n, &clamped, &err), &err);
                check_against_enumeration(clamped, 1e-12);
                sal_model_destroy(clamped);
            }
            sal_model_destroy(model);
        }
        sal_space_destroy(space);
    }
}
END_TEST

START_TEST(ready_made_rbms_and_large_weights_equal_enumeration)
{
    sal_model *model = open_rbm("rbm:visible=5,hidden=4", SAL_F64);
    for (int k = 0; k < 3; k++) {
        randomise(model, k == 0 ? 1 : k == 1 ? 30 : 1e4);
        check_against_enumeration(model, 1e-12);
    }
    sal_model_destroy(model);
}
END_TEST

/* A limit below the 32 states of the visible units, but not below the 16 of the hidden ones. */
START_TEST(hidden_units_are_enumerated_where_states_cannot_be)
{
    sal_model *model = open_rbm("rbm:visible=5,hidden=4", SAL_F64);
    sal_exact_options options = { .limit = 16 };
    sal_exact exact, want;
    sal_error err;
    randomise(model, 1);
    ck_ok(sal_model_exact(model, NULL, &want, NULL, NULL, NULL, &err), &err);
    ck_assert_str_eq(want.oracle, "enumeration");
    ck_assert(!isnan(want.log_prob_mean));
    ck_ok(sal_model_exact(model, &options, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_str_eq(exact.oracle, BY);
    ck_assert_double_eq_tol(exact.log_z, want.log_z, 1e-12);
    options.limit = 15;
    ck_fails(sal_model_exact(model, &options, &exact, NULL, NULL, NULL, &err), SAL_ERR_UNSUPPORTED,
             &err,
             BY ": it has 4 hidden units, and so 2^4 states of them, more than the limit of 15");
    sal_model_destroy(model);
}
END_TEST

/* log Z and the probabilities p [V] that visible units are 1, by a sum over the hidden units. */
static double sum_directly(const sal_model *model, int V, int H, double *p)
{
    double *W = malloc((size_t)(H * V) * sizeof *W), *b = malloc((size_t)V * sizeof *b), c[16];
    long double log_z = -INFINITY;
    sal_error err;
    ck_ok(sal_model_get_params(model, "W", W, &err), &err);
    ck_ok(sal_model_get_params(model, "b", b, &err), &err);
    ck_ok(sal_model_get_params(model, "c", c, &err), &err);
    for (int pass = 0; pass < 2; pass++) {
        long double total = -INFINITY;
        for (int h = 0; h < 1 << H; h++) {
            long double sum = 0;
            for (int k = 0; k < H; k++) {
                sum += h >> k & 1 ? c[k] : 0;
            }
            double field[1000];
            for (int i = 0; i < V; i++) {
                field[i] = b[i];
                for (int k = 0; k < H; k++) {
                    field[i] += h >> k & 1 ? W[k * V + i] : 0;
                }
                sum += log1pl(expl(field[i]));
            }
            for (int i = 0; pass == 1 && i < V; i++) {
                p[i] += (double)(expl(sum - log_z) / (1 + expl(-field[i])));
            }
            total = fmaxl(total, sum) + log1pl(expl(-fabsl(total - sum)));
        }
        log_z = total;
    }
    free(W);
    free(b);
    return (double)log_z;
}

START_TEST(large_rbms_equal_sums_over_their_hidden_units)
{
    enum { V = 300, H = 10 };
    static double marginals[2 * V], p[V], covariance[V * V];
    sal_model *single = open_rbm("rbm:visible=300,hidden=10", SAL_F32);
    sal_model *model = open_rbm("rbm:visible=300,hidden=10", SAL_F64);
    sal_exact exact, of_single;
    sal_error err;
    randomise(single, 0.3);
    randomise(model, 0.3);
    const double log_z = sum_directly(model, V, H, p);
    ck_ok(sal_model_exact(model, NULL, &exact, marginals, NULL, covariance, &err), &err);
    ck_assert_str_eq(exact.oracle, BY);
    ck_assert_double_eq_tol(exact.log_z, log_z, 1e-12 * log_z);
    for (int i = 0; i < V; i++) {
        ck_assert_double_eq_tol(marginals[2 * i + 1], p[i], 1e-12);
        ck_assert_double_eq_tol(marginals[2 * i], 1 - p[i], 1e-12);
        ck_assert_double_eq_tol(covariance[i * V + i], p[i] * (1 - p[i]), 1e-12);
    }
    ck_ok(sal_model_exact(single, NULL, &of_single, marginals, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(of_single.log_z, log_z, 1e-12 * log_z); /* the weights are the same */
    sal_model_destroy(single);
    sal_model_destroy(model);
}
END_TEST

/* Z = 2^(V + H) without parameters: products of 2^V would overflow. */
START_TEST(many_variables_do_not_overflow)
{
    sal_space *space = sal_space_create(), *labels = sal_space_create();
    sal_exact exact;
    sal_error err;
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = 3000 }, &err),
          &err);
    ck_ok(sal_space_add(
              labels,
              &(sal_block){ .name = "s", .kind = SAL_CATEGORICAL, .count = 999, .states = 5 },
              &err),
          &err);
    sal_model *spins = rbm_over(space, 3, 0, SAL_F64), *potts = rbm_over(labels, 3, 0, SAL_F64);
    ck_ok(sal_model_exact(spins, NULL, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, 0.7 + 3003 * log(2), 1e-9);
    ck_ok(sal_model_exact(potts, NULL, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, 0.7 + 3 * log(2) + 999 * log(5), 1e-9);
    sal_model_destroy(spins);
    sal_model_destroy(potts);
    sal_space_destroy(space);
    sal_space_destroy(labels);
}
END_TEST

START_TEST(answers_do_not_depend_on_threads)
{
    static answers one, other;
    static const int threads[] = { 1, 2, 7 };
    sal_model *model = open_rbm("rbm:visible=30,hidden=12", SAL_F64);
    sal_error err;
    randomise(model, 0.5);
    for (int k = 0; k < 3; k++) {
        answers *a = k == 0 ? &one : &other;
        sal_exact_options options = { .threads = threads[k] };
        ck_ok(sal_model_exact(model, &options, &a->exact, a->marginals, a->pairs, NULL, &err),
              &err);
        ck_assert(k == 0 || (one.exact.log_z == other.exact.log_z &&
                             memcmp(one.marginals, other.marginals, sizeof one.marginals) == 0 &&
                             memcmp(one.pairs, other.pairs, sizeof one.pairs) == 0));
    }
    sal_model_destroy(model);
}
END_TEST

/* sum softplus(W x + c), twice or beside other terms of 40 spins. */
static sal_model *almost_rbm(int kind)
{
    sal_space *space = sal_space_create();
    sal_error err;
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = 40 }, &err),
          &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr x = sal_state(tape), W = sal_param(tape, "W", SAL_SHAPE(3, 40));
    sal_expr units = sal_matvec(W, x), f = sal_sum(sal_softplus(units));
    f = kind == 0   ? sal_mul(f, sal_scalar(tape, 2))
        : kind == 1 ? sal_add(f, sal_sum(sal_tanh(units)))
                    : sal_sum(sal_softplus(sal_tanh(units)));
    sal_model *model = NULL;
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(what_is_no_rbm_or_too_large_is_refused)
{
    const sal_exact_options by = { .oracle = BY };
    sal_exact exact = { .log_z = 5 };
    sal_error err;
    for (int k = 0; k < 3; k++) {
        sal_model *model = almost_rbm(k);
        ck_fails(sal_model_exact(model, &by, &exact, NULL, NULL, NULL, &err), SAL_ERR_UNSUPPORTED,
                 &err, BY ": it is not known to be an RBM");
        sal_model_destroy(model);
    }
    sal_model *counts = open_rbm("poisson:dim=3", SAL_F64), *wide = open_rbm("rbm", SAL_F64);
    sal_model *pairs = open_rbm("rbm:visible=784,hidden=18", SAL_F64);
    double *covariance = malloc(sizeof(double) * 784 * 784);
    ck_fails(sal_model_exact(counts, &by, &exact, NULL, NULL, NULL, &err), SAL_ERR_UNSUPPORTED,
             &err, BY ": it is not known to be an RBM");
    ck_fails(sal_model_exact(wide, NULL, &exact, NULL, NULL, NULL, &err), SAL_ERR_UNSUPPORTED, &err,
             BY ": it has 500 hidden units, and so 2^500 states of them");
    ck_fails(sal_model_exact(pairs, NULL, &exact, NULL, NULL, covariance, &err),
             SAL_ERR_UNSUPPORTED, &err, "marginals alone can be had");
    ck_assert_double_eq(exact.log_z, 5);
    free(covariance);
    sal_model_destroy(counts);
    sal_model_destroy(wide);
    sal_model_destroy(pairs);
}
END_TEST

START_TEST(parameters_that_are_not_finite_are_reported)
{
    static const double values[] = { NAN, INFINITY, -INFINITY };
    sal_exact exact;
    sal_error err;
    for (int k = 0; k < 3; k++) {
        sal_model *model = open_rbm("rbm:visible=30,hidden=9", SAL_F64);
        double b[30] = { values[k] };
        ck_ok(sal_model_set_params(model, "b", b, &err), &err);
        ck_fails(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), SAL_ERR_MODEL, &err,
                 "f is NaN or +inf");
        sal_model_destroy(model);
    }
}
END_TEST

static sal_status answer_once(const sal_model *model)
{
    const sal_exact_options by = { .oracle = BY, .threads = 1 };
    double marginals[16], pairs[16 * 16];
    sal_exact exact;
    return sal_model_exact(model, &by, &exact, marginals, pairs, NULL, NULL);
}

START_TEST(allocation_failures_are_reported)
{
    sal_model *model = open_rbm("rbm:visible=4,hidden=3", SAL_F64), *clamped = NULL;
    sal_error err;
    ck_ok(sal_model_clamp(model, 1, (int64_t[]){ 1 }, (int32_t[]){ 1 }, &clamped, &err), &err);
    ck_alloc_sweep(answer_once(clamped), (void)0);
    sal_model_destroy(clamped);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hidden_units");
    TCase *tcase = tcase_create("hidden_units");
    tcase_add_test(tcase, answers_over_variables_of_any_kind_equal_enumeration);
    tcase_add_test(tcase, ready_made_rbms_and_large_weights_equal_enumeration);
    tcase_add_test(tcase, hidden_units_are_enumerated_where_states_cannot_be);
    tcase_add_test(tcase, large_rbms_equal_sums_over_their_hidden_units);
    tcase_add_test(tcase, many_variables_do_not_overflow);
    tcase_add_test(tcase, answers_do_not_depend_on_threads);
    tcase_add_test(tcase, what_is_no_rbm_or_too_large_is_refused);
    tcase_add_test(tcase, parameters_that_are_not_finite_are_reported);
    tcase_add_test(tcase, allocation_failures_are_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
