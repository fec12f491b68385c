/* SPDX-License-Identifier: MIT */
/* The terms of one and of two sites of RBMs of letters, against means over all states, and of large
 * RBMs against an invariance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "models/structure/rbm_potts.h"
#include "tiny_models.h"

enum { SITES = 4, STATES = 3, N = SITES * STATES, HIDDEN = 3, COUNT = 81, MOST = 64 };

static sal_model *open_rbm(const char *hidden_kind, double scale)
{
    double flat[MOST];
    char text[200];
    sal_model *model = NULL;
    sal_error err;
    snprintf(text, sizeof text,
             "rbm:visible=%d,hidden=%d,kind=categorical,states=%d,hidden_kind=%s", SITES, HIDDEN,
             STATES, hidden_kind);
    ck_ok(sal_model_open(text, SAL_F64, &model, &err), &err);
    tiny_normals(81, sal_model_parameters_size(model), scale, flat);
    ck_ok(sal_model_set_params(model, NULL, flat, &err), &err);
    return model;
}

/* E[f | s_i = a, s_j = b] over independent uniform states; the condition on a site -1 is none. */
static double mean(const int32_t *codes, const double *f, int i, int a, int j, int b)
{
    double sum = 0;
    int n = 0;
    for (int k = 0; k < COUNT; k++) {
        const int32_t *s = codes + k * SITES;
        if ((i < 0 || s[i] == a) && (j < 0 || s[j] == b)) {
            sum += f[k];
            n++;
        }
    }
    return sum / n;
}

static void all_states(int32_t *codes)
{
    for (int k = 0; k < COUNT; k++) {
        for (int i = 0, left = k; i < SITES; i++, left /= STATES) {
            codes[k * SITES + i] = left % STATES;
        }
    }
}

static void check_terms(const sal_model *model, double tolerance)
{
    static int32_t codes[COUNT * SITES];
    double f[COUNT];
    sali_potts p = { 0 };
    sal_error err;
    all_states(codes);
    ck_ok(sal_model_evaluate(model, COUNT, codes, f, NULL, NULL, &err), &err);
    ck_assert(sali_is_rbm_of_letters(model));
    ck_ok(sali_potts_of_rbm(model, &p, &err), &err);
    ck_assert(p.sites == SITES && p.states == STATES && p.alphabet[0] == '\0');
    for (int k = 0; k < N; k++) {
        const int i = k / STATES, a = k % STATES;
        const double one = mean(codes, f, i, a, -1, 0), all = mean(codes, f, -1, 0, -1, 0);
        ck_assert_double_eq_tol(p.h[k], one - all, tolerance);
        for (int l = 0; l < N; l++) {
            const int j = l / STATES, b = l % STATES;
            const double other = mean(codes, f, j, b, -1, 0);
            const double wanted = i == j ? 0 : mean(codes, f, i, a, j, b) - one - other + all;
            ck_assert_double_eq_tol(p.J[k * N + l], wanted, tolerance);
            ck_assert_double_eq(p.J[k * N + l], p.J[l * N + k]);
        }
    }
    sali_potts_free(&p);
}

START_TEST(terms_are_means_over_uniform_states)
{
    static const double scales[] = { 0.1, 1, 4, 20 };
    for (int k = 0; k < 4; k++) {
        sal_model *bits = open_rbm("binary", scales[k]), *spins = open_rbm("spin", scales[k]);
        check_terms(bits, 1e-8 * (1 + scales[k]));
        check_terms(spins, 1e-8 * (1 + scales[k]));
        sal_model_destroy(bits);
        sal_model_destroy(spins);
    }
}
END_TEST

/* dReLU units, also with two modes or one side that is almost gone; terms grow as the square of the
 * scale. */
