/* SPDX-License-Identifier: MIT */
/* Statistics of alignments, the Potts model made of them, and the ranking of its couplings, each
 * against its formula written out. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/saltus.h>
#include "alloc_fail.h"
#include "io/format.h"
#include "models/zoo/alignment.h"

#define Q 21

/* Letters drawn by a linear congruential generator; each sequence repeats an earlier one in about
 * half of its sites, so that similarities vary. */
static sali_alignment random_alignment(int64_t sequences, int64_t length, uint32_t seed)
{
    sali_alignment a = { .sequences = sequences,
                         .length = length,
                         .alphabet = "-ACDEFGHIKLMNPQRSTVWY" };
    a.codes = malloc((size_t)(sequences * length));
    for (int64_t r = 0; r < sequences; r++) {
        for (int64_t i = 0; i < length; i++) {
            seed = seed * 1664525u + 1013904223u;
            bool copy = r > 0 && (seed >> 8) % 100 < 70 + 10 * (r % 4);
            a.codes[r * length + i] =
                copy ? a.codes[(r / 4) * length + i] : (uint8_t)((seed >> 16) % Q);
        }
    }
    return a;
}

/* ---- weights */

/* 1 / (number of sequences within a share of sites), by sequences and sites. */
static double naive_weight(const sali_alignment *a, int64_t r, double identity)
{
    int64_t similar = 0;
    for (int64_t t = 0; t < a->sequences; t++) {
        int64_t equal = 0;
        for (int64_t i = 0; i < a->length; i++) {
            equal += a->codes[r * a->length + i] == a->codes[t * a->length + i];
        }
        similar += (double)equal >= identity * (double)a->length - 1e-9;
    }
    return 1.0 / (double)similar;
}

/* Lengths below, at and above the size of vectors and of bytes. */
START_TEST(weights_are_those_of_a_count)
{
    static const int64_t lengths[] = { 1, 5, 63, 64, 65, 75, 192, 193, 300, 513 };
    static const double identities[] = { 0, 0.5, 0.8, 1 };
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        sali_alignment a = random_alignment(60, lengths[l], 7 + (uint32_t)l);
        for (int k = 0; k < 4; k++) {
            sal_error err = { 0 };
            double weights[60], effective, sum = 0;
            ck_ok(sali_alignment_weights(&a, identities[k], weights, &effective, &err), &err);
            for (int64_t r = 0; r < 60; r++) {
                ck_assert_double_eq(weights[r], naive_weight(&a, r, identities[k]));
                sum += weights[r];
            }
            ck_assert_double_eq_tol(effective, sum, 1e-9);
        }
        free(a.codes);
    }
}
END_TEST

/* 8 of 10 sites are 80%, however 0.8 is rounded; 7 are not. */
START_TEST(the_share_itself_is_similar)
{
    sal_error err = { 0 };
    uint8_t codes[3][10] = { { 0 }, { 1, 1 }, { 2, 2, 2 } };
    sali_alignment a = { .sequences = 3, .length = 10, .codes = codes[0] };
    double weights[3], effective;
    ck_ok(sali_alignment_weights(&a, 0.8, weights, &effective, &err), &err);
    ck_assert(weights[0] == 0.5 && weights[1] == 0.5 && weights[2] == 1 && effective == 2);
    a.sequences = SALI_ALIGNMENT_PAIRED + 1;
    ck_fails(sali_alignment_weights(&a, 0.8, weights, &effective, &err), SAL_ERR_UNSUPPORTED, &err,
             "200001 sequences, whose pairs are compared; expected 200000 at most");
}
END_TEST

/* ---- frequencies */

START_TEST(frequencies_are_weighted_shares)
{
    enum { L = 4, N = L * Q, R = 25 };
    sali_alignment a = random_alignment(R, L, 3);
    double w[R], sum = 0, f[N], *F = malloc(sizeof(double) * N * N), p = 0.3;
    for (int r = 0; r < R; r++) {
        w[r] = 1.0 / (1 + r % 5);
        sum += w[r];
    }
    sali_alignment_site_frequencies(&a, w, p, f);
    sali_alignment_pair_frequencies(&a, w, p, F);
    for (int k = 0; k < N; k++) {
        double share = 0;
        for (int r = 0; r < R; r++) {
            share += w[r] / sum * (a.codes[r * L + k / Q] == k % Q);
        }
        ck_assert_double_eq_tol(f[k], (1 - p) * share + p / Q, 1e-14);
        for (int l = 0; l < N; l++) {
            double both = 0;
            for (int r = 0; r < R; r++) {
                both += w[r] / sum * (a.codes[r * L + k / Q] == k % Q) *
                        (a.codes[r * L + l / Q] == l % Q);
            }
            double want = k / Q != l / Q ? (1 - p) * both + p / Q / Q : k == l ? f[k] : 0;
            ck_assert_double_eq_tol(F[k * N + l], want, 1e-14);
        }
    }
    free(a.codes);
    free(F);
}
END_TEST

