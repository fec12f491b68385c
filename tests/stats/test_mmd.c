/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/alloc.h"
#include <saltus/stats.h>

/* Codes 0 .. states - 1, each 0 with probability `zero`, else uniform. */
static uint8_t *sample(int64_t rows, int64_t variables, int states, double zero, uint64_t seed)
{
    uint8_t *codes = SALI_NEW_ARRAY(uint8_t, rows * variables);
    for (int64_t i = 0; i < rows * variables; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double u = (double)(seed >> 11) * 0x1p-53;
        codes[i] = u < zero ? 0 : (uint8_t)((u - zero) / (1.0 - zero) * states);
    }
    return codes;
}

static double kernel(int64_t d, const uint8_t *x, const uint8_t *y)
{
    double distance = 0.0;
    for (int64_t i = 0; i < d; i++) {
        distance += x[i] != y[i];
    }
    return exp(-distance / (double)d);
}

/* The mean over pairs of rows of two samples; a pair of one row with itself counts if `diagonal`.
 */
static double mean_kernel(int64_t d, int64_t na, const uint8_t *a, int64_t nb, const uint8_t *b,
                          bool diagonal)
{
    double sum = 0, pairs = 0;
    for (int64_t i = 0; i < na; i++) {
        for (int64_t j = 0; j < nb; j++) {
            if (diagonal || a + i * d != b + j * d) {
                sum += kernel(d, a + i * d, b + j * d);
                pairs++;
            }
        }
    }
    return sum / pairs;
}

/* The definition, pair by pair. */
static double direct(int64_t d, int64_t na, const uint8_t *a, int64_t nb, const uint8_t *b,
                     bool diagonal)
{
    return mean_kernel(d, na, a, na, a, diagonal) + mean_kernel(d, nb, b, nb, b, diagonal) -
           2 * mean_kernel(d, na, a, nb, b, true);
}

START_TEST(mmd_is_its_definition_for_every_number_of_states)
{
    static const int states[] = { 1, 2, 3, 4, 5, 17, 200, 256 };
    static const int64_t sizes[][3] = {
        { 1, 2, 2 }, { 5, 3, 9 }, { 64, 65, 64 }, { 65, 130, 63 }, { 200, 20, 100 }
    };
    sal_error err = { 0 };
    for (int k = 0; k < 8; k++) {
        for (int s = 0; s < 5; s++) {
            int64_t d = sizes[s][0], na = sizes[s][1], nb = sizes[s][2];
            uint8_t *a = sample(na, d, states[k], 0.2, 1), *b = sample(nb, d, states[k], 0.5, 2);
            for (int v = 0; v < 2; v++) {
                const sal_mmd_estimator estimator = v ? SAL_MMD_V : SAL_MMD_U;
                double mmd2, swapped;
                ck_ok(sal_stats_mmd(d, na, a, nb, b, estimator, &mmd2, &err), &err);
                ck_assert_double_eq_tol(mmd2, direct(d, na, a, nb, b, v), 1e-13);
                ck_ok(sal_stats_mmd(d, nb, b, na, a, estimator, &swapped, &err), &err);
                ck_assert_double_eq_tol(mmd2, swapped, 1e-14);
            }
            sali_free(a);
            sali_free(b);
        }
    }
}
END_TEST

/* For independent fair bits k has mean ((1 + e^(-1/d)) / 2)^d; with d = 20 the estimate from 2 x
 * 1000 states has a standard deviation near 1e-4 sqrt(var k) * 20, so well under 1e-3. */
START_TEST(mmd_is_near_zero_for_one_distribution_and_not_for_two)
{
    sal_error err = { 0 };
    int64_t d = 20, n = 1000;
    uint8_t *a = sample(n, d, 2, 0.0, 5), *b = sample(n, d, 2, 0.0, 6);
    uint8_t *c = sample(n, d, 2, 0.3, 7);
    double same, different;
    ck_ok(sal_stats_mmd(d, n, a, n, b, SAL_MMD_U, &same, &err), &err);
    ck_ok(sal_stats_mmd(d, n, a, n, c, SAL_MMD_U, &different, &err), &err);
    ck_assert_double_eq_tol(same, 0.0, 1e-3);
    ck_assert_double_gt(different, 5e-3);
    /* What the diagonal adds. */
    double v, bias = (1 - mean_kernel(d, n, a, n, b, true)) * 2 / (double)n;
    ck_ok(sal_stats_mmd(d, n, a, n, b, SAL_MMD_V, &v, &err), &err);
    ck_assert_double_eq_tol(v - same, bias, 0.01 * bias);
    sali_free(a);
    sali_free(b);
    sali_free(c);
}
END_TEST

START_TEST(mmd_does_not_depend_on_the_number_of_threads)
{
    sal_error err = { 0 };
    int64_t d = 70, na = 700, nb = 300;
    uint8_t *a = sample(na, d, 3, 0.1, 8), *b = sample(nb, d, 3, 0.2, 9);
    double first, other;
    ck_ok(sal_stats_mmd(d, na, a, nb, b, SAL_MMD_U, &first, &err), &err);
    static const char *const threads[] = { "1", "2", "7" };
    for (int k = 0; k < 3; k++) {
        setenv("OMP_NUM_THREADS", threads[k], 1);
        ck_ok(sal_stats_mmd(d, na, a, nb, b, SAL_MMD_U, &other, &err), &err);
        ck_assert_double_eq(first, other);
    }
    sali_free(a);
    sali_free(b);
}
END_TEST

START_TEST(mmd_refuses_bad_arguments)
{
    sal_error err;
    uint8_t x[4] = { 0 };
    double out = 42.0;
    ck_fails(sal_stats_mmd(0, 2, x, 2, x, SAL_MMD_U, &out, &err), SAL_ERR_ARGUMENT, &err,
             "1 variable");
    ck_fails(sal_stats_mmd(2, 1, x, 2, x, SAL_MMD_U, &out, &err), SAL_ERR_ARGUMENT, &err,
             "1 and 2 states");
    ck_fails(sal_stats_mmd(2, 2, x, 0, x, SAL_MMD_U, &out, &err), SAL_ERR_ARGUMENT, &err,
             "2 and 0 states");
    ck_fails(sal_stats_mmd(2, 2, NULL, 2, x, SAL_MMD_U, &out, &err), SAL_ERR_ARGUMENT, &err,
             "2 states");
    ck_fails(sal_stats_mmd(INT64_MAX / 2, 4, x, 2, x, SAL_MMD_U, &out, &err), SAL_ERR_ARGUMENT,
             &err, "of");
    ck_fails(sal_stats_mmd(2, 2, x, 2, x, (sal_mmd_estimator)2, &out, &err), SAL_ERR_ARGUMENT, &err,
             "SAL_MMD_V");
    ck_assert_double_eq(out, 42.0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mmd");
    TCase *tc = tcase_create("all");
    tcase_add_test(tc, mmd_is_its_definition_for_every_number_of_states);
    tcase_add_test(tc, mmd_is_near_zero_for_one_distribution_and_not_for_two);
    tcase_add_test(tc, mmd_does_not_depend_on_the_number_of_threads);
    tcase_add_test(tc, mmd_refuses_bad_arguments);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
