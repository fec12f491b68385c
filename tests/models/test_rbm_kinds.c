/* SPDX-License-Identifier: MIT */
/* The model rbm with visible and hidden units of all kinds: f against sums over the hidden units or
 * integrals, exact answers, starting values, and settings that contradict each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "exact_answers.h"
#include "tiny_models.h"

enum { VISIBLE = 4, HIDDEN = 3, STATES = 3, MOST = 64 };

static const char *const kinds[] = { "binary", "spin", "categorical", "ordinal" };
static const char *const hidden_kinds[] = { "binary", "spin", "gaussian", "drelu" };
enum { BINARY, SPIN, CATEGORICAL, ORDINAL, N_KINDS, NORMAL = 2, DRELU, N_HIDDEN };

static int states_of(int kind)
{
    return kind == BINARY || kind == SPIN ? 2 : STATES;
}

static const char *specification(int kind, int hidden, int visible)
{
    static char text[200];
    snprintf(text, sizeof text, "rbm:visible=%d,hidden=%d,kind=%s,states=%d,hidden_kind=%s",
             visible, HIDDEN, kinds[kind], states_of(kind), hidden_kinds[hidden]);
    return text;
}

static sal_model *open_rbm(int kind, int hidden)
{
    double flat[MOST];
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification(kind, hidden, VISIBLE), SAL_F64, &model, &err), &err);
    ck_assert_int_le(sal_model_parameters_size(model), MOST);
    tiny_normals(71, sal_model_parameters_size(model), 0.8, flat);
    ck_ok(sal_model_set_params(model, NULL, flat, &err), &err);
    return model;
}

/* The reals that stand for a code, written into x; returns how many. */
static int embed(int kind, int code, double *x)
{
    if (kind != CATEGORICAL) {
        x[0] = kind == SPIN ? 2 * code - 1 : kind == ORDINAL ? code / (STATES - 1.0) : code;
        return 1;
    }
    for (int s = 0; s < STATES; s++) {
        x[s] = s == code;
    }
    return STATES;
}

/* log of the integral of exp(h a - U(h)) / sqrt(2 pi): the midpoint rule, whose error at the kink
 * of U is below 1e-9. */
static double drelu(double a, double delta, double atanh_eta)
{
    const double step = 5e-4, eta = tanh(atanh_eta);
    double sum = 0;
    for (double size = step / 2; size < 25; size += step) {
        sum += exp(size * a - size * size / (2 * (1 + eta)) - delta * size);
        sum += exp(-size * a - size * size / (2 * (1 - eta)) - delta * size);
    }
    return log(sum * step / sqrt(2 * acos(-1)));
}

/* b'x + the sum over hidden units of log sum_h exp(h a), of a^2 / 2, or of log of an integral. */
static double formula(const sal_model *model, int kind, int hidden, const int32_t *codes)
{
    double W[HIDDEN * VISIBLE * STATES], b[VISIBLE * STATES], c[HIDDEN], x[VISIBLE * STATES];
    double delta[HIDDEN] = { 0 }, atanh_eta[HIDDEN] = { 0 };
    int N = 0;
    double sum = 0;
    sal_error err;
    for (int v = 0; v < VISIBLE; v++) {
        N += embed(kind, codes[v], x + N);
    }
    ck_ok(sal_model_get_params(model, "W", W, &err), &err);
    ck_ok(sal_model_get_params(model, "b", b, &err), &err);
    ck_ok(sal_model_get_params(model, "c", c, &err), &err);
    if (hidden == DRELU) {
        ck_ok(sal_model_get_params(model, "delta", delta, &err), &err);
        ck_ok(sal_model_get_params(model, "atanh_eta", atanh_eta, &err), &err);
    }
    for (int i = 0; i < N; i++) {
        sum += b[i] * x[i];
    }
    for (int k = 0; k < HIDDEN; k++) {
        double a = c[k];
        for (int i = 0; i < N; i++) {
            a += W[k * N + i] * x[i];
        }
        sum += hidden == NORMAL  ? a * a / 2
               : hidden == DRELU ? drelu(a, delta[k], atanh_eta[k])
               : hidden == SPIN  ? log(exp(a) + exp(-a))
                                 : log(1 + exp(a));
    }
    return sum;
}

START_TEST(f_is_the_sum_over_hidden_units_of_any_kind)
{
    for (int kind = 0; kind < N_KINDS; kind++) {
        for (int hidden = 0; hidden < N_HIDDEN; hidden++) {
            sal_model *model = open_rbm(kind, hidden);
            int32_t codes[VISIBLE] = { 0 };
            sal_error err;
            double f = NAN;
            for (int v = 0; v < VISIBLE;) {
                ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
                ck_assert_double_eq_tol(f, formula(model, kind, hidden, codes),
                                        hidden == DRELU ? 1e-7 : 1e-12);
                for (v = 0; v < VISIBLE && ++codes[v] == states_of(kind); v++) {
                    codes[v] = 0;
                }
            }
            sal_model_destroy(model);
        }
    }
}
END_TEST

