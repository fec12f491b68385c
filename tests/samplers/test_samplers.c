/* SPDX-License-Identifier: MIT */
/* What every sampler must satisfy, by the exact transition matrix on tiny spaces. The loops go over
 * the table of samplers: a new one is tested as soon as it is listed. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "transition.h"

/* Rounding of sums over at most 192 states in double. */
#define TOLERANCE 1e-12

/* ---- one transition matrix */

static void check_rows_sum_to_one(const transition *t, const char *where)
{
    for (int64_t i = 0; i < t->n; i++) {
        double q = 0, p = 0;
        for (int64_t j = 0; t->pi[i] > 0 && j < t->n; j++) {
            q += exp(t->log_q[i * t->n + j]);
            p += t->P[i * t->n + j];
            ck_assert_msg(t->P[i * t->n + j] > -TOLERANCE, "%s: P < 0 from %d", where, (int)i);
            ck_assert_msg(t->pi[j] > 0 || t->P[i * t->n + j] == 0,
                          "%s: moves to the forbidden state %d", where, (int)j);
        }
        ck_assert_msg(t->pi[i] == 0 || fabs(q - 1) < TOLERANCE, "%s: q sums to %.15g from %d",
                      where, q, (int)i);
        ck_assert_msg(t->pi[i] == 0 || fabs(p - 1) < TOLERANCE, "%s: P sums to %.15g from %d",
                      where, p, (int)i);
    }
}

/* row <- row P */
static void advance(const transition *t, double *row)
{
    double *next = calloc((size_t)t->n, sizeof *next);
    for (int64_t i = 0; i < t->n; i++) {
        for (int64_t j = 0; row[i] > 0 && j < t->n; j++) {
            next[j] += row[i] * t->P[i * t->n + j];
        }
    }
    memcpy(row, next, (size_t)t->n * sizeof *row);
    free(next);
}

/* An ordinal variable or a count moves by at most `radius` levels, and by each of them. */
static void check_window(const transition *t, const sal_space *space, int64_t radius,
                         const char *where)
{
    int32_t from[TINY_MOST_REALS], to[TINY_MOST_REALS];
    for (int64_t i = 0; i < t->n; i++) {
        for (int64_t j = 0; j < t->n; j++) {
            int64_t moved = 0;
            bool inside = true;
            state_codes(space, i, from);
            state_codes(space, j, to);
            for (int64_t v = 0; v < space->n_variables; v++) {
                int64_t distance = llabs((long long)to[v] - from[v]);
                moved += distance > 0;
                sal_kind kind = space->variables[v].kind;
                inside &= (kind != SAL_ORDINAL && kind != SAL_COUNT) || distance <= radius;
            }
            bool proposed = t->log_q[i * t->n + j] > -INFINITY;
            ck_assert_msg(t->pi[i] == 0 || !proposed || inside,
                          "%s: proposes a move out of the window", where);
            ck_assert_msg(t->pi[i] == 0 || t->pi[j] == 0 || moved != 1 || !inside || proposed,
                          "%s: never proposes a move inside the window", where);
        }
    }
}

/* Whether the setting `radius` is a window of levels that a step of one variable fills: mh-uniform
 * moves all variables, a path of pas some of them several times, and a Hamming ball's radius counts
 * variables. */
static bool has_window(const sali_sampler *sampler)
{
    return strcmp(sampler->name, "mh-uniform") != 0 && strcmp(sampler->name, "pas") != 0 &&
           strcmp(sampler->name, "hamming-ball") != 0;
}

/* All that holds for a sampler on a model whose probabilities are pi: for a sweep, piece by piece
 * and for the whole. */
