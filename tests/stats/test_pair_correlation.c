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

/* Codes in which neighbours are often equal, with a share of noise; variable v has states[v % n]
 * states. */
static uint8_t *sample(int64_t rows, int64_t V, int n, const int *states, uint32_t noise)
{
    uint8_t *codes = malloc((size_t)(rows * V));
    for (int64_t i = 0; i < rows * V; i++) {
        const uint32_t q = (uint32_t)states[i % V % n];
        bool copy = i % V > 0 && draw() % 100 >= noise && codes[i - 1] < q;
        codes[i] = (uint8_t)(copy ? codes[i - 1] : draw() % q);
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

/* A space of V variables, variable v with states[v % n] states. */
static sal_space *labels(int64_t V, int n, const int *states)
{
    sal_space *space = sal_space_create();
    sal_error err = { 0 };
    for (int64_t v = 0; v < V; v++) {
        char name[24];
        snprintf(name, sizeof name, "x%lld", (long long)v);
        const sal_block block = {
            .name = name, .kind = SAL_CATEGORICAL, .count = 1, .states = states[v % n]
        };
        ck_ok(sal_space_add(space, &block, &err), &err);
    }
    return space;
}

/* Of two samples. */
static sal_status correlate(const sal_space *space, int64_t na, uint8_t *a, double *wa, int64_t nb,
                            uint8_t *b, double *wb, double *r, sal_error *err)
{
    const int64_t V = sal_space_variables(space);
    const sal_data A = { .rows = na, .variables = V, .codes = a, .weight = wa };
    const sal_data B = { .rows = nb, .variables = V, .codes = b, .weight = wb };
    return sal_stats_pair_correlation(space, &A, &B, 1, r, NULL, err);
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

static double naive(int64_t V, const int states[2], int64_t na, const uint8_t *A, const double *wa,
                    int64_t nb, const uint8_t *B, const double *wb)
{
    enum { ROOM = 2000 };
    static double x[ROOM], y[ROOM];
    int n = 0;
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < V; i++) {
        for (int64_t j = i + 1; j < V; j++) {
            const int q = states[j % 2];
            for (int k = 0; k < states[i % 2] * q; k++, n++) {
                ck_assert_int_lt(n, ROOM);
                x[n] = connected(na, V, A, wa, i, k / q, j, k % q);
                y[n] = connected(nb, V, B, wb, i, k / q, j, k % q);
                mean_x += x[n];
                mean_y += y[n];
            }
        }
    }
    for (int k = 0; k < n; k++) {
        xx += (x[k] - mean_x / n) * (x[k] - mean_x / n);
        yy += (y[k] - mean_y / n) * (y[k] - mean_y / n);
        xy += (x[k] - mean_x / n) * (y[k] - mean_y / n);
    }
    return xy / sqrt(xx * yy);
}

/* Other sizes; with weights and without; of variables with different numbers of states. */
START_TEST(correlation_is_that_of_the_double_loop)
{
    static const struct {
        int64_t V, na, nb;
        int q, other; /* states of even and odd variables */
    } cases[] = {
        { 4, 40, 30, 3, 3 }, { 2, 7, 1200, 21, 21 }, { 5, 601, 513, 2, 2 }, { 3, 50, 50, 2, 5 }
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t V = cases[k].V, na = cases[k].na, nb = cases[k].nb;
        const int states[2] = { cases[k].q, cases[k].other };
        uint8_t *a = sample(na, V, 2, states, 40), *b = sample(nb, V, 2, states, 70);
        double *wa = weights(na), *wb = weights(nb);
        sal_space *space = labels(V, 2, states);
        for (int w = 0; w < 4; w++) {
            double r = 0, *ua = w & 1 ? wa : NULL, *ub = w & 2 ? wb : NULL;
            sal_error err = { 0 };
            ck_ok(correlate(space, na, a, ua, nb, b, ub, &r, &err), &err);
            ck_assert_double_eq_tol(r, naive(V, states, na, a, ua, nb, b, ub), 1e-10);
            ck_assert(fabs(r) < 0.999);
        }
        double one = 0;
        sal_error err = { 0 };
        ck_ok(correlate(space, na, a, wa, na, a, wa, &one, &err), &err);
        ck_assert_double_eq_tol(one, 1, 1e-12);
        sal_space_destroy(space);
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
    const int states = 3;
    uint8_t *a = sample(20, 4, 1, &states, 50), *b = sample(60, 4, 1, &states, 50), twice[40 * 4];
    sal_space *space = labels(4, 1, &states);
    double w[20], r = 0, want = 1;
    sal_error err = { 0 };
    int64_t n = 0;
    for (int64_t i = 0; i < 20; i++) {
        w[i] = i % 2 ? 6 : 3;
        for (int64_t k = 0; k < 1 + i % 2; k++) {
            memcpy(twice + n++ * 4, a + i * 4, 4);
        }
    }
    ck_ok(correlate(space, 20, a, w, 60, b, NULL, &r, &err), &err);
    ck_ok(correlate(space, n, twice, NULL, 60, b, NULL, &want, &err), &err);
    ck_assert_double_eq_tol(r, want, 1e-12);
    sal_space_destroy(space);
    free(a);
    free(b);
}
END_TEST

START_TEST(threads_give_the_same_bits)
{
    static const int threads[] = { 0, 2, 7 }, states[3] = { 2, 7, 4 };
    uint8_t *a = sample(300, 9, 3, states, 40), *b = sample(200, 9, 3, states, 60);
    double *w = weights(300), one = 0, r = 0;
    sal_space *space = labels(9, 3, states);
    const sal_data A = { .rows = 300, .variables = 9, .codes = a, .weight = w };
    const sal_data B = { .rows = 200, .variables = 9, .codes = b };
    sal_error err = { 0 };
    ck_ok(sal_stats_pair_correlation(space, &A, &B, 1, &one, NULL, &err), &err);
    for (int k = 0; k < 3; k++) {
        ck_ok(sal_stats_pair_correlation(space, &A, &B, threads[k], &r, NULL, &err), &err);
        ck_assert_double_eq(r, one);
    }
    sal_space_destroy(space);
    free(a);
    free(b);
    free(w);
}
END_TEST

/* The mean correlation between rows, with weights or without, and independent samples of them. */
START_TEST(samples_of_the_same_rows_have_the_limit)
{
    enum { ROWS = 200, SAMPLES = 1000 };
    static const int states[2] = { 2, 4 };
    uint8_t *a = sample(ROWS, 8, 2, states, 40), b[400 * 8];
    double *w = weights(ROWS), total = 0;
    sal_space *space = labels(8, 2, states);
    for (int r = 0; r < ROWS; r++) {
        total += w[r];
    }
    for (int64_t n = 25; n <= 400; n *= 4) {
        const sal_data A = { .rows = ROWS, .variables = 8, .codes = a, .weight = w };
        const sal_data B = { .rows = n, .variables = 8, .codes = b };
        double sum = 0, limit = 0;
        sal_error err = { 0 };
        for (int k = 0; k < SAMPLES; k++) {
            for (int64_t r = 0; r < n; r++) {
                double left = total * draw() / (1 << 24);
                int row = 0;
                while (row < ROWS - 1 && (left -= w[row]) >= 0) {
                    row++;
                }
                memcpy(b + r * 8, a + row * 8, 8);
            }
            double r = 0;
            ck_ok(sal_stats_pair_correlation(space, &A, &B, 1, &r, &limit, &err), &err);
            sum += r;
        }
        ck_assert_double_eq_tol(sum / SAMPLES, limit, 0.004);
        /* Rows with next to no weight do not count. */
        double halves[400] = { 0 }, same = 0, r = 0;
        for (int64_t k = 0; k < n; k++) {
            halves[k] = k < n / 2 ? 1e-9 : 3;
        }
        const sal_data C = { .rows = n, .variables = 8, .codes = b, .weight = halves };
        const sal_data D = { .rows = n - n / 2, .variables = 8, .codes = b };
        ck_ok(sal_stats_pair_correlation(space, &A, &C, 1, &r, &limit, &err), &err);
        ck_ok(sal_stats_pair_correlation(space, &A, &D, 1, &r, &same, &err), &err);
        ck_assert_double_eq_tol(limit, same, 1e-6);
    }
    sal_space_destroy(space);
    free(a);
    free(w);
}
END_TEST

START_TEST(what_has_no_correlation_is_nan)
{
    static const int states = 2;
    uint8_t a[6] = { 0, 1, 1, 0, 0, 1 }, same[6] = { 0 };
    sal_space *space = labels(2, 1, &states);
    double r = 0;
    sal_error err = { 0 };
    ck_ok(correlate(space, 3, a, NULL, 3, same, NULL, &r, &err), &err);
    ck_assert(isnan(r));
    ck_ok(correlate(space, 1, a, NULL, 3, a, NULL, &r, &err), &err);
    ck_assert(isnan(r));
    sal_space_destroy(space);
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
    static const int two = 2, three = 3, many = 257;
    uint8_t a[6] = { 0, 1, 1, 0, 0, 2 };
    double zero[3] = { 1, 0, 1 }, infinite[3] = { 1, 1, INFINITY }, r = 7;
    sal_space *space = labels(2, 1, &three), *lone = labels(1, 1, &three),
              *small = labels(2, 1, &two), *large = labels(2, 1, &many);
    const sal_data wide = { .rows = 2, .variables = 3, .codes = a };
    const sal_data good = { .rows = 3, .variables = 2, .codes = a };
    sal_error err = { 0 };
    ck_fails(correlate(lone, 3, a, NULL, 3, a, NULL, &r, &err), SAL_ERR_ARGUMENT, &err,
             "at least 2 variables");
    ck_fails(correlate(large, 3, a, NULL, 3, a, NULL, &r, &err), SAL_ERR_ARGUMENT, &err,
             "256 states at most");
    ck_fails(correlate(space, 0, a, NULL, 3, a, NULL, &r, &err), SAL_ERR_ARGUMENT, &err,
             "got 0 rows of 2");
    ck_fails(correlate(space, 3, a, NULL, 3, NULL, NULL, &r, &err), SAL_ERR_ARGUMENT, &err,
             "expected samples");
    ck_fails(sal_stats_pair_correlation(space, &good, &wide, 1, &r, NULL, &err), SAL_ERR_ARGUMENT,
             &err, "of 2 variables; got 2 rows of 3");
    ck_fails(sal_stats_pair_correlation(space, &good, NULL, 1, &r, NULL, &err), SAL_ERR_ARGUMENT,
             &err, "two samples");
    ck_fails(correlate(space, 3, a, zero, 3, a, NULL, &r, &err), SAL_ERR_ARGUMENT, &err,
             "row 1 has the weight 0; expected finite weights above 0");
    ck_fails(correlate(space, 3, a, NULL, 3, a, infinite, &r, &err), SAL_ERR_ARGUMENT, &err,
             "row 2 has the weight inf");
    ck_fails(correlate(small, 3, a, NULL, 3, a, NULL, &r, &err), SAL_ERR_ARGUMENT, &err,
             "row 2, variable 1: code 2; expected 0 to 1");
    ck_assert_double_eq(r, 7);
    ck_alloc_sweep(correlate(space, 3, a, NULL, 3, a, NULL, &r, &err), (void)0);
    sal_space_destroy(space);
    sal_space_destroy(lone);
    sal_space_destroy(small);
    sal_space_destroy(large);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pair_correlation");
    TCase *tcase = tcase_create("pair_correlation");
    tcase_add_test(tcase, correlation_is_that_of_the_double_loop);
    tcase_add_test(tcase, weights_count_rows);
    tcase_add_test(tcase, threads_give_the_same_bits);
    tcase_add_test(tcase, samples_of_the_same_rows_have_the_limit);
    tcase_add_test(tcase, what_has_no_correlation_is_nan);
    tcase_add_test(tcase, bad_arguments_are_refused);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
