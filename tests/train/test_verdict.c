/* SPDX-License-Identifier: MIT */
/* Whether a model's own samples are like the data. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_fail.h"
#include <saltus/saltus.h>
#include "core/alloc.h"
#include "train/verdict.h"

enum { SIDE = 8, V = SIDE * SIDE, CHAINS = 25, DRAWS = 40, FRESH = CHAINS * DRAWS };

/* Digits: training rows, held-out rows, and as many more as there are fresh draws. */
typedef struct fixture {
    sal_model *model;
    sal_data train, test, more;
} fixture;

static void shuffle_rows(uint8_t *codes, int64_t rows, int64_t variables, uint64_t seed)
{
    uint8_t row[256];
    for (int64_t k = rows - 1; k > 0; k--) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        int64_t j = (int64_t)((seed >> 33) % (uint64_t)(k + 1));
        memcpy(row, codes + k * variables, (size_t)variables);
        memmove(codes + k * variables, codes + j * variables, (size_t)variables);
        memcpy(codes + j * variables, row, (size_t)variables);
    }
}

static fixture open_fixture(uint64_t seed, int64_t test_rows)
{
    fixture x = { 0 };
    sal_error err;
    ck_ok(sal_model_open("rbm:visible=64,hidden=3", SAL_F64, &x.model, &err), &err);
    ck_ok(sal_data_digits(1500 + test_rows + FRESH, SIDE, seed, &x.train, &err), &err);
    shuffle_rows(x.train.codes, x.train.rows, V, seed);
    ck_ok(sal_data_split(&x.train, FRESH, NULL, &x.more, &err), &err);
    ck_ok(sal_data_split(&x.train, test_rows, NULL, &x.test, &err), &err);
    return x;
}

static void close_fixture(fixture *x)
{
    sal_model_destroy(x->model);
    sal_data_destroy(&x->train);
    sal_data_destroy(&x->test);
    sal_data_destroy(&x->more);
}

/* Perfect samples, that mixed. */
static sal_verdict_inputs perfect(const fixture *x)
{
    return (sal_verdict_inputs){ .train = &x->train,
                                 .test = &x->test,
                                 .chains = CHAINS,
                                 .draws = DRAWS,
                                 .fresh = x->more.codes,
                                 .rhat = 1.01,
                                 .round_trips = 3 };
}

static sal_verdict judge(const fixture *x, const sal_verdict_inputs *in)
{
    sal_verdict v;
    sal_error err;
    ck_ok(sal_verdict_judge(x->model, in, &v, NULL, &err), &err);
    return v;
}

static const char *sentence(const sal_verdict *v)
{
    static char text[512];
    sal_verdict_sentence(v, text, sizeof text);
    return text;
}

/* Each variable on its own, by its frequency: the means are right, the covariances 0. */
static void shuffle_columns(uint8_t *codes, int64_t rows, int64_t variables, uint64_t seed)
{
    for (int64_t v = 0; v < variables; v++) {
        for (int64_t k = rows - 1; k > 0; k--) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            int64_t j = (int64_t)((seed >> 33) % (uint64_t)(k + 1));
            uint8_t code = codes[k * variables + v];
            codes[k * variables + v] = codes[j * variables + v];
            codes[j * variables + v] = code;
        }
    }
}

START_TEST(data_are_like_data)
{
    for (uint64_t seed = 0; seed < 25; seed++) {
        fixture x = open_fixture(seed, 500);
        sal_verdict_inputs in = perfect(&x);
        sal_verdict v = judge(&x, &in);
        ck_assert_msg(v.answer == SAL_VERDICT_LIKE, "seed %d: %s", (int)seed, sentence(&v));
        ck_assert_str_eq(sentence(&v), "The model's own samples are like the data: 1000 of them "
                                       "cannot be told from it.");
        for (int k = SAL_VERDICT_MEANS; k < SAL_VERDICT_KINDS; k++) {
            ck_assert(v.figures[k].judged);
            ck_assert(v.figures[k].fresh.standard_error > 0 || v.figures[k].fresh.value == 0);
        }
        ck_assert(v.figures[SAL_VERDICT_MEANS].fresh.value > 0.97);
        ck_assert_int_eq(v.train_rows, FRESH);
        close_fixture(&x);
    }
}
END_TEST

