/* SPDX-License-Identifier: MIT */
/* The program examples/applications/retrieval: f against its definition, and average precision. */
#include "test.h"

int retrieval_main(int argc, char **argv);
#define main retrieval_main
#include "../../examples/applications/retrieval.c"
#undef main

static uint64_t number_state = 1;

static double number(void)
{
    number_state = number_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(number_state >> 40) / (double)(1 << 24);
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

/* ---- f */

#define IMAGES 20

static double retrieval_value(const sal_data *a, int query, double most, double coverage,
                              double bandwidth, double beta, const int32_t *s)
{
    int64_t n = a->rows, width = a->variables;
    double w[IMAGES][IMAGES], mean = 0, top = 0, chosen = 0, f = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            w[i][j] = 0;
            for (int64_t k = 0; k < width; k++) {
                w[i][j] += pow(a->intensity[i * width + k] - a->intensity[j * width + k], 2);
            }
            mean += w[i][j] / (double)(n * (n - 1));
        }
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            w[i][j] = exp(-w[i][j] / (2 * bandwidth * bandwidth * mean));
            top = i == query && j != query ? fmax(top, w[i][j]) : top;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        chosen += s[i];
        f += s[i] ? w[query][i] / top : 0;
    }
    for (int64_t j = 0; j < n; j++) {
        double best = 0;
        for (int64_t i = 0; i < n; i++) {
            best = s[i] ? fmax(best, w[i][j]) : best;
        }
        f += j == query ? 0 : coverage * best * w[query][j] / top;
    }
    return chosen > most ? -INFINITY : beta * f;
}

START_TEST(f_equals_its_definition)
{
    static float grey[IMAGES * 5];
    const options o = { .most = 5, .coverage = 0.8, .bandwidth = 0.4, .beta = 2 };
    double W[IMAGES * IMAGES], C[IMAGES * IMAGES], q[IMAGES];
    sal_data data = { .rows = IMAGES, .variables = 5, .intensity = grey };
    sal_model *model = NULL;
    sal_error err;
    for (int k = 0; k < IMAGES * 5; k++) {
        grey[k] = (float)number();
    }
    ck_assert(compare_pictures(&data, o.bandwidth, W));
    ck_ok(make_model(IMAGES - 1, 6, W, &o, q, C, &model, &err), &err);
    for (int trial = 0; trial < 300; trial++) {
        int32_t s[IMAGES], v[IMAGES - 1];
        random_set(IMAGES, 0.25, s);
        s[6] = 0;
        for (int k = 0; k < IMAGES - 1; k++) {
            v[k] = s[row_of(k, 6)];
        }
        double f = value(model, v), want = retrieval_value(&data, 6, 5, 0.8, 0.4, 2, s);
        ck_assert_msg(f == want || fabs(f - want) <= 1e-11, "%g, not %g", f, want);
    }
    ck_assert_int_gt(check_submodular(model, 0.15, 0), 100);
    sal_model_destroy(model);
    memset(grey, 0, sizeof grey);
    ck_assert(!compare_pictures(&data, o.bandwidth, W));
}
END_TEST

/* ---- average precision */

/* Relevant items at ranks 1, 3 and 6: (1/1 + 2/3 + 3/6) / 3. */
START_TEST(average_precision_is_that_of_the_textbook)
{
    const double score[] = { 0.2, 0.9, 0.4, 0.7, 0.1, 0.8 };
    const bool relevant[] = { false, true, false, true, true, false };
    ck_assert_double_eq_tol(average_precision(6, score, relevant), (1 + 2.0 / 3 + 0.5) / 3, 1e-15);
}
END_TEST

/* Items of one score are retrieved together, whatever their order: .5, then 2 of 4. */
START_TEST(average_precision_does_not_see_the_order_of_ties)
{
    const double score[] = { 0.5, 0, 0.5, 0 }, turned[] = { 0, 0.5, 0, 0.5 };
    const bool relevant[] = { true, true, false, false };
    const bool turned_too[] = { false, true, true, false };
    ck_assert_double_eq_tol(average_precision(4, score, relevant), 0.5, 1e-15);
    ck_assert_double_eq_tol(average_precision(4, turned, turned_too), 0.5, 1e-15);
    const double all_same[] = { 3, 3, 3, 3, 3 };
    const bool two[] = { false, true, false, true, false };
    ck_assert_double_eq_tol(average_precision(5, all_same, two), 0.4, 1e-15);
}
END_TEST

START_TEST(average_precision_at_its_ends)
{
    const double score[] = { 3, 2, 1, -INFINITY };
    ck_assert_double_eq(average_precision(4, score, (bool[]){ true, true, false, false }), 1);
    ck_assert_double_eq(average_precision(4, score, (bool[]){ false, false, false, true }), 0.25);
    ck_assert(isnan(average_precision(4, score, (bool[]){ false, false, false, false })));
    ck_assert(isnan(average_precision(0, score, (bool[]){ false })));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("retrieval");
    TCase *all = tcase_create("all");
    tcase_add_test(all, f_equals_its_definition);
    tcase_add_test(all, average_precision_is_that_of_the_textbook);
    tcase_add_test(all, average_precision_does_not_see_the_order_of_ties);
    tcase_add_test(all, average_precision_at_its_ends);
    suite_add_tcase(suite, all);
    return test_main(suite);
}
