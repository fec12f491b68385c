/* SPDX-License-Identifier: MIT */
/* Exact answers against plain sums over the states, listed here by other means, and against closed
 * forms. */
#include "alloc_fail.h"
#include "core/alloc.h"
#include "models/exact/exact.h"
#include "models/states.h"
#include "tiny_models.h"

/* What a plain sum over all states gives. */
typedef struct truth {
    double log_z, log_prob_mean;
    double marginals[64], pairs[64 * 64], covariance[64 * 64];
} truth;

/* State number `index`, the first variable fastest: another order than the library's. */
static void state_at(const sal_space *space, int64_t index, int32_t *codes)
{
    for (int64_t v = 0; v < sal_space_variables(space); v++) {
        codes[v] = (int32_t)(index % sal_space_states(space, v));
        index /= sal_space_states(space, v);
    }
}

static int64_t sum_states(const sal_space *space, int64_t *count)
{
    int64_t R = 0;
    *count = 1;
    for (int64_t v = 0; v < sal_space_variables(space); v++) {
        R += sal_space_states(space, v);
        *count *= sal_space_states(space, v);
    }
    return R;
}

static void add_truth(const sal_space *space, const int32_t *codes, double p, truth *t)
{
    int64_t V = sal_space_variables(space), N = sal_space_width(space), count;
    int64_t R = sum_states(space, &count), at = 0, rows[16];
    double x[64];
    sal_error err;
    ck_ok(sal_space_embed(space, 1, codes, x, &err), &err);
    for (int64_t v = 0; v < V; at += sal_space_states(space, v++)) {
        rows[v] = at + codes[v];
        t->marginals[rows[v]] += p;
    }
    for (int64_t i = 0; i < V; i++) {
        for (int64_t j = 0; j < V; j++) {
            t->pairs[rows[i] * R + rows[j]] += p;
        }
    }
    for (int64_t a = 0; a < N; a++) {
        for (int64_t b = 0; b < N; b++) {
            t->covariance[a * N + b] += p * x[a] * x[b];
        }
    }
}

static void find_truth(const sal_model *model, truth *t)
{
    const sal_space *space = sal_model_space(model);
    int64_t count, N = sal_space_width(space);
    int32_t codes[16];
    double z = 0, mean[64] = { 0 }, x[64], f;
    sal_error err;
    sum_states(space, &count);
    memset(t, 0, sizeof *t);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t index = 0; index < count; index++) {
            state_at(space, index, codes);
            ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
            if (pass == 0) {
                z += exp(f);
                continue;
            }
            double p = exp(f) / z;
            t->log_prob_mean += p > 0 ? p * f : 0;
            add_truth(space, codes, p, t);
            ck_ok(sal_space_embed(space, 1, codes, x, &err), &err);
            for (int64_t a = 0; a < N; a++) {
                mean[a] += p * x[a];
            }
        }
    }
    t->log_z = log(z);
    for (int64_t a = 0; a < N * N; a++) {
        t->covariance[a] -= mean[a / N] * mean[a % N];
    }
}

static void check_model(const sal_model *model, double tolerance)
{
    const sal_space *space = sal_model_space(model);
    int64_t count, R = sum_states(space, &count), N = sal_space_width(space);
    static truth want, got;
    sal_exact exact;
    sal_error err;
    find_truth(model, &want);
    ck_ok(sal_model_exact(model, NULL, &exact, got.marginals, got.pairs, got.covariance, &err),
          &err);
    ck_assert_str_eq(exact.oracle, "enumeration");
    ck_assert_double_eq_tol(exact.log_z, want.log_z, tolerance);
    ck_assert_double_eq_tol(exact.log_prob_mean, want.log_prob_mean, tolerance);
    for (int64_t a = 0; a < R * R; a++) {
        ck_assert_double_eq_tol(got.pairs[a], want.pairs[a], tolerance);
        ck_assert_double_eq_tol(got.marginals[a / R], want.marginals[a / R], tolerance);
    }
    for (int64_t a = 0; a < N * N; a++) {
        ck_assert_double_eq_tol(got.covariance[a], want.covariance[a], tolerance);
    }
}

START_TEST(enumeration_equals_plain_sums_over_every_kind)
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int m = 0; m < N_TINY_MODELS; m++) {
            sal_model *model = tiny_models[m].make(space, SAL_F64);
            if (model) {
                check_model(model, 1e-12);
                sal_model_destroy(model);
            }
        }
        sal_space_destroy(space);
    }
}
END_TEST

static sal_model *open_builtin(const char *specification)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

START_TEST(clamped_models_have_the_free_variables_answers)
{
    sal_model *whole = open_builtin("ising-dense:dim=6,scale=0.7"), *clamped = NULL;
    sal_error err;
    ck_ok(sal_model_clamp(whole, 2, (const int64_t[]){ 1, 4 }, (const int32_t[]){ 1, 0 }, &clamped,
                          &err),
          &err);
    check_model(clamped, 1e-12);
    sal_model_destroy(clamped);
    sal_model_destroy(whole);
}
END_TEST