/* Exact draws of small models whose data were drawn from them: spins without means, states without
 * order, levels. */
START_TEST(draws_of_the_true_model_are_like_its_data)
{
    static const char *const models[] = { "ising:side=4,theta=0.15", "potts:side=3,states=3",
                                          "ising:side=4,theta=0.1,bias=0.2" };
    sal_error err;
    for (uint64_t seed = 0; seed < 18; seed++) {
        fixture x = { 0 };
        sal_run *run = NULL;
        const sal_run_options o = { .sampler = "gibbs",
                                    .chains = 100,
                                    .draws = 40,
                                    .thin = 200,
                                    .warmup = 400,
                                    .seed = seed,
                                    .record.draws = true };
        ck_ok(sal_model_open(models[seed % 3], SAL_F64, &x.model, &err), &err);
        ck_ok(sal_sample(x.model, &o, &run, &err), &err);
        ck_ok(sal_data_from_run(run, &x.train, &err), &err);
        shuffle_rows(x.train.codes, x.train.rows, x.train.variables, seed);
        ck_ok(sal_data_split(&x.train, FRESH, NULL, &x.more, &err), &err);
        ck_ok(sal_data_split(&x.train, FRESH, NULL, &x.test, &err), &err);
        sal_verdict_inputs in = perfect(&x);
        sal_verdict v = judge(&x, &in);
        ck_assert_msg(v.answer == SAL_VERDICT_LIKE, "%s, seed %d: %s", models[seed % 3], (int)seed,
                      sentence(&v));
        sal_run_destroy(run);
        close_fixture(&x);
    }
}
END_TEST

START_TEST(independent_variables_are_not_like_digits)
{
    fixture x = open_fixture(1, 500);
    sal_verdict_inputs in = perfect(&x);
    shuffle_columns(x.more.codes, FRESH, V, 5);
    sal_verdict v = judge(&x, &in);
    ck_assert_int_eq(v.answer, SAL_VERDICT_UNLIKE);
    ck_assert_int_eq(v.worst, SAL_VERDICT_COVARIANCES);
    ck_assert(fabs(v.figures[SAL_VERDICT_COVARIANCES].fresh.value) < 0.1);
    ck_assert(v.figures[SAL_VERDICT_MEANS].fresh.value > 0.97);
    ck_assert_ptr_nonnull(strstr(sentence(&v), "NOT like the data: their covariances correlate"));
    close_fixture(&x);
}
END_TEST

/* However fine the persistent chains are. */
START_TEST(fresh_draws_are_judged_not_persistent_chains)
{
    fixture x = open_fixture(2, 500);
    sal_verdict_inputs in = perfect(&x);
    uint8_t *noise = SALI_NEW_ARRAY(uint8_t, FRESH * V);
    for (int64_t i = 0; i < FRESH * V; i++) {
        noise[i] = (uint8_t)((i * 2654435761 >> 7) & 1);
    }
    in.persistent = x.more.codes;
    in.persistent_rows = FRESH;
    in.fresh = noise;
    sal_verdict v = judge(&x, &in);
    ck_assert_int_eq(v.answer, SAL_VERDICT_UNLIKE);
    ck_assert(v.figures[SAL_VERDICT_MEANS].persistent.value > 0.97);
    ck_assert(v.figures[SAL_VERDICT_MMD].persistent.value < v.figures[SAL_VERDICT_MMD].fresh.value);
    in.fresh = x.more.codes;
    in.persistent = noise;
    v = judge(&x, &in);
    ck_assert_int_eq(v.answer, SAL_VERDICT_LIKE);
    sali_free(noise);
    close_fixture(&x);
}
END_TEST