static void check_sampler(const contract_case *k)
{
    const bool exact = !k->sampler->unadjusted;
    int64_t pieces = pieces_of(k->sampler, k->model, &k->settings);
    int64_t n = states_count(k->model->space);
    int64_t radius = (int64_t)sali_sampler_value(k->sampler, &k->settings, "radius");
    if (!has_matrix(k->sampler)) {
        return;
    }
    double *row = calloc((size_t)n, sizeof *row);
    for (int64_t piece = 0; piece < pieces; piece++) {
        transition t =
            transition_make(k->sampler, k->model, &k->settings, k->beta, (uint64_t)piece);
        if (piece == 0) {
            memcpy(row, t.pi, (size_t)n * sizeof *row);
        }
        check_rows_sum_to_one(&t, k->where);
        if (exact) {
            double breach = balance_breach(n, t.pi, t.P);
            ck_assert_msg(breach < TOLERANCE, "%s: detailed balance is off by %g", k->where,
                          breach);
        }
        if (has_window(k->sampler) && radius > 0) {
            check_window(&t, k->model->space, radius, k->where);
        }
        advance(&t, row);
        for (int64_t i = 0; exact && i < n && piece == pieces - 1; i++) {
            ck_assert_msg(fabs(row[i] - t.pi[i]) < TOLERANCE, "%s: pi P = %.15g, pi = %.15g at %d",
                          k->where, row[i], t.pi[i], (int)i);
        }
        transition_free(&t);
    }
    free(row);
}

START_TEST(samplers_leave_the_target_invariant)
{
    for_every_case(SAL_F64, check_sampler);
}
END_TEST

/* From one state all others are reached: no state of positive probability is out of bounds. */
static void check_reach(const contract_case *k)
{
    int64_t n = states_count(k->model->space);
    int64_t pieces = has_matrix(k->sampler) ? pieces_of(k->sampler, k->model, &k->settings) : 0;
    transition *t = calloc((size_t)pieces + 1, sizeof *t);
    double *row = calloc((size_t)n, sizeof *row);
    row[0] = 1;
    for (int64_t piece = 0; piece < pieces; piece++) {
        t[piece] = transition_make(k->sampler, k->model, &k->settings, k->beta, (uint64_t)piece);
    }
    for (int64_t step = 0; step < 10 * pieces; step++) {
        advance(&t[step % pieces], row);
    }
    for (int64_t piece = 0; piece < pieces; piece++) {
        transition_free(&t[piece]);
    }
    free(t);
    for (int64_t i = 0; has_matrix(k->sampler) && i < n; i++) {
        ck_assert_msg(row[i] > 0, "%s: state %d is never reached", k->where, (int)i);
    }
    free(row);
}

START_TEST(samplers_reach_all_states)
{
    static const char *const names[] = { "grid", "binary", "label" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        sal_space *space = tiny_space_make(tiny_space_named(names[k]));
        sal_model *model = tiny_formula(space, SAL_F64);
        for_every_sampler(model, model, names[k], check_reach);
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

/* ---- clamped variables */

/* pi of a clamped model is the conditional of the whole model's. */
static void check_conditional(const sal_model *whole, const sal_model *clamped, int64_t n_fixed,
                              const int64_t *variables, const int32_t *codes)
{
    int64_t n = states_count(whole->space), m = states_count(clamped->space);
    double *f = malloc((size_t)n * sizeof *f), *pi = malloc((size_t)n * sizeof *pi);
    double *f_clamped = malloc((size_t)m * sizeof *f), *pi_clamped = malloc((size_t)m * sizeof *pi);
    double total = 0;
    int64_t matching = 0;
    states_probabilities(whole, 1, f, pi);
    states_probabilities(clamped, 1, f_clamped, pi_clamped);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < n; i++) {
            int32_t state[TINY_MOST_REALS];
            bool match = true;
            state_codes(whole->space, i, state);
            for (int64_t k = 0; k < n_fixed; k++) {
                match &= state[variables[k]] == codes[k];
            }
            total += match && pass == 0 ? pi[i] : 0;
            if (match && pass == 1) { /* free variables keep their order */
                ck_assert_double_eq_tol(pi[i] / total, pi_clamped[matching++], TOLERANCE);
            }
        }
    }
    ck_assert_int_eq(matching, m);
    free(f);
    free(pi);
    free(f_clamped);
    free(pi_clamped);
}

START_TEST(clamped_models_target_the_conditional)
{
    static const int64_t variables[] = { 5, 1 }; /* the label, a binary variable */
    static const int32_t codes[] = { 2, 1 };
    sal_space *space = tiny_space_make(tiny_space_named("mixed"));
    sal_model *whole = tiny_formula(space, SAL_F64), *clamped = NULL;
    sal_error err;
    ck_ok(sal_model_clamp(whole, 2, variables, codes, &clamped, &err), &err);
    check_conditional(whole, clamped, 2, variables, codes);
    for_every_sampler(clamped, clamped, "clamped", check_sampler);
    sal_model_destroy(clamped);
    sal_model_destroy(whole);
    sal_space_destroy(space);
}
END_TEST

