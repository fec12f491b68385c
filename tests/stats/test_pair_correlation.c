/* SPDX-License-Identifier: MIT */
/* The correlation of connected pair frequencies, against the formula written out. */
#include "test.h"

#include <math.h>

#include <saltus/program.h>
#include <saltus/saltus.h>

#include "alloc_fail.h"

static uint32_t seed = 5;

static uint32_t draw(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* Codes in which neighbours are often equal, with a share of noise. */
static uint8_t *sample(int64_t rows, int64_t V, int64_t q, uint32_t noise)
{
    uint8_t *codes = malloc((size_t)(rows * V));
    for (int64_t i = 0; i < rows * V; i++) {
        bool copy = i % V > 0 && draw() % 100 >= noise;
        codes[i] = (uint8_t)(copy ? codes[i - 1] : draw() % (uint32_t)q);
    }
    return codes;
}

static double *weights(int64_t rows)
{
    double *w = malloc((size_t)rows * sizeof *w);
    for (int64_t r = 0; r < rows; r++) {
        w[r] = 1.0 / (1 + draw() % 7);
    }
    return w;
}

/* Of two samples. */
static sal_status correlate(int64_t V, int64_t q, int64_t na, const uint8_t *a, const double *wa,
                            int64_t nb, const uint8_t *b, const double *wb, double *r,
                            sal_error *err)
{
    size_t size = (size_t)(V * q * V * q) * sizeof(float);
    float *A = malloc(size), *B = malloc(size);
    sal_status status = sal_stats_pair_covariance(V, q, na, a, wa, A, err);
    status = status ? status : sal_stats_pair_covariance(V, q, nb, b, wb, B, err);
    status = status ? status : sal_stats_pair_correlation(V, q, A, B, r, err);
    free(A);
    free(B);
    return status;
}

static double share(int64_t rows, int64_t V, const uint8_t *codes, const double *w, int64_t i,
                    int a, int64_t j, int b)
{
    double sum = 0, total = 0;
    for (int64_t r = 0; r < rows; r++) {
        double weight = w ? w[r] : 1;
        sum += weight * (codes[r * V + i] == a && (j < 0 || codes[r * V + j] == b));
        total += weight;
    }
    return sum / total;
}

static double connected(int64_t rows, int64_t V, const uint8_t *codes, const double *w, int64_t i,
                        int a, int64_t j, int b)
{
    return share(rows, V, codes, w, i, a, j, b) -
           share(rows, V, codes, w, i, a, -1, 0) * share(rows, V, codes, w, j, b, -1, 0);
}

static double naive(int64_t V, int q, int64_t na, const uint8_t *A, const double *wa, int64_t nb,
                    const uint8_t *B, const double *wb)
{
    int64_t n = 0, room = V * (V - 1) / 2 * q * q;
    double *x = malloc((size_t)room * sizeof *x), *y = malloc((size_t)room * sizeof *y);
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < V; i++) {
        for (int64_t j = i + 1; j < V; j++) {
            for (int k = 0; k < q * q; k++, n++) {
                x[n] = connected(na, V, A, wa, i, k / q, j, k % q);
                y[n] = connected(nb, V, B, wb, i, k / q, j, k % q);
                mean_x += x[n] / (double)room;
                mean_y += y[n] / (double)room;
            }
        }
    }
    for (int64_t k = 0; k < room; k++) {
        xx += (x[k] - mean_x) * (x[k] - mean_x);
        yy += (y[k] - mean_y) * (y[k] - mean_y);
        xy += (x[k] - mean_x) * (y[k] - mean_y);
    }
    free(x);
    free(y);
    return xy / sqrt(xx * yy);
}