/* Draws of one chain that are alike cost precision; they do not make good chains bad ones. */
START_TEST(draws_of_one_chain_may_be_alike)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        fixture x = open_fixture(seed, 500);
        sal_verdict_inputs in = perfect(&x);
        in.chains = 200;
        in.draws = FRESH / 200;
        for (int64_t k = 0; k < FRESH; k++) {
            memmove(x.more.codes + k * V, x.more.codes + k / in.draws * in.draws * V, V);
        }
        sal_verdict v = judge(&x, &in);
        ck_assert_msg(v.answer != SAL_VERDICT_UNLIKE, "%s", sentence(&v));
        close_fixture(&x);
    }
}
END_TEST

/* Few held-out rows do not tell, and bad samples are still found out. */
START_TEST(few_rows_give_no_false_verdicts)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        fixture x = open_fixture(seed, 5);
        sal_verdict_inputs in = perfect(&x);
        sal_verdict v = judge(&x, &in);
        ck_assert_msg(v.answer != SAL_VERDICT_UNLIKE, "%s", sentence(&v));
        ck_assert_int_eq(v.answer, SAL_VERDICT_UNKNOWN);
        x.test.rows = 1;
        v = judge(&x, &in);
        ck_assert_int_eq(v.answer, SAL_VERDICT_UNKNOWN);
        ck_assert_int_eq(v.reason, SAL_VERDICT_IMPRECISE);
        x.test.rows = 5;
        close_fixture(&x);
    }
}
END_TEST

START_TEST(chains_must_have_mixed)
{
    fixture x = open_fixture(3, 500);
    sal_verdict_inputs in = perfect(&x);
    in.rhat = 1.3;
    sal_verdict v = judge(&x, &in);
    ck_assert_int_eq(v.answer, SAL_VERDICT_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(sentence(&v), "R-hat of f 1.30"));
    in.rhat = INFINITY;
    ck_assert_int_eq(judge(&x, &in).reason, SAL_VERDICT_CHAINS_DISAGREE);
    in.rhat = NAN;
    in.round_trips = 0.4;
    v = judge(&x, &in);
    ck_assert_int_eq(v.reason, SAL_VERDICT_NO_ROUND_TRIPS);
    ck_assert_ptr_nonnull(strstr(sentence(&v), "0.4 round trips"));
    in.round_trips = NAN;
    ck_assert_int_eq(judge(&x, &in).answer, SAL_VERDICT_LIKE);
    close_fixture(&x);
}
END_TEST

START_TEST(estimates_of_log_z_must_agree)
{
    const struct {
        double forward, reverse, error, round_trips;
        sal_verdict_reason reason;
    } cases[] = {
        { 169.1, 161.6, 0.3, 3, SAL_VERDICT_WRONG_WAY },
        { 169.1, 161.6, 2, 3, SAL_VERDICT_WITHIN_MARGINS },
        { 169.1, 167, 0.1, 3, SAL_VERDICT_WITHIN_MARGINS },
        { 161.6, 169.1, 0.3, 3, SAL_VERDICT_WITHIN_MARGINS },
        { 161.6, 169.1, 0.3, NAN, SAL_VERDICT_LOG_Z_APART },
        { 169.1, 161.6, NAN, 3, SAL_VERDICT_WRONG_WAY },
    };
    fixture x = open_fixture(4, 500);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_verdict_inputs in = perfect(&x);
        const sal_verdict_value forward = { cases[k].forward, cases[k].error },
                                reverse = { cases[k].reverse, cases[k].error },
                                bennett = { 170, 0.1 };
        in.round_trips = cases[k].round_trips;
        in.forward = &forward;
        in.reverse = &reverse;
        in.bennett = &bennett;
        sal_verdict v = judge(&x, &in);
        ck_assert_msg(v.reason == cases[k].reason, "case %d: %s", (int)k, sentence(&v));
        ck_assert(v.bennett.value == 170 && v.forward.value == cases[k].forward);
        in.forward = NULL;
        v = judge(&x, &in);
        ck_assert_int_eq(v.answer, SAL_VERDICT_LIKE);
        ck_assert(isnan(v.forward.value) && isnan(v.forward.standard_error));
    }
    close_fixture(&x);
}
END_TEST