/* The transfer matrix of a cyclic chain of n spins with couplings K: Z = (2 cosh K)^n +
 * (2 sinh K)^n, and a correlation at distance r of
 * (tanh^r K + tanh^(n-r) K) / (1 + tanh^n K). Here many shards are at work. */
START_TEST(a_ring_has_its_transfer_matrix_answers)
{
    enum { SPINS = 15 };
    const double K = 0.37, T = tanh(K);
    int64_t pairs[2 * SPINS];
    double weights[SPINS], *covariance = SALI_NEW_ARRAY(double, SPINS *SPINS);
    double marginals[2 * SPINS];
    sal_error err;
    sal_exact exact;
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = SPINS }, &err),
          &err);
    for (int i = 0; i < SPINS; i++) {
        pairs[2 * i] = i;
        pairs[2 * i + 1] = (i + 1) % SPINS;
        weights[i] = K;
    }
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr w = sal_constant(tape, weights, SAL_SHAPE(SPINS));
    ck_ok(sal_model_from_tape(tape, sal_edges(sal_state(tape), w, SPINS, pairs), &model, &err),
          &err);
    ck_ok(sal_model_exact(model, NULL, &exact, marginals, NULL, covariance, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, log(pow(2 * cosh(K), SPINS) + pow(2 * sinh(K), SPINS)),
                            1e-12);
    ck_assert_double_eq_tol(exact.log_prob_mean, K * SPINS * covariance[1], 1e-12);
    for (int i = 0; i < SPINS; i++) {
        ck_assert_double_eq_tol(marginals[2 * i], 0.5, 1e-12);
        double r = (pow(T, i) + pow(T, SPINS - i)) / (1 + pow(T, SPINS));
        ck_assert_double_eq_tol(covariance[i], i ? r : 1, 1e-12);
    }
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    sali_free(covariance);
}
END_TEST

START_TEST(large_and_small_f_neither_overflow_nor_vanish)
{
    const int32_t states[] = { 2, 2 };
    const int64_t begin[] = { 0, 2 }, scope[] = { 0, 1 };
    const double far[2][4] = { { 1000, 1000, 1001, -INFINITY }, { -2000, -2000, -1999, -9000 } };
    static const char *const oracles[] = { NULL, "enumeration", "elimination" };
    for (int i = 0; i < 6; i++) {
        const int k = i / 3;
        sal_model *model = NULL;
        sal_error err;
        sal_exact exact;
        double marginals[4];
        const sal_exact_options by = { .oracle = oracles[i % 3] };
        ck_ok(sal_model_from_factors(2, states, 1, begin, scope, far[k], SAL_F64, &model, &err),
              &err);
        ck_ok(sal_model_exact(model, &by, &exact, marginals, NULL, NULL, &err), &err);
        ck_assert_double_eq_tol(exact.log_z, far[k][0] + log(2 + exp(1)), 1e-9);
        ck_assert_double_eq_tol(marginals[0], 2 / (2 + exp(1)), 1e-12);
        ck_assert_double_eq_tol(exact.log_prob_mean, far[k][0] + exp(1) / (2 + exp(1)), 1e-9);
        sal_model_destroy(model);
    }
}
END_TEST

