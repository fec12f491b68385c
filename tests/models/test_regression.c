/* SPDX-License-Identifier: MIT */
/* The sparse regression posterior against the paper's matrices, D x D and eliminated plainly. */
#include "test.h"

#include <math.h>

#include "core/rng.h"
#include "models/zoo/builtin.h"

#define CLOSE(a, b, tolerance)                                                                  \
    ck_assert_msg(fabs((a) - (b)) <= (tolerance) * (1 + fabs(b)), "%s = %.17g, %s = %.17g", #a, \
                  (double)(a), #b, (double)(b))

#define MOST 20

/* Data and prior. */
typedef struct problem {
    int N, D;
    double X[24][MOST], y[24];
    double g, lambda, alpha_sigma, beta_sigma, alpha_pi, beta_pi;
} problem;

/* log |M| by elimination with pivots; b becomes M^-1 b. */
static double eliminate(int n, double M[MOST][MOST], double *b)
{
    double log_det = 0;
    for (int k = 0; k < n; k++) {
        int top = k;
        for (int i = k; i < n; i++) {
            top = fabs(M[i][k]) > fabs(M[top][k]) ? i : top;
        }
        for (int j = 0; j < n; j++) {
            double keep = M[k][j];
            M[k][j] = M[top][j];
            M[top][j] = keep;
        }
        double keep = b[k];
        b[k] = b[top];
        b[top] = keep;
        log_det += log(fabs(M[k][k]));
        for (int i = 0; i < n; i++) {
            double factor = i == k ? 0 : M[i][k] / M[k][k];
            for (int j = k; j < n; j++) {
                M[i][j] -= factor * M[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for (int k = 0; k < n; k++) {
        b[k] /= M[k][k];
    }
    return log_det;
}

/* log |factor X_s'X_s + lambda I| and, if solved is not NULL, that matrix inverse times X_s'y. */
static double log_det_of(const problem *p, const double *s, double factor, double *solved)
{
    double M[MOST][MOST], b[MOST];
    for (int i = 0; i < p->D; i++) {
        b[i] = 0;
        for (int n = 0; n < p->N; n++) {
            b[i] += s[i] * p->X[n][i] * p->y[n];
        }
        for (int j = 0; j < p->D; j++) {
            M[i][j] = i == j ? p->lambda : 0;
            for (int n = 0; n < p->N; n++) {
                M[i][j] += factor * s[i] * p->X[n][i] * s[j] * p->X[n][j];
            }
        }
    }
    double log_det = eliminate(p->D, M, b);
    if (solved) {
        memcpy(solved, b, sizeof b);
    }
    return log_det;
}

/* Equation 46 with its square root and inverse, at any real s. */
static double posterior(const problem *p, const double *s)
{
    double solved[MOST], k = 0, rest = 2 * p->beta_sigma;
    double A = log_det_of(p, s, 1 / p->g, NULL);
    double B = log_det_of(p, s, (1 + p->g) / p->g, solved);
    for (int n = 0; n < p->N; n++) {
        double fit = 0;
        for (int i = 0; i < p->D; i++) {
            fit += p->X[n][i] * s[i] * solved[i];
        }
        rest += p->y[n] * (p->y[n] - fit);
    }
    for (int i = 0; i < p->D; i++) {
        k += s[i];
    }
    return lgamma(k + p->alpha_pi) + lgamma(p->D - k + p->beta_pi) + (A - B) / 2 -
           (p->alpha_sigma + p->N / 2.0) * log(rest);
}

static problem paper_problem(int D, int N, uint64_t seed)
{
    problem p = { .N = N,
                  .D = D,
                  .g = N,
                  .lambda = 1e-3,
                  .alpha_sigma = 0.1,
                  .beta_sigma = 0.1,
                  .alpha_pi = 1e-3,
                  .beta_pi = 10 };
    for (int n = 0; n < N; n++) {
        sali_stream stream = { .seed = seed, .step = (uint64_t)n, .purpose = SALI_RNG_PARAMS };
        for (int j = 0; j < D; j++) {
            p.X[n][j] = sali_rng_below(&stream, (uint32_t)(j % 5), 3);
            p.y[n] += j < 5 ? p.X[n][j] : 0;
        }
    }
    return p;
}

static sal_model *open_builtin(const char *specification)
{
    sal_model *model = NULL;
    sal_error err = { 0 };
    ck_ok(sal_model_open(specification, 0, &model, &err), &err);
    return model;
}

/* ---- f */

START_TEST(f_is_the_papers_posterior_at_every_size_of_selection)
{
    problem p = paper_problem(20, 20, 0);
    sal_model *model = open_builtin("regression");
    sal_error err = { 0 };
    const double off = 80 * log(0.999), on = log(0.001 / 0.999);
    for (uint32_t k = 0; k <= 60; k++) {
        int32_t codes[100] = { 0 };
        double s[MOST], f, u[100];
        sali_stream stream = { .seed = 1, .chain = k, .purpose = SALI_RNG_TEST };
        sali_rng_uniform_f64(&stream, 100, u);
        for (int i = 0; i < 100; i++) { /* k = 0: none; 20: all */
            codes[i] = i < 20 ? k > 20 ? u[i] < 0.5 : i < (int)k : k > 30 && u[i] < 0.1;
        }
        double want = off;
        for (int i = 0; i < 100; i++) {
            want += i >= 20 && codes[i] ? on : 0;
            s[i < 20 ? i : 19] = codes[i < 20 ? i : 19];
        }
        want += posterior(&p, s);
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        CLOSE(f, want, 1e-9);
    }
    sal_model_destroy(model);
}
END_TEST

/* A table of numbers without repeated columns, all settings unlike their defaults. */
static const problem unlike = {
    .N = 6,
    .D = 4,
    .X = { { 0.3, -1.2, 0, 2 },
           { 1.1, 0.4, -0.7, 0 },
           { -2, 0.9, 1.6, 0.2 },
           { 0.5, 0.1, 0.8, -1.3 },
           { 0, -0.6, 1.9, 0.7 },
           { 1.4, 1, -0.2, 0.1 } },
    .y = { 1, -0.3, 2.2, 0.4, -1.7, 0.9 },
    .g = 3,
    .lambda = 0.2,
    .alpha_sigma = 1.5,
    .beta_sigma = 0.7,
    .alpha_pi = 0.5,
    .beta_pi = 2,
};
#define UNLIKE                                                                                    \
    "regression:g=3,lambda=0.2,alpha_sigma=1.5,beta_sigma=0.7,alpha_pi=0.5,beta_pi=2,irrelevant=" \
    "2,p=0.3"

static sal_status open_table(const char *specification, int64_t rows, int64_t columns,
                             double *values, sal_model **model, sal_error *err)
{
    sali_content content = { .kind = SALI_CONTENT_ARRAY,
                             .array = { .ndim = 2,
                                        .shape = { rows, columns },
                                        .count = rows * columns,
                                        .values = values } };
    return sali_builtin_make(specification, &content, 0, model, err);
}

static sal_model *open_unlike(void)
{
    double table[6 * 5];
    sal_model *model = NULL;
    sal_error err = { 0 };
    for (int n = 0; n < 6; n++) {
        memcpy(table + 5 * n, unlike.X[n], 4 * sizeof *table);
        table[5 * n + 4] = unlike.y[n];
    }
    ck_ok(open_table(UNLIKE, 6, 5, table, &model, &err), &err);
    return model;
}

START_TEST(a_table_gives_columns_of_x_and_last_y)
{
    sal_model *model = open_unlike();
    sal_error err = { 0 };
    ck_assert_int_eq(sal_space_variables(sal_model_space(model)), 6);
    for (int set = 0; set < 1 << 6; set++) {
        int32_t codes[6];
        double s[6], f, delta[12];
        for (int i = 0; i < 6; i++) {
            s[i] = codes[i] = set >> i & 1;
        }
        double want = posterior(&unlike, s) + 2 * log(0.7) + (s[4] + s[5]) * log(0.3 / 0.7);
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, delta, &err), &err);
        CLOSE(f, want, 1e-12);
        for (int i = 0; i < 4; i++) {
            double here = posterior(&unlike, s);
            s[i] = 1 - s[i];
            CLOSE(delta[2 * i + 1 - codes[i]], posterior(&unlike, s) - here, 1e-11);
            s[i] = 1 - s[i];
            ck_assert_double_eq(delta[2 * i + codes[i]], 0);
        }
    }
    sal_model_destroy(model);
}
END_TEST

/* At states and between them, where the columns are s_i X_i. */
START_TEST(gradient_is_that_of_the_papers_matrices)
{
    sal_model *model = open_unlike();
    sal_error err = { 0 };
    for (uint32_t k = 0; k < 40; k++) {
        double s[6], u[6], f, gradient[6];
        sali_stream stream = { .seed = 2, .chain = k, .purpose = SALI_RNG_TEST };
        sali_rng_uniform_f64(&stream, 6, u);
        for (int i = 0; i < 6; i++) {
            s[i] = k < 20 ? u[i] < 0.5 : 1.4 * u[i] - 0.1;
        }
        ck_ok(sal_model_evaluate_at(model, 1, s, &f, gradient, &err), &err);
        CLOSE(f, posterior(&unlike, s) + 2 * log(0.7) + (s[4] + s[5]) * log(0.3 / 0.7), 1e-11);
        for (int i = 0; i < 4; i++) {
            const double h = 1e-5, here = s[i];
            s[i] = here + h;
            double up = posterior(&unlike, s);
            s[i] = here - h;
            double down = posterior(&unlike, s);
            s[i] = here;
            CLOSE(gradient[i], (up - down) / (2 * h), 1e-6);
        }
        CLOSE(gradient[5], log(0.3 / 0.7), 1e-12);
    }
    sal_model_destroy(model);
}
END_TEST

/* Slopes stay small where columns repeat each other, all selected. */
START_TEST(slopes_at_repeated_columns_are_bounded)
{
    sal_model *model = open_builtin("regression:irrelevant=0");
    double s[20], f, gradient[20];
    sal_error err = { 0 };
    for (int i = 0; i < 20; i++) {
        s[i] = 1;
    }
    ck_ok(sal_model_evaluate_at(model, 1, s, &f, gradient, &err), &err);
    for (int i = 0; i < 20; i++) {
        ck_assert_double_lt(fabs(gradient[i]), 50);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(single_precision_agrees)
{
    sal_model *model = open_builtin("regression"), *rough = NULL;
    sal_error err = { 0 };
    ck_ok(sal_model_open("regression", SAL_F32, &rough, &err), &err);
    for (uint32_t k = 0; k < 30; k++) {
        int32_t codes[100] = { 0 };
        double f, g, u[20];
        sali_stream stream = { .seed = 3, .chain = k, .purpose = SALI_RNG_TEST };
        sali_rng_uniform_f64(&stream, 20, u);
        for (int i = 0; i < 20; i++) {
            codes[i] = u[i] < 0.5;
        }
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        ck_ok(sal_model_evaluate(rough, 1, codes, &g, NULL, NULL, &err), &err);
        ck_assert_double_eq_tol(f, g, 0.05);
    }
    sal_model_destroy(rough);
    sal_model_destroy(model);
}
END_TEST

/* ---- exact answers */

/* The copies of a covariate are alike: f depends on how many of each are selected. */
START_TEST(exact_marginals_are_those_of_counts_of_copies)
{
    enum { COPIES = TEST_SANITIZED ? 3 : 4, D = 5 * COPIES, EACH = COPIES + 1, IRRELEVANT = 30 };
    enum { COUNTS = EACH * EACH * EACH * EACH * EACH, R = 2 * (D + IRRELEVANT) };
    static const double ways[2][5] = { { 1, 3, 3, 1 }, { 1, 4, 6, 4, 1 } };
    static double f[COUNTS], marginals[R], pairs[R * R];
    problem p = paper_problem(D, 20, 0);
    double z = 0, largest = -INFINITY, want[5] = { 0 }, both = 0, mean = 0;
    for (int index = 0; index < COUNTS; index++) {
        double s[MOST] = { 0 };
        for (int j = 0, rest = index; j < 5; j++, rest /= EACH) {
            for (int copy = 0; copy < rest % EACH; copy++) {
                s[5 * copy + j] = 1;
            }
        }
        f[index] = posterior(&p, s);
        largest = fmax(largest, f[index]);
    }
    for (int index = 0; index < COUNTS; index++) {
        double w = exp(f[index] - largest);
        int first = index % EACH;
        for (int j = 0, rest = index; j < 5; j++, rest /= EACH) {
            w *= ways[COPIES - 3][rest % EACH];
        }
        z += w;
        mean += w * f[index];
        for (int j = 0, rest = index; j < 5; j++, rest /= EACH) {
            want[j] += w * (rest % EACH) / COPIES;
        }
        both += w * first * (first - 1) / (COPIES * (COPIES - 1)); /* of two copies */
    }
    char specification[64];
    snprintf(specification, sizeof specification, "regression:dim=%d,irrelevant=%d", D, IRRELEVANT);
    sal_model *model = open_builtin(specification);
    sal_exact exact;
    sal_error err = { 0 };
    ck_ok(sal_model_exact(model, NULL, &exact, marginals, pairs, NULL, &err), &err);
    ck_assert_str_eq(exact.oracle, "elimination");
    CLOSE(exact.log_z, largest + log(z), 1e-10);
    const double bernoulli = 0.001 * log(0.001) + 0.999 * log(0.999);
    CLOSE(exact.log_prob_mean, mean / z + IRRELEVANT * bernoulli, 1e-9);
    for (int i = 0; i < D; i++) {
        CLOSE(marginals[2 * i + 1], want[i % 5] / z, 1e-10);
        ck_assert(COPIES == 3 || (marginals[2 * i + 1] > 0.27 && marginals[2 * i + 1] < 0.36));
    }
    CLOSE(marginals[2 * (D + 17) + 1], 0.001, 1e-12);
    CLOSE(pairs[1 * R + 2 * 5 + 1], both / z, 1e-10); /* columns 0 and 5 */
    CLOSE(pairs[3 * R + 2 * (D + 17) + 1], want[1] / z * 0.001, 1e-12);
    sal_model_destroy(model);
}
END_TEST

/* ---- bad input */

START_TEST(bad_tables_are_refused)
{
    sal_model *model = NULL;
    sal_error err = { 0 };
    double table[] = { 1, 2, 3, NAN, 1e101, 0, 1e9, 1e9 };
    ck_fails(open_table("regression", 1, 1, table, &model, &err), SAL_ERR_DATA, &err, "1 columns");
    ck_fails(open_table("regression", 2, 2, table, &model, &err), SAL_ERR_DATA, &err,
             "row 1, column 1 is nan");
    ck_fails(open_table("regression", 1, 2, table + 4, &model, &err), SAL_ERR_DATA, &err,
             "row 0, column 0 is 1e+101");
    ck_fails(open_table("regression", 1, 2, table + 6, &model, &err), SAL_ERR_ARGUMENT, &err,
             "lambda = 0.001 is lost beside (1 + 1/g) X'X");
    ck_fails(sal_model_open("regression:g=1e-12", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "is lost");
    sali_content flat = { .kind = SALI_CONTENT_ARRAY,
                          .array = { .ndim = 1, .shape = { 3 }, .count = 3, .values = table } };
    ck_fails(sali_builtin_make("regression", &flat, 0, &model, &err), SAL_ERR_DATA, &err,
             "1 dimensions");
    ck_fails(sal_model_open("regression:dim=4", 0, &model, &err), SAL_ERR_ARGUMENT, &err, "dim");
    ck_fails(sal_model_open("regression:p=0", 0, &model, &err), SAL_ERR_ARGUMENT, &err, "p");
    ck_assert_ptr_null(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("regression");
    TCase *tcase = tcase_create("regression");
    tcase_add_test(tcase, f_is_the_papers_posterior_at_every_size_of_selection);
    tcase_add_test(tcase, a_table_gives_columns_of_x_and_last_y);
    tcase_add_test(tcase, gradient_is_that_of_the_papers_matrices);
    tcase_add_test(tcase, slopes_at_repeated_columns_are_bounded);
    tcase_add_test(tcase, single_precision_agrees);
    tcase_add_test(tcase, exact_marginals_are_those_of_counts_of_copies);
    tcase_add_test(tcase, bad_tables_are_refused);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