/* ---- mean-field couplings */

/* Solve A X = B for square A [n x n], B [n x n] by elimination with pivots; B becomes X. */
static void solve(int n, double *A, double *B)
{
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++) {
            pivot = fabs(A[i * n + k]) > fabs(A[pivot * n + k]) ? i : pivot;
        }
        for (int j = 0; j < n; j++) {
            double t = A[k * n + j], u = B[k * n + j];
            A[k * n + j] = A[pivot * n + j];
            A[pivot * n + j] = t;
            B[k * n + j] = B[pivot * n + j];
            B[pivot * n + j] = u;
        }
        for (int i = 0; i < n; i++) {
            double factor = i == k ? 0 : A[i * n + k] / A[k * n + k];
            for (int j = 0; j < n; j++) {
                A[i * n + j] -= factor * A[k * n + j];
                B[i * n + j] -= factor * B[k * n + j];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            B[i * n + j] /= A[i * n + i];
        }
    }
}

/* The couplings of the covariance without the last letter (the code leaves out the first), by
 * another way of inversion, in the zero-sum gauge: gauges do not change what that is. */
static void naive_mean_field(int L, const double *F, double *J)
{
    int N = L * Q, M = L * (Q - 1);
    double *C = calloc((size_t)(M * M), sizeof *C), *X = calloc((size_t)(M * M), sizeof *X);
    for (int k = 0; k < M; k++) {
        int row = k / (Q - 1) * Q + k % (Q - 1);
        X[k * M + k] = 1;
        for (int l = 0; l < M; l++) {
            int column = l / (Q - 1) * Q + l % (Q - 1);
            C[k * M + l] = F[row * N + column] - F[row * N + row] * F[column * N + column];
        }
    }
    solve(M, C, X);
    for (int i = 0; i < L; i++) {
        for (int j = 0; j < L; j++) {
            double e[Q][Q] = { { 0 } };
            for (int a = 0; a < Q - 1; a++) {
                for (int b = 0; b < Q - 1; b++) {
                    e[a][b] = i == j ? 0 : -X[(i * (Q - 1) + a) * M + j * (Q - 1) + b];
                }
            }
            for (int a = 0; a < Q; a++) {
                for (int b = 0; b < Q; b++) {
                    double value = e[a][b];
                    for (int c = 0; c < Q; c++) {
                        value -= (e[c][b] + e[a][c]) / Q;
                        for (int d = 0; d < Q; d++) {
                            value += e[c][d] / (Q * Q);
                        }
                    }
                    J[(i * Q + a) * N + j * Q + b] = value;
                }
            }
        }
    }
    free(C);
    free(X);
}

START_TEST(mean_field_inverts_the_covariance)
{
    enum { L = 4, N = L * Q, R = 40 };
    sal_error err = { 0 };
    sali_alignment a = random_alignment(R, L, 11);
    double w[R], f[N], h[N], mean[L] = { 0 };
    double *F = malloc(sizeof(double) * N * N), *J = malloc(sizeof(double) * N * N);
    double *want = malloc(sizeof(double) * N * N), largest = 0;
    for (int r = 0; r < R; r++) {
        w[r] = 1;
    }
    sali_alignment_pair_frequencies(&a, w, 0.5, F);
    sali_alignment_site_frequencies(&a, w, 0.5, f);
    naive_mean_field(L, F, want);
    ck_ok(sali_alignment_mean_field(L, Q, F, J, &err), &err);
    for (int k = 0; k < N * N; k++) {
        ck_assert_double_eq_tol(J[k], want[k], 1e-9);
        largest = fmax(largest, fabs(J[k]));
    }
    ck_assert_double_ge(largest, 0.1);
    sali_alignment_fields(L, Q, f, J, h);
    for (int k = 0; k < N; k++) {
        mean[k / Q] += h[k] / Q;
    }
    for (int k = 0; k < N; k += 5) { /* differences within a site, where constants cancel */
        int first = k / Q * Q;
        double d = log(f[k] / f[first]);
        ck_assert_double_eq_tol(mean[k / Q], 0, 1e-12);
        for (int l = 0; l < N; l++) {
            d -= (want[k * N + l] - want[first * N + l]) * f[l];
        }
        ck_assert_double_eq_tol(h[k] - h[first], d, 1e-9);
    }
    ck_alloc_sweep(sali_alignment_mean_field(L, Q, F, J, &err), (void)0);
    ck_ok(sali_alignment_mean_field(L, Q, F, F, &err), &err); /* in place */
    ck_assert_mem_eq(F, J, sizeof(double) * N * N);
    memset(F, 0, sizeof(double) * N * N);
    ck_fails(sali_alignment_mean_field(L, Q, F, J, &err), SAL_ERR_DATA, &err, "larger pseudocount");
    free(a.codes);
    free(F);
    free(J);
    free(want);
}
END_TEST

