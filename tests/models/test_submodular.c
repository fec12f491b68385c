/* SPDX-License-Identifier: MIT */
/* Facility location against its formula, written out over sets. */
#include "test.h"

#include <math.h>
#include <stdbool.h>

#include "models/tape_model.h"
#include "models/zoo/builtin.h"
#include "run_helpers.h"
#include "models/make/tape_copy.h"

/* ---- models and sets */

static uint64_t number_state = 1;

static double number(void)
{
    number_state = number_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(number_state >> 40) / (double)(1 << 24);
}

static sal_model *make(const char *specification, const sali_content *content, sal_dtype dtype)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sali_builtin_make(specification, content, dtype, &model, &err), &err);
    return model;
}

static double value(sal_model *model, const int32_t *s)
{
    double f = NAN;
    sal_error err;
    ck_ok(sal_model_evaluate(model, 1, s, &f, NULL, NULL, &err), &err);
    return f;
}

/* A set with about this share of the n elements. */
static void random_set(int64_t n, double share, int32_t *s)
{
    for (int64_t i = 0; i < n; i++) {
        s[i] = number() < share;
    }
}

/* The differences of f are differences of f, by each strategy that applies. */
static void check_differences(sal_model *model, const int32_t *s, double tolerance)
{
    int64_t n = sal_space_variables(sal_model_space(model));
    double f = value(model, s), *x = malloc((size_t)n * sizeof *x);
    double *slots = malloc((size_t)n * sizeof *slots), found = NAN;
    int32_t *t = malloc((size_t)n * sizeof *t);
    memcpy(t, s, (size_t)n * sizeof *t);
    for (sali_strategy by = SALI_BY_GRADIENT; by < SALI_STRATEGIES && isfinite(f); by++) {
        sali_evaluator *e = NULL;
        sal_error err;
        if (!sali_strategy_applies(model, by)) {
            continue;
        }
        ck_ok(sali_evaluator_create_by(model, 1, SALI_WANT_DIFFERENCES, by, &e, &err), &err);
        sali_model_embed(model, 1, s, x);
        sali_differences(e, 1, s, x, &found, slots);
        ck_assert_double_eq_tol(found, f, tolerance);
        for (int64_t i = 0; i < n; i++) {
            double got = sali_load(sal_model_dtype(model), slots, i);
            t[i] = !s[i];
            double want = value(model, t) - f;
            t[i] = s[i];
            ck_assert_msg(got == want || fabs(got - want) <= tolerance,
                          "%s, variable %lld: %g, not %g", sali_strategy_name(by), (long long)i,
                          got, want);
        }
        sali_evaluator_destroy(e);
    }
    free(x);
    free(slots);
    free(t);
}

/* f(A + v) - f(A) >= f(B + v) - f(B) for A within B and v outside, and >= `least` where all four
 * are finite; the number of such cases. */
static int check_submodular(sal_model *model, double share, double least)
{
    int64_t n = sal_space_variables(sal_model_space(model));
    int32_t *A = malloc((size_t)n * sizeof *A), *B = malloc((size_t)n * sizeof *B);
    int cases = 0;
    for (int trial = 0; trial < 300; trial++) {
        random_set(n, share, B);
        int64_t v = (int64_t)(number() * (double)n);
        B[v] = 0;
        for (int64_t i = 0; i < n; i++) {
            A[i] = B[i] && number() < 0.5;
        }
        double a = value(model, A), b = value(model, B);
        A[v] = B[v] = 1;
        double rise_a = value(model, A) - a, rise_b = value(model, B) - b;
        if (isfinite(rise_a) && isfinite(rise_b)) {
            ck_assert_double_ge(rise_a, rise_b - 1e-9);
            ck_assert_double_ge(rise_b, least - 1e-9);
            cases++;
        }
    }
    free(A);
    free(B);
    return cases;
}

/* Runs of some samplers start and stay at finite f. */
static void check_starts(sal_model *model)
{
    static const char *const samplers[] = { "gibbs", "lb", "mana", "una", "gwg", "pas" };
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        sal_run_options options = {
            .sampler = samplers[k], .chains = 8, .warmup = 10, .draws = 10, .threads = 1
        };
        sal_run *run = run_it(model, &options);
        sal_run_summary s = summary_of(run);
        ck_assert(isfinite(s.log_prob_mean));
        sal_run_destroy(run);
    }
}

/* ---- facility location */

