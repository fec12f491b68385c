/* SPDX-License-Identifier: MIT */
/* Mixtures of factorised distributions: exact answers against sums over the states and over the
 * components. */
#include "run_helpers.h"

#include "models/exact/exact.h"
#include "models/structure.h"

static sal_model *open_builtin(const char *specification)
{
    sal_model *model = NULL;
    sal_error err = { 0 };
    ck_ok(sal_model_open(specification, 0, &model, &err), &err);
    return model;
}

/* Rhodes & Gutmann 2022, eq. 19 and 20. */
static double component(int order, int k, double u)
{
    double t = order == 2 ? u + k / 25.0 : 2 * u - 1 + 3 * k / 50.0;
    return order == 2 ? 1.5 - 2 * t - 6 * pow(t, 2) : -t + pow(t, 2) - pow(t, 3) - pow(t, 4);
}

static void check_against_enumeration(const char *specification)
{
    enum { R = 40 };
    sal_model *model = open_builtin(specification);
    const char *const oracles[] = { "closed form", "enumeration" };
    static double marginals[2][R], pairs[2][R * R], covariance[2][R * R];
    sal_exact exact[2];
    sal_error err = { 0 };
    int64_t states = model->space->n_states, N = model->space->width;
    for (int k = 0; k < 2; k++) {
        sal_exact_options options = { .oracle = oracles[k] };
        ck_ok(sal_model_exact(model, &options, &exact[k], marginals[k], pairs[k], covariance[k],
                              &err),
              &err);
        ck_assert_str_eq(exact[k].oracle, oracles[k]);
    }
    ck_assert_double_eq_tol(exact[0].log_z, exact[1].log_z, 1e-12);
    ck_assert(isnan(exact[0].log_prob_mean) == !strstr(specification, "components=1,"));
    for (int64_t a = 0; a < states; a++) {
        ck_assert_double_eq_tol(marginals[0][a], marginals[1][a], 1e-12);
    }
    for (int64_t a = 0; a < states * states; a++) {
        ck_assert_double_eq_tol(pairs[0][a], pairs[1][a], 1e-12);
    }
    for (int64_t a = 0; a < N * N; a++) {
        ck_assert_double_eq_tol(covariance[0][a], covariance[1][a], 1e-12);
    }
    sal_model_destroy(model);
}

START_TEST(closed_forms_equal_enumeration)
{
    check_against_enumeration("ordinal-poly2:dim=3,components=4,levels=7");
    check_against_enumeration("ordinal-poly4:dim=3,components=50,levels=9");
    check_against_enumeration("ordinal-poly2:dim=1,components=1,levels=2");
    check_against_enumeration("ordinal-poly4:dim=4,components=1,levels=5");
    check_against_enumeration("ordinal-poly4:dim=2,components=60,levels=20");
    check_against_enumeration("ordinal-poly2:dim=3,components=4,levels=7,shift=minus");
    check_against_enumeration("ordinal-poly2:dim=3,components=4,levels=7,normalised=1");
    check_against_enumeration("ordinal-poly4:dim=3,components=5,levels=8,shift=minus,normalised=1");
    check_against_enumeration("ordinal-poly4:dim=2,components=1,levels=6,shift=minus,normalised=1");
}
END_TEST

/* The authors' program: t = u - shift, shifts evenly from 0 to 2 or 3, order 4 doubled; a mean of
 * products of distributions over the grid, so that Z = 1, and marginals are means of these. */
static double as_run(int order, int k, int components, double u)
{
    double t = u - (components > 1 ? (order == 2 ? 2.0 : 3.0) * k / (components - 1) : 0);
    return order == 2 ? 0.75 - 2 * t - 6 * pow(t, 2) : 2 * (-t + pow(t, 2) - pow(t, 3) - pow(t, 4));
}