/* ---- the model */

static const char family[] = "ACDE-\nACDEF\nACDQ-\nWCDEY\nWCKEY\nGCKE-\n";

static sal_model *open_model(const char *keys, const char *text, sal_dtype dtype)
{
    char specification[600];
    sal_error err = { 0 };
    sal_model *model = NULL;
    snprintf(specification, sizeof specification, "potts-alignment:%sfile=%s", keys,
             temp_write("a.aln", text, strlen(text)));
    ck_ok(sal_model_open(specification, dtype, &model, &err), &err);
    ck_assert_str_eq(sal_model_name(model), specification);
    return model;
}

/* f by its double sum, with the model's parameters. */
static double energy(int L, const double *J, const double *h, const int32_t *s)
{
    double f = 0;
    for (int i = 0; i < L; i++) {
        f += h[i * Q + s[i]];
        for (int j = i + 1; j < L; j++) {
            f += J[(i * Q + s[i]) * L * Q + j * Q + s[j]];
        }
    }
    return f;
}

START_TEST(model_is_the_potts_model_of_its_parameters)
{
    enum { L = 5, N = L * Q };
    sal_error err = { 0 };
    sal_model *model = open_model("identity=1,", family, SAL_F64);
    double *J = malloc(sizeof(double) * N * N), h[N], f, g[N], differences[N], site[N], sixth[6];
    double *F = malloc(sizeof(double) * N * N), *want = malloc(sizeof(double) * N * N);
    int32_t s[L] = { 1, 7, 20, 0, 13 };
    sali_content content = { 0 };
    ck_ok(sal_model_get_params(model, "J", J, &err), &err);
    ck_ok(sal_model_get_params(model, "h", h, &err), &err);
    /* the parameters are those of the frequencies: all sequences differ, so weights are 1 */
    ck_ok(sali_content_read(temp_path("a.aln"), NULL, 0, &content, NULL, &err), &err);
    for (int r = 0; r < 6; r++) {
        sixth[r] = 1.0 / 6;
    }
    sali_alignment_pair_frequencies(&content.alignment, sixth, 0.5, F);
    sali_alignment_site_frequencies(&content.alignment, sixth, 0.5, site);
    naive_mean_field(L, F, want);
    for (int k = 0; k < N * N; k++) {
        ck_assert_double_eq_tol(J[k], want[k], 1e-9);
    }
    ck_ok(sal_model_evaluate(model, 1, s, &f, g, differences, &err), &err);
    ck_assert_double_eq_tol(f, energy(L, J, h, s), 1e-12);
    for (int i = 0; i < L; i++) {
        for (int a = 0; a < Q; a++) {
            int32_t old = s[i];
            double gradient = h[i * Q + a];
            for (int j = 0; j < L; j++) {
                gradient += j == i ? 0 : J[(i * Q + a) * N + j * Q + s[j]];
            }
            ck_assert_double_eq_tol(g[i * Q + a], gradient, 1e-12);
            s[i] = a;
            ck_assert_double_eq_tol(differences[i * Q + a], energy(L, J, h, s) - f, 1e-12);
            s[i] = old;
        }
    }
    sali_content_free(&content);
    sal_model_destroy(model);
    free(J);
    free(F);
    free(want);
}
END_TEST

/* couplings=zero: sites are independent, with the weighted frequencies. Two of three sequences
 * count half. */