static double facility_value(int n, int m, const double *C, double lambda, const int32_t *s)
{
    double f = 0;
    for (int j = 0; j < m; j++) {
        double best = 0;
        for (int i = 0; i < n; i++) {
            best = s[i] && C[i * m + j] > best ? C[i * m + j] : best;
        }
        f += best;
    }
    for (int i = 0; i < n; i++) {
        f -= s[i] ? lambda : 0;
    }
    return f;
}

#define N 8
#define M 11

/* Values with many zeros and ties. */
static sali_content facility_content(double *C)
{
    for (int k = 0; k < N * M; k++) {
        double u = number();
        C[k] = u < 0.2 ? 0 : u < 0.5 ? 1.5 : 4 * u;
    }
    return (sali_content){ .kind = SALI_CONTENT_ARRAY,
                           .array = { .ndim = 2, .shape = { N, M }, .count = N * M, .values = C } };
}

START_TEST(facility_location_equals_its_definition)
{
    double C[N * M];
    int32_t s[N];
    sali_content content = facility_content(C);
    for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        double tolerance = dtype == SAL_F32 ? 1e-4 : 1e-12;
        sal_model *model = make("facility-location:lambda=3.5", &content, dtype);
        ck_assert(sali_strategy_best(model) == SALI_BY_CHANGES);
        for (int set = 0; set < 1 << N; set++) {
            for (int i = 0; i < N; i++) {
                s[i] = set >> i & 1;
            }
            ck_assert_double_eq_tol(value(model, s), facility_value(N, M, C, 3.5, s), tolerance);
            check_differences(model, s, tolerance);
        }
        sal_model_destroy(model);
    }
}
END_TEST

/* A value, and the gradient by s_i = 0 and 1, by closed form and by enumeration: of theta within,
 * and with some rows 0 or 1. */
START_TEST(facility_location_has_a_closed_extension)
{
    double C[N * M];
    sali_content content = facility_content(C);
    C[3] = C[M + 3] = 5; /* a tie at the top of a column, and a column without value */
    for (int i = 0; i < N; i++) {
        C[i * M + 7] = 0;
    }
    for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        double tolerance = dtype == SAL_F32 ? 2e-5 : 1e-12;
        sal_model *model = make("facility-location:lambda=3.5", &content, dtype);
        for (int k = 0; k < 6; k++) {
            double theta[2 * N], g[2][2 * N];
            sal_extension ext[2];
            sal_error err;
            for (int i = 0; i < N; i++) {
                double u = number();
                theta[2 * i + 1] = k % 2 && i % 3 == 0 ? u < 0.5 : u;
                theta[2 * i] = 1 - theta[2 * i + 1];
            }
            const sal_extension_options all = { .method = SAL_EXTENSION_ENUMERATE };
            ck_ok(sal_model_extension(model, NULL, theta, &ext[0], g[0], NULL, &err), &err);
            ck_ok(sal_model_extension(model, &all, theta, &ext[1], g[1], NULL, &err), &err);
            ck_assert_int_eq(ext[0].method, SAL_EXTENSION_CLOSED);
            ck_assert_double_eq_tol(ext[0].F, ext[1].F, tolerance * (1 + fabs(ext[1].F)));
            for (int i = 0; i < 2 * N; i++) {
                ck_assert_double_eq_tol(g[0][i], g[1][i], tolerance * (1 + fabs(g[1][i])));
            }
        }
        sal_model_destroy(model);
    }
}
END_TEST

/* In its canonical form f is multilinear: its differences are its gradient's. */
START_TEST(canonical_facility_location_has_differences_by_its_gradient)
{
    double C[N * M];
    int32_t s[N];
    sali_content content = facility_content(C);
    for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        double tolerance = dtype == SAL_F32 ? 1e-4 : 1e-12;
        sal_model *model = make("facility-location:lambda=3.5", &content, dtype), *form = NULL;
        sal_error err;
        ck_ok(sali_tape_model_canonical(model, &form, &err), &err);
        ck_assert(sali_strategy_best(form) == SALI_BY_GRADIENT);
        for (int set = 0; set < 1 << N; set++) {
            for (int i = 0; i < N; i++) {
                s[i] = set >> i & 1;
            }
            ck_assert_double_eq_tol(value(form, s), facility_value(N, M, C, 3.5, s), tolerance);
            check_differences(form, s, tolerance);
        }
        sal_model_destroy(form);
        sal_model_destroy(model);
    }
}
END_TEST