START_TEST(terms_of_drelu_units_are_means_too)
{
    static const double scales[] = { 0.1, 0.5, 1, 4 };
    static const double deltas[] = { 0, 0.7, -2, 3 }, skews[] = { 0, 0.4, -0.5, 3 };
    for (int k = 0; k < 4; k++) {
        sal_model *model = open_rbm("drelu", scales[k]);
        const double delta[HIDDEN] = { deltas[k], -deltas[k], 0.3 };
        const double atanh_eta[HIDDEN] = { skews[k], 0.2, -skews[k] };
        sal_error err;
        check_terms(model, 1e-10 * (1 + scales[k] * scales[k]));
        ck_ok(sal_model_set_params(model, "delta", delta, &err), &err);
        ck_ok(sal_model_set_params(model, "atanh_eta", atanh_eta, &err), &err);
        check_terms(model, 1e-10 * (1 + scales[k] * scales[k]));
        sal_model_destroy(model);
    }
}
END_TEST

/* The mean over the states of a site is 0 for some t where its weights are x, -x and 0 .. */
START_TEST(sites_of_equal_and_opposite_weights_are_exact)
{
    sal_model *model = open_rbm("binary", 1);
    double W[HIDDEN * N];
    sal_error err;
    for (int k = 0; k < HIDDEN * N; k++) {
        W[k] = k % STATES == 0 ? -1 : k % STATES == 1 ? 1 : 0;
    }
    ck_ok(sal_model_set_params(model, "W", W, &err), &err);
    check_terms(model, 1e-9);
    sal_model_destroy(model);
}
END_TEST