START_TEST(without_couplings_marginals_are_the_frequencies)
{
    sal_error err = { 0 };
    sal_model *model = open_model("couplings=zero,pseudocount=0.1,", "AC\nAC\nWY\n", SAL_F64);
    double J[42 * 42], marginals[42];
    ck_ok(sal_model_get_params(model, "J", J, &err), &err);
    for (int k = 0; k < 42 * 42; k++) {
        ck_assert_double_eq(J[k], 0);
    }
    ck_ok(sal_model_exact(model, NULL, &(sal_exact){ 0 }, marginals, NULL, NULL, &err), &err);
    for (int k = 0; k < 42; k++) {
        bool seen = k == 1 || k == 19 || k == 23 || k == 41; /* A, W; C, Y */
        ck_assert_double_eq_tol(marginals[k], 0.1 / Q + (seen ? 0.9 / 2 : 0), 1e-12);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(training_starts_from_the_frequencies_of_the_data)
{
    sal_error err = { 0 };
    sal_model *model = open_model("", "AC\nAC\nWY\n", SAL_F64);
    uint8_t codes[8] = { 1, 1, 1, 2, 1, 1, 1, 1 };
    sal_data data = { .rows = 4, .variables = 2, .codes = codes };
    double marginals[42], J[42 * 42];
    ck_ok(sal_model_train_start(model, sal_model_name(model), &data, 0, &err), &err);
    ck_ok(sal_model_get_params(model, "J", J, &err), &err);
    for (int k = 0; k < 42 * 42; k++) {
        ck_assert_double_eq(J[k], 0);
    }
    ck_ok(sal_model_exact(model, NULL, &(sal_exact){ 0 }, marginals, NULL, NULL, &err), &err);
    for (int k = 0; k < 42; k++) {
        double share = k == 1 ? 1 : k == 22 ? 0.75 : k == 23 ? 0.25 : 0;
        ck_assert_double_eq_tol(marginals[k], 0.01 / Q + 0.99 * share, 1e-12);
    }
    sal_model_destroy(model);
}
END_TEST

/* Five states a site; another alphabet if it is asked for. */
START_TEST(rna_has_five_states)
{
    static const char rna[] = "ACGU\nACGU\nGGCN\nCUG-\n";
    sal_error err = { 0 };
    sal_model *model = open_model("couplings=zero,pseudocount=0.1,", rna, SAL_F64);
    double marginals[84], expected[] = { 0.02, 0.32, 0.32, 0.32, 0.02 }; /* of the first site */
    ck_assert_int_eq(sal_space_width(sal_model_space(model)), 20);
    ck_ok(sal_model_exact(model, NULL, &(sal_exact){ 0 }, marginals, NULL, NULL, &err), &err);
    for (int k = 0; k < 5; k++) {
        ck_assert_double_eq_tol(marginals[k], expected[k], 1e-12);
    }
    ck_assert_double_eq_tol(marginals[15], 0.02 + 0.9 * 2 / 3, 1e-12); /* N is a gap */
    sal_model_destroy(model);
    model = open_model("", rna, SAL_F64); /* mean-field couplings */
    ck_assert_int_eq(sal_space_width(sal_model_space(model)), 20);
    sal_model_destroy(model);
    model = open_model("alphabet=dna,", rna, SAL_F64);
    ck_assert_int_eq(sal_space_width(sal_model_space(model)), 20);
    sal_model_destroy(model);
    model = open_model("alphabet=protein,couplings=zero,pseudocount=0.1,", rna, SAL_F64);
    ck_assert_int_eq(sal_space_width(sal_model_space(model)), 84);
    sal_model_destroy(model);
    model = open_model("alphabet=rna,", "ACDE\nGGCN\n", SAL_F64);
    ck_assert_int_eq(sal_space_width(sal_model_space(model)), 20);
    sal_model_destroy(model);
}
END_TEST

/* The letters of an alphabet of one's own are the states, in its order, and stay with the model. */
START_TEST(a_model_keeps_the_letters_of_its_alphabet)
{
    static const struct {
        const char *setting, *text, *letters;
        int64_t states;
    } cases[] = {
        { "alphabet=-BA,", "AB-\nBBA\nAAX\n", "-BA", 3 },
        { "alphabet=-abAB,", "aB\nbA\n", "-abAB", 5 },
        { "alphabet=AB,", "AB-\nBBA\nAAX\nABA\n", "AB", 2 },
        { "alphabet=dna,", "ACGU\nGGCN\n", "-ACGT", 5 },
        { "", "ACGU\nGGCN\n", "-ACGU", 5 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_error err = { 0 };
        sal_model *model = open_model(cases[k].setting, cases[k].text, SAL_F64), *back = NULL;
        ck_assert_int_eq(sal_space_states(sal_model_space(model), 0), cases[k].states);
        ck_assert_str_eq(sal_space_block(sal_model_space(model), 0)->letters, cases[k].letters);
        ck_ok(sal_model_save(model, temp_path("m.xml"), &err), &err);
        ck_ok(sal_model_open(temp_path("m.xml"), 0, &back, &err), &err);
        ck_assert_str_eq(sal_space_block(sal_model_space(back), 0)->letters, cases[k].letters);
        sal_model_destroy(back);
        sal_model_destroy(model);
    }
    /* h of independent sites is the log of the share of each letter, in the order of the alphabet
     */
    sal_error err = { 0 };
    sal_model *model = open_model("alphabet=-BA,couplings=zero,pseudocount=0.1,identity=1,",
                                  "AA\nAB\nBA\nA-\n", SAL_F64);
    double h[6];
    const double expected[] = { 0.1 / 3, 0.9 / 4 + 0.1 / 3, 0.9 * 3 / 4 + 0.1 / 3 };
    ck_ok(sal_model_get_params(model, "h", h, &err), &err);
    for (int a = 0; a < 3; a++) {
        ck_assert_double_eq_tol(exp(h[a]) / (exp(h[0]) + exp(h[1]) + exp(h[2])), expected[a],
                                1e-12);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(what_is_no_alignment_is_refused)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    char specification[600], *text = malloc(1000);
    ck_fails(sal_model_open("potts-alignment", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "potts-alignment is made of an alignment: potts-alignment:file=PATH");
    snprintf(specification, sizeof specification, "potts-alignment:pseudocount=0,file=%s",
             temp_write("a.aln", "AC\n", 3));
    ck_fails(sal_model_open(specification, 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "pseudocount=0; expected a number from 0.001 to 1");
    memset(text, 'A', 1000);
    ck_fails(sal_model_open(temp_write("a.aln", text, 953), 0, &model, &err), SAL_ERR_DATA, &err,
             "953 sites; expected 952 at most");
    free(text);
    snprintf(specification, sizeof specification, "potts-alignment:alphabet=x,file=%s",
             temp_path("a.aln"));
    ck_fails(sal_model_open(specification, 0, &model, &err), SAL_ERR_ARGUMENT, &err, "alphabet=x");
}
END_TEST

START_TEST(the_public_alignment_makes_a_model)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sali_content content = { 0 };
    double weights[3068], effective;
    const char *path = test_data("data/1atzA.aln");
    if (!path) {
        return;
    }
    ck_ok(sali_content_read(path, NULL, 0, &content, NULL, &err), &err);
    ck_ok(sali_alignment_weights(&content.alignment, 0.8, weights, &effective, &err), &err);
    for (int64_t r = 0; r < 3068; r += 61) {
        ck_assert_double_eq(weights[r], naive_weight(&content.alignment, r, 0.8));
    }
    ck_assert(effective > 500 && effective < 3068);
    sali_content_free(&content);
    ck_ok(sal_model_open(path, 0, &model, &err), &err);
    ck_assert_int_eq(sal_space_variables(sal_model_space(model)), 75);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("alignment");
    TCase *statistics = tcase_create("statistics");
    tcase_add_test(statistics, weights_are_those_of_a_count);
    tcase_add_test(statistics, the_share_itself_is_similar);
    tcase_add_test(statistics, frequencies_are_weighted_shares);
    tcase_add_test(statistics, mean_field_inverts_the_covariance);
    suite_add_tcase(suite, statistics);
    TCase *model = tcase_create("model");
    tcase_add_checked_fixture(model, temp_dir_make, temp_dir_remove);
    tcase_add_test(model, model_is_the_potts_model_of_its_parameters);
    tcase_add_test(model, without_couplings_marginals_are_the_frequencies);
    tcase_add_test(model, training_starts_from_the_frequencies_of_the_data);
    tcase_add_test(model, rna_has_five_states);
    tcase_add_test(model, a_model_keeps_the_letters_of_its_alphabet);
    tcase_add_test(model, what_is_no_alignment_is_refused);
    tcase_add_test(model, the_public_alignment_makes_a_model);
    suite_add_tcase(suite, model);
    return test_main(suite);
}