/* s_i of -1 selects what is negative: that is no coverage by sets. */
START_TEST(coverage_of_spins_has_no_closed_extension)
{
    const double C[] = { 1, -2, 0.5, 3 };
    const sal_block block = { .name = "s", .kind = SAL_SPIN, .count = 2 };
    const sal_extension_options closed = { .method = SAL_EXTENSION_CLOSED };
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_extension ext;
    sal_error err;
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr f = sal_max_coverage(sal_state(tape), sal_constant(tape, C, SAL_SHAPE(2, 2)));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    ck_fails(sal_model_extension(model, &closed, (double[]){ 0.5, 0.5, 0.5, 0.5 }, &ext, NULL, NULL,
                                 &err),
             SAL_ERR_UNSUPPORTED, &err, "multilinear");
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

START_TEST(facility_location_without_a_file_has_the_papers_sizes)
{
    sal_model *model = make("facility-location", NULL, 0), *other;
    int32_t none[15] = { 0 }, one[15] = { 0 };
    ck_assert_int_eq(sal_space_variables(sal_model_space(model)), 15);
    ck_assert_double_eq(value(model, none), 0);
    for (int i = 0; i < 15; i++) { /* the 64 customers' values for one facility are sums of |N| */
        memset(one, 0, sizeof one);
        one[i] = 1;
        ck_assert_double_ge(value(model, one), -10 + 1);
        ck_assert_double_le(value(model, one), -10 + 64 * 4);
    }
    ck_assert_int_gt(check_submodular(model, 0.5, -10), 200);
    other = make("facility-location:seed=1", NULL, 0);
    ck_assert(value(other, one) != value(model, one));
    sal_model_destroy(other);
    other = make("facility-location:lambda=0", NULL, 0);
    ck_assert_int_gt(check_submodular(other, 0.5, 0), 200);
    sal_model_destroy(other);
    check_starts(model);
    sal_model_destroy(model);
}
END_TEST

/* Two of them chosen by hand: one customer each, and nobody served is worth 0. */
START_TEST(facility_location_of_a_small_file)
{
    double C[] = { 2, 0, 1, 3 };
    sali_content content = { .kind = SALI_CONTENT_ARRAY,
                             .array = { .ndim = 2, .shape = { 2, 2 }, .count = 4, .values = C } };
    sal_model *model = make("facility-location:lambda=1", &content, 0);
    ck_assert_double_eq(value(model, (int32_t[]){ 0, 0 }), 0);
    ck_assert_double_eq(value(model, (int32_t[]){ 1, 0 }), 1);
    ck_assert_double_eq(value(model, (int32_t[]){ 0, 1 }), 3);
    ck_assert_double_eq(value(model, (int32_t[]){ 1, 1 }), 3);
    sal_model_destroy(model);
}
END_TEST

START_TEST(facility_location_refuses_bad_files)
{
    double C[] = { 2, 0, 1, -3 };
    sali_content content = { .kind = SALI_CONTENT_ARRAY,
                             .array = { .ndim = 2, .shape = { 2, 2 }, .count = 4, .values = C } };
    sal_model *model = NULL;
    sal_error err;
    const double bad[] = { -3, NAN, INFINITY };
    for (int k = 0; k < 3; k++) {
        C[3] = bad[k];
        ck_fails(sali_builtin_make("facility-location", &content, 0, &model, &err), SAL_ERR_DATA,
                 &err, "the value of facility 1 to customer 1 is");
    }
    content.array.ndim = 1;
    content.array.shape[0] = 4;
    ck_fails(sali_builtin_make("facility-location", &content, 0, &model, &err), SAL_ERR_DATA, &err,
             "an array of 1 dimensions; expected 2");
    ck_fails(sali_builtin_make("facility-location:facilities=1000000,customers=1000000", NULL, 0,
                               &model, &err),
             SAL_ERR_ARGUMENT, &err, "pairs at most");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("submodular");
    TCase *all = tcase_create("all");
    tcase_add_test(all, facility_location_equals_its_definition);
    tcase_add_test(all, facility_location_has_a_closed_extension);
    tcase_add_test(all, canonical_facility_location_has_differences_by_its_gradient);
    tcase_add_test(all, coverage_of_spins_has_no_closed_extension);
    tcase_add_test(all, facility_location_without_a_file_has_the_papers_sizes);
    tcase_add_test(all, facility_location_of_a_small_file);
    tcase_add_test(all, facility_location_refuses_bad_files);
    suite_add_tcase(suite, all);
    return test_main(suite);
}