/* Weights that are the same for all states of a site add to the hidden biases only. */
START_TEST(terms_do_not_depend_on_the_gauge_of_the_weights)
{
    enum { SITES_MANY = 60, Q = 5, M = SITES_MANY * Q, H = 20 };
    sal_model *model = NULL;
    sali_potts before = { 0 }, after = { 0 };
    static double W[H * M], b[M], c[H], shift[H * SITES_MANY];
    int32_t codes[2 * SITES_MANY];
    double f[4];
    sal_error err;
    ck_ok(sal_model_open("rbm:visible=60,hidden=20,kind=categorical,states=5,scale=0.3", SAL_F64,
                         &model, &err),
          &err);
    tiny_normals(82, M, 1, b);
    ck_ok(sal_model_set_params(model, "b", b, &err), &err);
    for (int k = 0; k < 2 * SITES_MANY; k++) {
        codes[k] = k * k % 7 % Q;
    }
    ck_ok(sal_model_evaluate(model, 2, codes, f, NULL, NULL, &err), &err);
    ck_ok(sali_potts_of_rbm(model, &before, &err), &err);
    tiny_normals(83, H * SITES_MANY, 0.5, shift);
    ck_ok(sal_model_get_params(model, "W", W, &err), &err);
    for (int k = 0; k < H; k++) {
        for (int i = 0; i < M; i++) {
            W[k * M + i] += shift[k * SITES_MANY + i / Q];
            c[k] -= i % Q == 0 ? shift[k * SITES_MANY + i / Q] : 0;
        }
    }
    ck_ok(sal_model_set_params(model, "W", W, &err), &err);
    ck_ok(sal_model_set_params(model, "c", c, &err), &err);
    ck_ok(sal_model_evaluate(model, 2, codes, f + 2, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(f[0], f[2], 1e-11);
    ck_assert_double_eq_tol(f[1], f[3], 1e-11);
    ck_ok(sali_potts_of_rbm(model, &after, &err), &err);
    for (int k = 0; k < M; k++) {
        double sum = 0;
        for (int l = 0; l < M; l++) {
            ck_assert_double_eq_tol(before.J[k * M + l], after.J[k * M + l], 1e-9);
            sum += before.J[k * M + l];
            if (l % Q == Q - 1) { /* the gauge: rows of a block sum to 0 */
                ck_assert_double_eq_tol(sum, 0, 1e-9);
                sum = 0;
            }
        }
        ck_assert_double_eq_tol(before.h[k], after.h[k], 1e-9);
    }
    sali_potts_free(&before);
    sali_potts_free(&after);
    sal_model_destroy(model);
}
END_TEST

START_TEST(letters_of_the_model_are_kept)
{
    sal_model *model = NULL;
    sali_potts p = { 0 };
    sal_error err;
    ck_ok(sal_model_open("rbm:visible=4,hidden=3,kind=categorical,alphabet=-HP", SAL_F64, &model,
                         &err),
          &err);
    ck_ok(sali_potts_of_rbm(model, &p, &err), &err);
    ck_assert_str_eq(p.alphabet, "-HP");
    ck_assert_int_eq(p.states, 3);
    sali_potts_free(&p);
    sal_model_destroy(model);
}
END_TEST

START_TEST(other_models_and_huge_weights_are_refused)
{
    static const char *const others[] = { "rbm:visible=4,hidden=3", "potts:side=3,states=3",
                                          "rbm:visible=4,kind=categorical,hidden_kind=gaussian",
                                          "mixture:dim=3,states=3" };
    sali_potts p = { 0 };
    sal_error err;
    for (int k = 0; k < 4; k++) {
        sal_model *model = NULL;
        ck_ok(sal_model_open(others[k], SAL_F64, &model, &err), &err);
        ck_assert(!sali_is_rbm_of_letters(model));
        ck_fails(sali_potts_of_rbm(model, &p, &err), SAL_ERR_ARGUMENT, &err, "RBM of letters");
        sal_model_destroy(model);
    }
    sal_model *model = open_rbm("binary", 1);
    double c[HIDDEN] = { 0, 6000, 0 };
    ck_ok(sal_model_set_params(model, "c", c, &err), &err);
    ck_fails(sali_potts_of_rbm(model, &p, &err), SAL_ERR_ARGUMENT, &err,
             "hidden unit 1 may be 600");
    sal_model *drelu = open_rbm("drelu", 1);
    c[1] = 1e6;
    ck_ok(sal_model_set_params(drelu, "c", c, &err), &err);
    ck_fails(sali_potts_of_rbm(drelu, &p, &err), SAL_ERR_ARGUMENT, &err, "smaller weights only");
    c[1] = 1e160;
    ck_ok(sal_model_set_params(drelu, "c", c, &err), &err);
    ck_fails(sali_potts_of_rbm(drelu, &p, &err), SAL_ERR_ARGUMENT, &err, "its term is too large");
    c[1] = 0;
    ck_ok(sal_model_set_params(drelu, "c", c, &err), &err);
    static const double large[] = { -1e6, -1e7, -1e8, -1e155, 1e200 };
    for (int k = 0; k < 5; k++) {
        double delta[HIDDEN] = { 0, large[k], 0 };
        ck_ok(sal_model_set_params(drelu, "delta", delta, &err), &err);
        ck_fails(sali_potts_of_rbm(drelu, &p, &err), SAL_ERR_ARGUMENT, &err,
                 "hidden unit 1 may be");
    }
    ck_ok(sal_model_set_params(drelu, "delta", (double[HIDDEN]){ 0 }, &err), &err);
    c[1] = NAN;
    ck_ok(sal_model_set_params(drelu, "c", c, &err), &err);
    ck_fails(sali_potts_of_rbm(drelu, &p, &err), SAL_ERR_ARGUMENT, &err, "hidden unit 1 may be");
    sal_model_destroy(drelu);
    ck_ok(sal_model_set_params(model, "c", c, &err), &err);
    ck_fails(sali_potts_of_rbm(model, &p, &err), SAL_ERR_ARGUMENT, &err, "hidden unit 1 may be");
    ck_assert_ptr_null(p.J);
    sal_model_destroy(model);
}
END_TEST

START_TEST(allocation_failures_are_reported)
{
    for (int k = 0; k < 2; k++) {
        sal_model *model = open_rbm(k ? "drelu" : "spin", 1);
        sali_potts p = { 0 };
        ck_alloc_sweep(sali_potts_of_rbm(model, &p, NULL), sali_potts_free(&p));
        sal_model_destroy(model);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rbm_potts");
    TCase *tcase = tcase_create("rbm_potts");
    tcase_add_test(tcase, terms_are_means_over_uniform_states);
    tcase_add_test(tcase, terms_of_drelu_units_are_means_too);
    tcase_add_test(tcase, sites_of_equal_and_opposite_weights_are_exact);
    tcase_add_test(tcase, terms_do_not_depend_on_the_gauge_of_the_weights);
    tcase_add_test(tcase, letters_of_the_model_are_kept);
    tcase_add_test(tcase, other_models_and_huge_weights_are_refused);
    tcase_add_test(tcase, allocation_failures_are_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