/* Sums are made relative to the largest f so far, which rises again and again here. */
START_TEST(enumeration_of_rising_f_has_its_closed_form)
{
    enum { SITES = 11 };
    int32_t states[SITES];
    int64_t begin[SITES + 1], scope[SITES];
    double T[2 * SITES] = { 0 }, log_z = 0, mean = 0, marginals[2 * SITES];
    const sal_exact_options by = { .oracle = "enumeration" };
    sal_model *model = NULL;
    sal_error err;
    sal_exact exact;
    for (int i = 0; i < SITES; i++) {
        double a = T[2 * i + 1] = 0.1 * (i + 1), p = 1 / (1 + exp(-a));
        states[i] = 2;
        begin[i + 1] = i + 1;
        scope[i] = i;
        log_z += log1p(exp(a));
        mean += a * p;
    }
    begin[0] = 0;
    ck_ok(sal_model_from_factors(SITES, states, SITES, begin, scope, T, SAL_F64, &model, &err),
          &err);
    ck_ok(sal_model_exact(model, &by, &exact, marginals, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, log_z, 1e-12);
    ck_assert_double_eq_tol(exact.log_prob_mean, mean, 1e-12);
    sal_model_destroy(model);
}
END_TEST

START_TEST(same_bits_for_any_number_of_threads)
{
    enum { R = 28 };
    sal_model *model = open_builtin("ising-dense:dim=14,scale=0.4");
    double first[R * R], again[R * R];
    sal_exact a, b;
    sal_error err;
    for (int threads = 1; threads <= 5; threads += 2) {
        sal_exact_options options = { .threads = threads };
        ck_ok(sal_model_exact(model, &options, &b, NULL, again, NULL, &err), &err);
        if (threads == 1) {
            a = b;
            memcpy(first, again, sizeof first);
        }
        ck_assert_mem_eq(first, again, sizeof first);
        ck_assert_mem_eq(&a, &b, sizeof a);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(the_table_numbers_states_with_the_last_variable_fastest)
{
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_model *model = tiny_formula(space, SAL_F64);
    int64_t count;
    sum_states(space, &count);
    double *log_p = SALI_NEW_ARRAY(double, count), log_z, f;
    int32_t codes[16] = { 0 }, at[16];
    sal_error err;
    sal_exact exact;
    ck_assert_double_eq(sali_states_count(space), (double)count);
    ck_ok(sali_enumerate_table(model, count, 0, log_p, &log_z, &err), &err);
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(log_z, exact.log_z, 1e-12);
    for (int64_t i = 0; i < count; i++) {
        sali_states_at(space, i, at);
        ck_assert_mem_eq(at, codes, (size_t)sal_space_variables(space) * sizeof *at);
        ck_assert_int_eq(sali_states_index(space, codes), i);
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        ck_assert_double_eq_tol(log_p[i], f - log_z, 1e-12);
        ck_assert_int_eq(sali_states_next(space, codes), i + 1 < count);
    }
    sali_free(log_p);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

static double nan_at_the_last(const double *x, double *gradient, void *data)
{
    (void)gradient;
    return x[0] == 1 && x[1] == 1 ? NAN : *(const double *)data;
}

START_TEST(what_cannot_be_answered_is_refused_and_touches_nothing)
{
    sal_model *model = open_builtin("ising:side=2");
    sal_exact exact = { .log_z = 7 };
    double marginals[8] = { 7 };
    sal_error err;
    ck_fails(sal_model_exact(model, &(sal_exact_options){ .limit = 15, .memory = 15 }, &exact,
                             marginals, NULL, NULL, &err),
             SAL_ERR_UNSUPPORTED, &err, "16 states");
    ck_fails(sal_model_exact(model, &(sal_exact_options){ .limit = -1 }, &exact, marginals, NULL,
                             NULL, &err),
             SAL_ERR_ARGUMENT, &err, "limit");
    ck_fails(sal_model_exact(model, &(sal_exact_options){ .threads = -1 }, &exact, marginals, NULL,
                             NULL, &err),
             SAL_ERR_ARGUMENT, &err, "threads");
    ck_fails(sal_model_exact(model, &(sal_exact_options){ .oracle = "delphi" }, &exact, marginals,
                             NULL, NULL, &err),
             SAL_ERR_ARGUMENT, &err, "enumeration");
    ck_fails(sal_model_exact(NULL, NULL, &exact, marginals, NULL, NULL, &err), SAL_ERR_ARGUMENT,
             &err, "model");
    sal_model_destroy(model);

    const double values[] = { 0.5, -INFINITY };
    const char *messages[] = { "NaN at the state 1 1", "-inf at all" };
    for (int k = 0; k < 2; k++) {
        sal_space *space = sal_space_create();
        double value = values[k];
        sal_callback callback = { .f = nan_at_the_last, .data = &value };
        const int64_t one[] = { 1 };
        const int32_t zero[] = { 0 };
        ck_ok(
            sal_space_add(space, &(sal_block){ .name = "b", .kind = SAL_BINARY, .count = 2 }, &err),
            &err);
        ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
        sal_model *clamped = NULL;
        ck_ok(sal_model_clamp(model, 1, one, zero, &clamped, &err), &err);
        ck_fails(sal_model_exact(k ? clamped : model, NULL, &exact, marginals, NULL, NULL, &err),
                 SAL_ERR_MODEL, &err, messages[k]);
        sal_model_destroy(clamped);
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
    ck_assert_double_eq(exact.log_z, 7);
    ck_assert_double_eq(marginals[0], 7);
}
END_TEST

START_TEST(allocation_failures_are_reported)
{
    sal_model *model = open_builtin("ising:side=2");
    double covariance[16];
    sal_error err = { 0 };
    sal_exact exact;
    sal_exact_options options = { .threads = 1 };
    ck_alloc_sweep(sal_model_exact(model, &options, &exact, NULL, NULL, covariance, &err), (void)0);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exact");
    TCase *tcase = tcase_create("exact");
    tcase_add_test(tcase, enumeration_equals_plain_sums_over_every_kind);
    tcase_add_test(tcase, clamped_models_have_the_free_variables_answers);
    tcase_add_test(tcase, a_ring_has_its_transfer_matrix_answers);
    tcase_add_test(tcase, large_and_small_f_neither_overflow_nor_vanish);
    tcase_add_test(tcase, enumeration_of_rising_f_has_its_closed_form);
    tcase_add_test(tcase, same_bits_for_any_number_of_threads);
    tcase_add_test(tcase, the_table_numbers_states_with_the_last_variable_fastest);
    tcase_add_test(tcase, what_cannot_be_answered_is_refused_and_touches_nothing);
    tcase_add_test(tcase, allocation_failures_are_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