/* ---- figures by their definitions */

static double correlation(int64_t n, const double *x, const double *y)
{
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t k = 0; k < n; k++) {
        mx += x[k] / (double)n;
        my += y[k] / (double)n;
    }
    for (int64_t k = 0; k < n; k++) {
        xx += (x[k] - mx) * (x[k] - mx);
        yy += (y[k] - my) * (y[k] - my);
        xy += (x[k] - mx) * (y[k] - my);
    }
    return xy / sqrt(xx * yy);
}

/* Means [columns] and covariances of pairs of different variables, of rows of 3-state variables, as
 * indicators; how many pairs. */
static int64_t direct_moments(int64_t variables, int64_t rows, const uint8_t *codes,
                              const double *weight, double *means, double *covariances)
{
    int64_t columns = 3 * variables, pairs = 0;
    double total = 0;
    for (int64_t r = 0; r < rows; r++) {
        total += weight ? weight[r] : 1;
    }
    for (int64_t i = 0; i < columns; i++) {
        means[i] = 0;
        for (int64_t r = 0; r < rows; r++) {
            means[i] += (codes[r * variables + i / 3] == i % 3) * (weight ? weight[r] : 1) / total;
        }
    }
    for (int64_t i = 0; i < columns; i++) {
        for (int64_t j = 0; j < i / 3 * 3; j++) {
            double product = 0;
            for (int64_t r = 0; r < rows; r++) {
                product += (codes[r * variables + i / 3] == i % 3 &&
                            codes[r * variables + j / 3] == j % 3) *
                           (weight ? weight[r] : 1) / total;
            }
            covariances[pairs++] = product - means[i] * means[j];
        }
    }
    return pairs;
}

START_TEST(figures_are_their_definitions)
{
    enum { W = 5, TRAIN = 60, TEST = 37 };
    uint8_t a[TRAIN * W], b[TEST * W];
    double weight[TEST], means[2][3 * W], pairs[2][9 * W * W], mmd2;
    sal_error err;
    for (int64_t k = 0; k < TRAIN * W; k++) {
        a[k] = (uint8_t)((k * k + 3 * k / 7) % 3);
    }
    for (int64_t k = 0; k < TEST * W; k++) {
        b[k] = (uint8_t)((k * k / 5 + k / 11) % 4 / 2 + k % 5 / 4);
    }
    for (int64_t k = 0; k < TEST; k++) {
        weight[k] = 0.1 + 0.05 * (double)k;
    }
    fixture x = { .train = { .rows = TRAIN, .variables = W, .codes = a },
                  .test = { .rows = TEST, .variables = W, .codes = b, .weight = weight } };
    ck_ok(sal_model_open("categorical:dim=5,states=3,scale=0", SAL_F64, &x.model, &err), &err);
    sal_verdict_inputs in = perfect(&x);
    in.chains = 6;
    in.draws = 10;
    in.fresh = a;
    sal_verdict v = judge(&x, &in);
    int64_t n = direct_moments(W, TRAIN, a, NULL, means[0], pairs[0]);
    direct_moments(W, TEST, b, weight, means[1], pairs[1]);
    const sal_verdict_figure *f = v.figures;
    for (int k = 0; k < 2; k++) { /* the same rows, in other groups */
        const sal_verdict_value *value =
            k ? &f[SAL_VERDICT_MEANS].train : &f[SAL_VERDICT_MEANS].fresh;
        ck_assert_double_eq_tol(value->value, correlation(3 * W, means[0], means[1]), 1e-12);
        value = k ? &f[SAL_VERDICT_COVARIANCES].train : &f[SAL_VERDICT_COVARIANCES].fresh;
        ck_assert_double_eq_tol(value->value, correlation(n, pairs[0], pairs[1]), 1e-12);
    }
    ck_assert(f[SAL_VERDICT_F].fresh.value == 0 && f[SAL_VERDICT_F].test.value == 0);
    ck_assert(isnan(f[SAL_VERDICT_F].margin) && !f[SAL_VERDICT_F].judged);
    ck_assert(isnan(f[SAL_VERDICT_MEANS].persistent.value));
    /* With one row a group, it is the U-statistic. */
    sal_data few = { .rows = 40, .variables = W, .codes = a };
    in.persistent = a;
    in.persistent_rows = few.rows;
    v = judge(&x, &in);
    ck_ok(sal_stats_mmd(W, few.rows, a, TEST, b, SAL_MMD_U, &mmd2, &err), &err);
    ck_assert(mmd2 > 0);
    ck_assert_double_eq_tol(v.figures[SAL_VERDICT_MMD].persistent.value, sqrt(mmd2), 1e-9);
    sal_model_destroy(x.model);
}
END_TEST