/* More rows than a chunk; other sizes; with weights and without. */
START_TEST(correlation_is_that_of_the_double_loop)
{
    static const struct {
        int64_t V, na, nb;
        int q;
    } cases[] = { { 4, 40, 30, 3 }, { 2, 7, 1200, 21 }, { 5, 601, 513, 2 }, { 3, 50, 50, 5 } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int64_t V = cases[k].V, na = cases[k].na, nb = cases[k].nb;
        uint8_t *a = sample(na, V, cases[k].q, 40), *b = sample(nb, V, cases[k].q, 70);
        double *wa = weights(na), *wb = weights(nb);
        for (int w = 0; w < 4; w++) {
            double r = 0, *ua = w & 1 ? wa : NULL, *ub = w & 2 ? wb : NULL;
            sal_error err = { 0 };
            ck_ok(correlate(V, cases[k].q, na, a, ua, nb, b, ub, &r, &err), &err);
            ck_assert_double_eq_tol(r, naive(V, cases[k].q, na, a, ua, nb, b, ub), 2e-6);
            ck_assert(fabs(r) < 0.999);
        }
        double one = 0;
        sal_error err = { 0 };
        ck_ok(correlate(V, cases[k].q, na, a, wa, na, a, wa, &one, &err), &err);
        ck_assert_double_eq_tol(one, 1, 1e-12);
        free(a);
        free(b);
        free(wa);
        free(wb);
    }
}
END_TEST

/* Rows that are there twice are rows of twice the weight. */
START_TEST(weights_count_rows)
{
    uint8_t *a = sample(20, 4, 3, 50), *b = sample(60, 4, 3, 50), twice[40 * 4];
    double w[20], r = 0, want = 1;
    sal_error err = { 0 };
    int64_t n = 0;
    for (int64_t i = 0; i < 20; i++) {
        w[i] = i % 2 ? 6 : 3;
        for (int64_t k = 0; k < 1 + i % 2; k++) {
            memcpy(twice + n++ * 4, a + i * 4, 4);
        }
    }
    ck_ok(correlate(4, 3, 20, a, w, 60, b, NULL, &r, &err), &err);
    ck_ok(correlate(4, 3, n, twice, NULL, 60, b, NULL, &want, &err), &err);
    ck_assert_double_eq_tol(r, want, 1e-6);
    free(a);
    free(b);
}
END_TEST

START_TEST(what_has_no_correlation_is_nan)
{
    const uint8_t a[6] = { 0, 1, 1, 0, 0, 1 }, same[6] = { 0 };
    double r = 0;
    sal_error err = { 0 };
    ck_ok(correlate(2, 2, 3, a, NULL, 3, same, NULL, &r, &err), &err);
    ck_assert(isnan(r));
    ck_ok(correlate(2, 2, 1, a, NULL, 3, a, NULL, &r, &err), &err);
    ck_assert(isnan(r));
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
    const uint8_t a[6] = { 0, 1, 1, 0, 0, 2 };
    double w[3] = { 1, 0, 1 }, r = 7;
    sal_error err = { 0 };
    ck_fails(correlate(1, 2, 3, a, NULL, 3, a, NULL, &r, &err), SAL_ERR_ARGUMENT, &err,
             "at least 2 variables");
    ck_fails(correlate(2, 3, 0, a, NULL, 3, a, NULL, &r, &err), SAL_ERR_ARGUMENT, &err,
             "got 0 rows");
    ck_fails(correlate(2, 3, 3, NULL, NULL, 3, a, NULL, &r, &err), SAL_ERR_ARGUMENT, &err,
             "a "
             "sample");
    ck_fails(correlate(2, 3, 3, a, w, 3, a, NULL, &r, &err), SAL_ERR_ARGUMENT, &err,
             "weights above 0");
    ck_fails(correlate(2, 2, 3, a, NULL, 3, a, NULL, &r, &err), SAL_ERR_ARGUMENT, &err,
             "row 2, variable 1: code 2; expected 0 to 1");
    float C[36];
    ck_fails(sal_stats_pair_correlation(2, 3, C, NULL, &r, &err), SAL_ERR_ARGUMENT, &err,
             "two matrices");
    ck_assert_double_eq(r, 7);
    ck_alloc_sweep(correlate(2, 3, 3, a, NULL, 3, a, NULL, &r, &err), (void)0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pair_correlation");
    TCase *tcase = tcase_create("pair_correlation");
    tcase_add_test(tcase, correlation_is_that_of_the_double_loop);
    tcase_add_test(tcase, weights_count_rows);
    tcase_add_test(tcase, what_has_no_correlation_is_nan);
    tcase_add_test(tcase, bad_arguments_are_refused);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