/* ---- the acceptance ratio */

START_TEST(acceptance_ratio_knows_infinities)
{
    double inf = INFINITY;
    ck_assert_double_eq(sali_mh_log_ratio(1, 3, -2, -5), 3 - 1 - 5 + 2);
    ck_assert_double_eq(sali_mh_log_ratio(1, -inf, -2, (double)NAN), -inf);
    ck_assert_double_eq(sali_mh_log_ratio(-inf, -inf, -2, -2), -inf);
    ck_assert_double_eq(sali_mh_log_ratio(-inf, 3, (double)NAN, -2), inf);
    ck_assert_double_eq(sali_mh_log_ratio(1, 3, -2, -inf), -inf); /* no way back */
}
END_TEST

/* ---- the sampler when none is named */

/* -sum sqrt(x), x three numbers. */
static double infinite_slope(const double *x, double *gradient, void *data)
{
    double f = 0;
    (void)data;
    for (int k = 0; k < 3; k++) {
        f -= sqrt(x[k]);
        if (gradient) {
            gradient[k] = x[k] > 0 ? -0.5 / sqrt(x[k]) : -INFINITY;
        }
    }
    return f;
}

/* Counts near 3, f = sum 10 (3 x - x^2 / 2), with slopes that are right about moves up alone. */
static double slope_of_moves_up(const double *x, double *gradient, void *data)
{
    double f = 0;
    (void)data;
    for (int k = 0; k < 3; k++) {
        f += 10 * (3 * x[k] - x[k] * x[k] / 2);
        if (gradient) {
            gradient[k] = 10 * (3 - x[k] - 0.5);
        }
    }
    return f;
}

static void check_usual(const sal_model *model, const char *what, const char *expected)
{
    const char *name = NULL;
    sal_error err;
    ck_ok(sali_sampler_usual(model, false, &name, &err), &err);
    ck_assert_msg(strcmp(name, expected) == 0, "%s: %s, expected %s", what, name, expected);
    ck_ok(sali_sampler_usual(model, true, &name, &err), &err);
    expected = model->structure ? "block-gibbs" : expected;
    ck_assert_msg(strcmp(name, expected) == 0, "%s: %s, expected %s", what, name, expected);
}

START_TEST(usual_sampler_is_by_exact_differences_where_gradients_mislead)
{
    static const char *const cases[][2] = {
        { "ising", "gwg" },           { "rbm:visible=20,hidden=10", "gwg" },
        { "poisson", "gwg" },         { "facility-location", "gibbs" },
        { "ordinal-poly2", "gibbs" }, { "ordinal-poly4", "gibbs" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_model *model = NULL;
        sal_error err;
        ck_ok(sal_model_open(cases[k][0], 0, &model, &err), &err);
        check_usual(model, cases[k][0], cases[k][1]);
        sal_model_destroy(model);
    }
    for (int k = 0; k < 4; k++) {
        sal_space *space = sal_space_create();
        sal_model *model = NULL;
        sal_error err;
        const sal_block block = { .name = "s", .kind = k % 2 ? SAL_COUNT : SAL_BINARY, .count = 3 };
        ck_ok(sal_space_add(space, &block, &err), &err);
        const sal_callback callback = { .f = k == 3 ? slope_of_moves_up : infinite_slope,
                                        .has_gradient = k >= 2 };
        ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
        check_usual(model, callback.has_gradient ? "wrong slopes" : "no gradient",
                    k % 2 ? "lb" : "gibbs");
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

static Suite *samplers_suite(void)
{
    Suite *suite = suite_create("samplers");
    TCase *tcase = tcase_create("exact");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, samplers_reach_all_states);
    tcase_add_test(tcase, clamped_models_target_the_conditional);
    tcase_add_test(tcase, acceptance_ratio_knows_infinities);
    tcase_add_test(tcase, usual_sampler_is_by_exact_differences_where_gradients_mislead);
    suite_add_tcase(suite, tcase);
    tcase = statistics_create("matrices");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, samplers_leave_the_target_invariant);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(samplers_suite());
}