/* Whether row k of a is nearer to b than to the others of a, in parts where both are as near; rows
 * skip .. skip_end - 1 of b and row k of a are not looked at. */
static double nearer_to(int64_t width, int64_t k, int64_t n, const uint8_t *a, int64_t m,
                        const uint8_t *b, int64_t skip)
{
    int64_t least[2] = { INT64_MAX, INT64_MAX }, times[2] = { 0 };
    for (int side = 0; side < 2; side++) {
        for (int64_t j = 0; j < (side ? m : n); j++) {
            int64_t distance = 0;
            for (int64_t v = 0; v < width; v++) {
                distance += a[k * width + v] != (side ? b : a)[j * width + v];
            }
            if (j != (side ? skip : k) && distance <= least[side]) {
                times[side] = distance < least[side] ? 1 : times[side] + 1;
                least[side] = distance;
            }
        }
    }
    return least[1] < least[0]   ? 1
           : least[0] < least[1] ? 0
                                 : (double)times[1] / (double)(times[0] + times[1]);
}

/* 8 chains of one draw against 8 held-out rows: each row has 7 of both kinds to be near to. */
START_TEST(neighbours_are_counted_one_by_one)
{
    enum { N = 8, W = 6 };
    uint8_t a[N * W], b[N * W], apart[N * W];
    double right = 0;
    sal_error err;
    for (int k = 0; k < N * W; k++) {
        a[k] = (uint8_t)(k * k / 5 % 3);
        b[k] = (uint8_t)(k * k / 7 % 3);
        apart[k] = (uint8_t)(k / W % 2 ? 2 : 1);
    }
    fixture x = { .train = { .rows = N, .variables = W, .codes = b },
                  .test = { .rows = N, .variables = W, .codes = b } };
    sali_grouped rows = { 0 }; /* the held-out rows in the order in which they are taken */
    ck_ok(sali_grouped_rows(&x.test, N, &rows, &err), &err);
    for (int64_t k = 0; k < N; k++) {
        right += (1 - nearer_to(W, k, N, a, N, rows.rows.codes, k)) / (2 * N);
        right += (1 - nearer_to(W, k, N, rows.rows.codes, N, a, k)) / (2 * N);
    }
    sal_data_destroy(&rows.rows);
    ck_ok(sal_model_open("categorical:dim=6,states=3,scale=0", SAL_F64, &x.model, &err), &err);
    sal_verdict_inputs in = perfect(&x);
    in.chains = N;
    in.draws = 1;
    in.fresh = a;
    in.persistent = NULL;
    in.persistent_rows = 0;
    ck_assert_double_eq_tol(judge(&x, &in).figures[SAL_VERDICT_NEIGHBOURS].fresh.value, right,
                            1e-12);
    ck_assert(right > 0.2 && right < 0.8);
    memset(b, 0, sizeof b);
    in.fresh = apart; /* near to each other, not to zeros */
    ck_assert(judge(&x, &in).figures[SAL_VERDICT_NEIGHBOURS].fresh.value == 1);
    x.test.rows = N - 1; /* fewer than groups */
    ck_assert(isnan(judge(&x, &in).figures[SAL_VERDICT_NEIGHBOURS].fresh.value));
    ck_assert(!judge(&x, &in).figures[SAL_VERDICT_NEIGHBOURS].judged);
    sal_model_destroy(x.model);
}
END_TEST