START_TEST(hidden_bits_and_spins_are_enumerated)
{
    static answers want, got;
    for (int kind = 0; kind < N_KINDS; kind++) {
        for (int hidden = 0; hidden < NORMAL; hidden++) {
            sal_model *model = open_rbm(kind, hidden);
            const int64_t R = model->space->n_states;
            ask(model, "enumeration", &want);
            ask(model, "enumeration of hidden units", &got);
            ck_assert_double_eq_tol(got.exact.log_z, want.exact.log_z, 1e-12);
            for (int64_t k = 0; k < R * R; k++) {
                ck_assert_double_eq_tol(got.pairs[k], want.pairs[k], 1e-12);
                ck_assert_double_eq_tol(got.marginals[k / R], want.marginals[k / R], 1e-12);
            }
            sal_model_destroy(model);
        }
    }
}
END_TEST

/* With W = 0, units are independent: b is the field at which they have the data's frequencies, of
 * ordinal units the mean. */
START_TEST(training_starts_at_the_means_of_the_data)
{
    enum { ROWS = 40 };
    double marginals[VISIBLE * STATES];
    uint8_t codes[ROWS * VISIBLE];
    sal_exact exact;
    sal_error err;
    for (int kind = 0; kind < N_KINDS; kind++) {
        const int states = states_of(kind);
        double shares[VISIBLE * STATES] = { 0 };
        for (int k = 0; k < ROWS * VISIBLE; k++) {
            codes[k] = (uint8_t)((k / VISIBLE * (k % VISIBLE + 2) + k / 7) % states);
            shares[k % VISIBLE * states + codes[k]] += 1.0 / ROWS;
        }
        const sal_data data = { .rows = ROWS, .variables = VISIBLE, .codes = codes };
        const char *text = specification(kind, kind % N_HIDDEN, VISIBLE);
        sal_model *model = NULL;
        ck_ok(sal_model_open(text, SAL_F64, &model, &err), &err);
        ck_ok(sal_model_train_start(model, text, &data, 1, &err), &err);
        double W[HIDDEN * VISIBLE * STATES], largest = 0;
        ck_ok(sal_model_get_params(model, "W", W, &err), &err);
        for (int64_t k = 0; k < HIDDEN * model->space->width; k++) {
            largest = fmax(largest, fabs(W[k]));
            W[k] = 0;
        }
        ck_assert(largest > 0 && largest < 0.05);
        ck_ok(sal_model_set_params(model, "W", W, &err), &err);
        ck_ok(sal_model_exact(model, NULL, &exact, marginals, NULL, NULL, &err), &err);
        for (int v = 0; v < VISIBLE; v++) {
            double mean = 0, wanted = 0;
            for (int s = 0; s < states; s++) {
                const double share = shares[v * states + s], got = marginals[v * states + s];
                mean += s * got;
                wanted += s * share;
                const double kept = kind == CATEGORICAL ? 0.99 * share + 0.01 / states : share;
                ck_assert(kind == ORDINAL || fabs(got - kept) < 1e-12);
            }
            ck_assert(kind == CATEGORICAL || fabs(mean - wanted) < 1e-9);
        }
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(settings_that_contradict_each_other_are_refused)
{
    sal_model *model = NULL;
    sal_error err;
    ck_fails(sal_model_open("rbm:visible=4,states=3", SAL_F64, &model, &err), SAL_ERR_ARGUMENT,
             &err,
             "rbm: kind=binary has two states, and states=3; expected kind=categorical or "
             "kind=ordinal");
    ck_fails(sal_model_open("rbm:kind=spin,states=21", SAL_F64, &model, &err), SAL_ERR_ARGUMENT,
             &err, "kind=spin has two states");
    ck_fails(sal_model_open("rbm:kind=letters", SAL_F64, &model, &err), SAL_ERR_ARGUMENT, &err,
             "categorical");
    ck_assert_ptr_null(model);
}
END_TEST

START_TEST(letters_are_states_of_categorical_units)
{
    static const struct {
        const char *settings, *letters; /* NULL: none */
        int64_t states;
    } cases[] = {
        { "alphabet=dna", "-ACGT", 5 },
        { "states=5,alphabet=dna", "-ACGT", 5 },
        { "alphabet=-ACGT,states=5", "-ACGT", 5 },
        { "states=4,alphabet=rna", "ACGU", 4 },
        { "alphabet=protein", "-ACDEFGHIKLMNPQRSTVWY", 21 },
        { "alphabet=aAbB", "aAbB", 4 },
        { "alphabet=auto,states=5", NULL, 5 },
        { "states=5", NULL, 5 },
    };
    sal_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[200];
        sal_model *model = NULL;
        snprintf(text, sizeof text, "rbm:visible=3,hidden=2,kind=categorical,%s",
                 cases[k].settings);
        ck_ok(sal_model_open(text, SAL_F64, &model, &err), &err);
        const sal_block *block = sal_space_block(sal_model_space(model), 0);
        ck_assert_int_eq(block->states, cases[k].states);
        ck_assert_pstr_eq(block->letters, cases[k].letters);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(letters_that_contradict_other_settings_are_refused)
{
    static const char *const cases[][2] = {
        { "rbm:kind=spin,alphabet=dna",
          "rbm: the letters of an alphabet are states of categorical units, and the units have "
          "kind=spin; expected kind=categorical" },
        { "rbm:alphabet=-ACGT", "kind=binary; expected kind=categorical" },
        { "rbm:kind=categorical,states=2,alphabet=rna",
          "rbm: states=2, and the alphabet -ACGU has 5 letters; leave states out, or give as many, "
          "or one less to leave out the gap" },
        { "rbm:kind=categorical,states=3,alphabet=ACGT",
          "states=3, and the alphabet ACGT has 4 letters; leave states out, or give as many" },
        { "rbm:kind=categorical,alphabet=dan", "rbm: alphabet=dan; did you mean 'dna'?" },
        { "rbm:kind=categorical,alphabet=-AA", "the letter 'A' twice" },
    };
    sal_model *model = NULL;
    sal_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ck_fails(sal_model_open(cases[k][0], SAL_F64, &model, &err), SAL_ERR_ARGUMENT, &err,
                 cases[k][1]);
    }
    ck_assert_ptr_null(model);
}
END_TEST

/* T and U are alike; data of other letters, or of letters in another order, are refused. */
START_TEST(letters_of_the_data_are_those_of_the_model)
{
    static const char text[] = "rbm:visible=4,hidden=2,alphabet=dna,kind=categorical";
    uint8_t codes[] = { 0, 1, 2, 3, 4, 4, 0, 1 };
    sal_data data = { .rows = 2, .variables = VISIBLE, .codes = codes };
    sal_model *model = NULL;
    sal_likelihood fit;
    sal_error err;
    ck_ok(sal_model_open(text, SAL_F64, &model, &err), &err);
    static const char *const good[] = { "", "-ACGT", "-ACGU" };
    static const char *const bad[] = { "-ACGX", "-TGCA", "ACGT", "-ACDEFGHIKLMNPQRSTVWY" };
    for (int k = 0; k < 3; k++) {
        strcpy(data.alphabet, good[k]);
        ck_ok(sal_model_train_start(model, text, &data, 1, &err), &err);
    }
    for (int k = 0; k < 4; k++) {
        char what[200];
        strcpy(data.alphabet, bad[k]);
        snprintf(what, sizeof what, "the data have the letters %s; the model has the letters -ACGT",
                 bad[k]);
        ck_fails(sal_model_train_start(model, text, &data, 1, &err), SAL_ERR_ARGUMENT, &err, what);
        ck_fails(sal_log_likelihood(model, &data, 0, 0, &fit, &err), SAL_ERR_ARGUMENT, &err, what);
    }
    sal_model_destroy(model);
}
END_TEST

static sal_status start_once(const char *text, const sal_data *data, sal_model **model)
{
    sal_status status = sal_model_open(text, SAL_F64, model, NULL);
    if (status == SAL_OK &&
        (status = sal_model_train_start(*model, text, data, 1, NULL)) != SAL_OK) {
        sal_model_destroy(*model);
        *model = NULL;
    }
    return status;
}

START_TEST(allocation_failures_are_reported)
{
    uint8_t codes[] = { 0, 1, 2, 1, 2, 2, 0, 1 };
    const sal_data data = { .rows = 2, .variables = VISIBLE, .codes = codes };
    for (int kind = CATEGORICAL; kind <= ORDINAL; kind++) {
        sal_model *model = NULL;
        const char *text = specification(kind, BINARY, VISIBLE);
        ck_alloc_sweep(start_once(text, &data, &model), (sal_model_destroy(model), model = NULL));
    }
    sal_model *model = NULL;
    ck_alloc_sweep(
        start_once("rbm:visible=4,hidden=3,kind=categorical,alphabet=-AC", &data, &model),
        (sal_model_destroy(model), model = NULL));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rbm_kinds");
    TCase *tcase = tcase_create("rbm_kinds");
    tcase_add_test(tcase, f_is_the_sum_over_hidden_units_of_any_kind);
    tcase_add_test(tcase, hidden_bits_and_spins_are_enumerated);
    tcase_add_test(tcase, training_starts_at_the_means_of_the_data);
    tcase_add_test(tcase, settings_that_contradict_each_other_are_refused);
    tcase_add_test(tcase, letters_are_states_of_categorical_units);
    tcase_add_test(tcase, letters_that_contradict_other_settings_are_refused);
    tcase_add_test(tcase, letters_of_the_data_are_those_of_the_model);
    tcase_add_test(tcase, allocation_failures_are_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