static void check_as_run(int order, int K, int levels)
{
    enum { MOST = 50 };
    char text[100];
    snprintf(text, sizeof text,
             "ordinal-poly%d:dim=2,components=%d,levels=%d,shift=minus,normalised=1", order, K,
             levels);
    sal_model *model = open_builtin(text);
    const sal_exact_options options = { .oracle = "closed form" };
    double p[MOST][MOST], want[MOST] = { 0 }, marginals[2 * MOST], f;
    sal_exact exact;
    sal_error err = { 0 };
    for (int k = 0; k < K; k++) {
        double z = 0;
        for (int u = 0; u < levels; u++) {
            p[k][u] = exp(as_run(order, k, K, -1.5 + 4.5 * u / (levels - 1)));
            z += p[k][u];
        }
        for (int u = 0; u < levels; u++) {
            p[k][u] /= z;
            want[u] += p[k][u] / K;
        }
    }
    ck_ok(sal_model_exact(model, &options, &exact, marginals, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, 0, 1e-12);
    for (int u = 0; u < levels; u++) {
        ck_assert_double_eq_tol(marginals[u], want[u], 1e-12);
    }
    for (int32_t a = 0; a < levels; a += 3) {
        int32_t codes[2] = { a, (a + 4) % levels };
        double sum = 0;
        for (int k = 0; k < K; k++) {
            sum += p[k][codes[0]] * p[k][codes[1]] / K;
        }
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        ck_assert_double_eq_tol(f, log(sum), 1e-10 * (1 + fabs(log(sum))));
    }
    sal_model_destroy(model);
}

START_TEST(the_authors_targets_are_normalised)
{
    for (int order = 2; order <= 4; order += 2) {
        check_as_run(order, 50, 50);
        check_as_run(order, 3, 7);
        check_as_run(order, 1, 5);
    }
}
END_TEST

/* At the end of a large shift no term of the sum over levels may vanish or overflow. */
START_TEST(normalised_mixtures_have_their_log_z)
{
    static const char *const texts[] = { "ordinal-poly2:dim=300,shift=minus,normalised=1",
                                         "ordinal-poly4:dim=300,shift=minus,normalised=1",
                                         "ordinal-poly4:dim=300,normalised=1" };
    for (int k = 0; k < 3; k++) {
        sal_model *model = open_builtin(texts[k]);
        sal_exact exact;
        sal_error err = { 0 };
        ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
        ck_assert_double_eq_tol(exact.log_z, 0, 1e-8);
        sal_model_destroy(model);
    }
}
END_TEST

/* At the paper's size: Z by components, and marginals by their sums. */
START_TEST(the_papers_targets_have_their_normaliser)
{
    for (int order = 2; order <= 4; order += 2) {
        sal_model *model = open_builtin(order == 2 ? "ordinal-poly2" : "ordinal-poly4");
        double Z = 0, want[50] = { 0 }, marginals[1000];
        sal_exact exact;
        sal_error err = { 0 };
        for (int k = 1; k <= 50; k++) {
            double z = 0;
            for (int u = 0; u < 50; u++) {
                z += exp(component(order, k, -1.5 + 4.5 * u / 49));
            }
            Z += pow(z, 20);
            for (int u = 0; u < 50; u++) {
                want[u] += pow(z, 19) * exp(component(order, k, -1.5 + 4.5 * u / 49));
            }
        }
        ck_ok(sal_model_exact(model, NULL, &exact, marginals, NULL, NULL, &err), &err);
        ck_assert_str_eq(exact.oracle, "closed form");
        ck_assert_double_eq_tol(exact.log_z, log(Z), 1e-10);
        for (int a = 0; a < 1000; a++) {
            ck_assert_double_eq_tol(marginals[a], want[a % 50] / Z, 1e-11);
        }
        sal_model_destroy(model);
    }
}
END_TEST

/* Every draw of block-gibbs is independent: frequencies of one variable against its marginals. */
START_TEST(draws_are_exact_and_independent)
{
    enum { CHAINS = 10, DRAWS = 2000, V = 20, L = 50 };
    sal_model *model = open_builtin("ordinal-poly4");
    sal_run_options options = { .sampler = "block-gibbs",
                                .chains = CHAINS,
                                .warmup = 0,
                                .draws = DRAWS,
                                .seed = 4,
                                .record.draws = true };
    sal_run *run = run_it(model, &options);
    int bytes;
    const uint8_t *codes = sal_run_draws(run, &bytes);
    double marginals[V * L], pairs = 0, want = 0, counts[2][L] = { { 0 } }, expected[L];
    static double joint[V * L * V * L];
    sal_exact exact;
    sal_error err = { 0 };
    ck_assert_double_eq(summary_of(run).acceptance_rate, 1);
    ck_assert_int_eq(bytes, 1);
    ck_ok(sal_model_exact(model, NULL, &exact, marginals, joint, NULL, &err), &err);
    for (int64_t d = 0; d < CHAINS * DRAWS; d++) {
        counts[0][codes[d * V]]++;
        counts[1][codes[d * V + 7]]++;
        pairs += codes[d * V] == codes[d * V + 18];
    }
    for (int u = 0; u < L; u++) {
        expected[u] = CHAINS * DRAWS * marginals[7 * L + u]; /* and of all others */
        want += joint[u * V * L + 18 * L + u];
    }
    for (int k = 0; k < 2; k++) {
        ck_assert_double_gt(chi_square_p(L, counts[k], expected), 1e-4);
    }
    double n = CHAINS * DRAWS;
    ck_assert_double_eq_tol(pairs / n, want, 4 * sqrt(want * (1 - want) / n));
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

/* Each chain at its own temperature: draws have the density sum_k exp(beta sum_i g_k), which an
 * acceptance step corrects, and log_q is its logarithm, normalised. */
START_TEST(every_chain_has_its_temperature)
{
    enum { N = 6, STATES = 16 };
    static const double beta[N] = { 1, 0.6, 0.6, 1, 0, 1 };
    static const int64_t piece[N] = { 0 };
    sal_model *model = open_builtin("ordinal-poly2:dim=2,components=3,levels=4");
    const sali_structure *structure = model->structure;
    double total[N] = { 0 }, log_q[N], density[N], ratio[N], want[N];
    int32_t codes[2 * N];
    void *ws = NULL;
    sal_error err = { 0 };
    ck_ok(structure->open(model, N, &ws, &err), &err);
    sali_piece at = { .n = N, .piece = piece, .beta = beta, .codes = codes };
    for (int state = 0; state < STATES; state++) {
        for (int c = 0; c < N; c++) {
            codes[2 * c] = state / 4;
            codes[2 * c + 1] = state % 4;
            want[c] = 0;
            for (int k = 1; k <= 3; k++) {
                double g = component(2, k, -1.5 + 1.5 * codes[2 * c]) +
                           component(2, k, -1.5 + 1.5 * codes[2 * c + 1]);
                want[c] += exp(beta[c] * g);
            }
        }
        structure->log_density(ws, &at, density);
        structure->log_q(ws, &at, codes, NULL, log_q);
        for (int c = 0; c < N; c++) {
            ck_assert_double_eq_tol(density[c], log(want[c]), 1e-11);
            ratio[c] = state == 0 ? density[c] - log_q[c] : ratio[c];
            ck_assert_double_eq_tol(density[c] - log_q[c], ratio[c], 1e-11);
            total[c] += exp(log_q[c]);
        }
    }
    for (int c = 0; c < N; c++) {
        ck_assert_double_eq_tol(total[c], 1, 1e-12);
    }
    structure->close(ws);
    sal_model_destroy(model);
}
END_TEST

START_TEST(large_mixtures_neither_overflow_nor_vanish)
{
    sal_model *model = open_builtin("ordinal-poly4:dim=3000,levels=3,components=7");
    double want = -INFINITY;
    sal_exact exact;
    sal_error err = { 0 };
    for (int k = 1; k <= 7; k++) {
        double z = 0;
        for (int u = 0; u < 3; u++) {
            z += exp(component(4, k, -1.5 + 2.25 * u));
        }
        double more = 3000 * log(z), most = fmax(want, more);
        want = most + log(exp(want - most) + exp(more - most));
    }
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, want, 1e-9 * fabs(want));
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ordinal_mixtures");
    TCase *tcase = tcase_create("ordinal_mixtures");
    tcase_add_test(tcase, closed_forms_equal_enumeration);
    tcase_add_test(tcase, the_authors_targets_are_normalised);
    tcase_add_test(tcase, normalised_mixtures_have_their_log_z);
    tcase_add_test(tcase, the_papers_targets_have_their_normaliser);
    tcase_add_test(tcase, draws_are_exact_and_independent);
    tcase_add_test(tcase, every_chain_has_its_temperature);
    tcase_add_test(tcase, large_mixtures_neither_overflow_nor_vanish);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