/* A 16th of the variables of each draw is drawn anew: within the margins, but not the data. */
START_TEST(what_is_close_can_be_told_and_is_said)
{
    fixture x = open_fixture(3, 500);
    sal_verdict_inputs in = perfect(&x);
    uint64_t seed = 5;
    for (int64_t k = 0; k < FRESH * V; k++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        x.more.codes[k] = seed >> 60 == 0 ? (uint8_t)(seed >> 59 & 1) : x.more.codes[k];
    }
    const sal_verdict v = judge(&x, &in);
    ck_assert_msg(v.answer == SAL_VERDICT_CLOSE, "%s", sentence(&v));
    ck_assert(strstr(sentence(&v), "are close to the data, but can be told from them: "));
    bool differs = false;
    for (int k = 0; k < SAL_VERDICT_KINDS; k++) {
        const sal_verdict_figure *f = &v.figures[k];
        const bool beyond = f->shortfall.value > SAL_VERDICT_DISTINCT * f->shortfall.standard_error;
        ck_assert(f->differs == (beyond && (f->judged || k == SAL_VERDICT_F)));
        differs |= f->differs;
    }
    ck_assert(differs);
    close_fixture(&x);
}
END_TEST

/* The mean of a sample has the textbook's error, and no bias; the jackknife takes the bias of a
 * square off. */
START_TEST(the_jackknife_is_right_about_means_and_squares)
{
    const double sample[] = { 1, 4, -2, 7, 0, 3.5 };
    double mean = 0, squares = 0, loo[6], square_loo[6];
    for (int k = 0; k < 6; k++) {
        mean += sample[k] / 6;
    }
    for (int k = 0; k < 6; k++) {
        squares += (sample[k] - mean) * (sample[k] - mean);
        loo[k] = (6 * mean - sample[k]) / 5;
        square_loo[k] = loo[k] * loo[k];
    }
    sali_jackknifed j = sali_jackknife(6, mean, loo);
    ck_assert_double_eq_tol(j.value, mean, 1e-14);
    ck_assert_double_eq_tol(j.corrected, mean, 1e-13);
    ck_assert_double_eq_tol(j.error, sqrt(squares / 30), 1e-14);
    j = sali_jackknife(6, mean * mean, square_loo);
    ck_assert_double_eq_tol(j.corrected, mean * mean - squares / 30, 1e-12);
    ck_assert(isnan(sali_jackknife(1, mean, loo).error));
}
END_TEST

START_TEST(bad_input_is_refused)
{
    fixture x = open_fixture(6, 20);
    sal_verdict_inputs in = perfect(&x);
    sal_verdict v = { .chains = -7 };
    sal_error err;
    in.chains = 3;
    ck_fails(SAL_ERR_ARGUMENT, sal_verdict_judge(x.model, &in, &v, NULL, &err), &err,
             "expected at least 4 chains");
    in = perfect(&x);
    in.persistent_rows = 2;
    ck_fails(SAL_ERR_ARGUMENT, sal_verdict_judge(x.model, &in, &v, NULL, &err), &err, "not NULL");
    in = perfect(&x);
    x.more.codes[2 * V + 9] = 2;
    ck_fails(SAL_ERR_ARGUMENT, sal_verdict_judge(x.model, &in, &v, NULL, &err), &err,
             "draw 2, variable 9: code 2; expected 0 to 1");
    x.more.codes[2 * V + 9] = 0;
    sal_data narrow = { .rows = 10, .variables = 3, .codes = x.train.codes };
    in.test = &narrow;
    ck_fails(SAL_ERR_ARGUMENT, sal_verdict_judge(x.model, &in, &v, NULL, &err), &err,
             "held out: the data have 3 variables; the model has 64");
    ck_assert_int_eq(v.chains, -7);
    close_fixture(&x);
}
END_TEST

START_TEST(threads_do_not_change_bits)
{
    fixture x = open_fixture(7, 100);
    sal_verdict_inputs in = perfect(&x);
    sal_verdict one, other;
    memset(&one, 0, sizeof one);
    memset(&other, 0, sizeof other);
    setenv("OMP_NUM_THREADS", "1", 1);
    one = judge(&x, &in);
    setenv("OMP_NUM_THREADS", "3", 1);
    other = judge(&x, &in);
    for (int k = 0; k < SAL_VERDICT_KINDS; k++) {
        ck_assert_mem_eq(&one.figures[k].fresh, &other.figures[k].fresh, sizeof one.figures->fresh);
        ck_assert_mem_eq(&one.figures[k].shortfall, &other.figures[k].shortfall,
                         sizeof one.figures->shortfall);
    }
    close_fixture(&x);
}
END_TEST

START_TEST(running_out_of_memory_is_reported)
{
    uint8_t codes[8 * 4];
    sal_error err;
    for (int k = 0; k < 8 * 4; k++) {
        codes[k] = (uint8_t)(k * k / 3 % 2);
    }
    fixture x = { .train = { .rows = 8, .variables = 4, .codes = codes },
                  .test = { .rows = 5, .variables = 4, .codes = codes } };
    ck_ok(sal_model_open("ising:side=2", SAL_F64, &x.model, &err), &err);
    sal_verdict_inputs in = perfect(&x);
    sal_verdict v;
    in.chains = 4;
    in.draws = 1;
    in.fresh = codes;
    in.persistent = codes;
    in.persistent_rows = 3;
    ck_alloc_sweep(sal_verdict_judge(x.model, &in, &v, NULL, NULL), (void)0);
    sal_model_destroy(x.model);
}
END_TEST

START_TEST(a_sentence_has_no_mmd_of_nothing)
{
    char text[512];
    sal_verdict v = { .reason = SAL_VERDICT_BEYOND_MARGIN, .worst = SAL_VERDICT_MMD };
    v.figures[SAL_VERDICT_MMD].fresh.value = 0.25;
    sal_verdict_sentence(&v, text, sizeof text);
    ck_assert_msg(strstr(text, "MMD is 0.2500, that of as many training rows below noise;") != NULL,
                  "%s", text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verdict");
    TCase *tcase = tcase_create("verdict");
    tcase_add_test(tcase, data_are_like_data);
    tcase_add_test(tcase, draws_of_the_true_model_are_like_its_data);
    tcase_add_test(tcase, independent_variables_are_not_like_digits);
    tcase_add_test(tcase, fresh_draws_are_judged_not_persistent_chains);
    tcase_add_test(tcase, draws_of_one_chain_may_be_alike);
    tcase_add_test(tcase, few_rows_give_no_false_verdicts);
    tcase_add_test(tcase, chains_must_have_mixed);
    tcase_add_test(tcase, estimates_of_log_z_must_agree);
    tcase_add_test(tcase, figures_are_their_definitions);
    tcase_add_test(tcase, neighbours_are_counted_one_by_one);
    tcase_add_test(tcase, what_is_close_can_be_told_and_is_said);
    tcase_add_test(tcase, the_jackknife_is_right_about_means_and_squares);
    tcase_add_test(tcase, bad_input_is_refused);
    tcase_add_test(tcase, threads_do_not_change_bits);
    tcase_add_test(tcase, a_sentence_has_no_mmd_of_nothing);
    tcase_add_test(tcase, running_out_of_memory_is_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
