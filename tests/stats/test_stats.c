/* SPDX-License-Identifier: MIT */
/* Diagnostics against R's package `posterior` and a plain transcription of TensorFlow Probability's
 * definition; tests/reference holds the numbers, and the scripts that made them. */
#include "test.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>

#include "chi_square.h"
#include "core/alloc.h"
#include "stats/fft.h"
#include "stats/rank.h"
#include "stats/rhat.h"
#include <saltus/stats.h>

static json_t *reference(const char *name)
{
    char path[4096];
    json_error_t error;
    snprintf(path, sizeof path, "%s/tests/reference/%s", SALTUS_SOURCE_DIR, name);
    json_t *root = json_load_file(path, 0, &error);
    ck_assert_msg(root != NULL, "%s:%d: %s", path, error.line, error.text);
    return root;
}

/* null and "nan" are NaN; infinities are strings. */
static double number(const json_t *value)
{
    if (json_is_number(value)) {
        return json_number_value(value);
    }
    const char *text = json_string_value(value);
    return text && strcmp(text, "inf") == 0    ? INFINITY
           : text && strcmp(text, "-inf") == 0 ? -INFINITY
                                               : NAN;
}

/* An array, or an array of arrays of one length, as doubles. */
static double *numbers(const json_t *array, int64_t *rows, int64_t *columns)
{
    bool nested = json_is_array(json_array_get(array, 0));
    *rows = nested ? (int64_t)json_array_size(array) : 1;
    *columns = (int64_t)json_array_size(nested ? json_array_get(array, 0) : array);
    double *x = SALI_NEW_ARRAY(double, *rows **columns);
    for (int64_t i = 0; i < *rows * *columns; i++) {
        const json_t *row = nested ? json_array_get(array, (size_t)(i / *columns)) : array;
        x[i] = number(json_array_get(row, (size_t)(i % *columns)));
    }
    return x;
}

/* Equal up to 1e-6 relative, both NaN, or both infinite. */
static void check_close(const char *name, const char *what, double got, double want)
{
    bool same = got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= 1e-6 * fabs(want);
    ck_assert_msg(same, "%s: %s is %.17g, expected %.17g", name, what, got, want);
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(name, *names) == 0) {
            return true;
        }
    }
    return false;
}

/* ESS, without ranks, of the indicator of the smallest value of a series, or of its largest one. */
static double ess_of_end(int64_t chains, int64_t draws, const double *x, bool largest)
{
    double *y = SALI_NEW_ARRAY(double, chains *draws), end = x[0];
    sal_diagnostics d;
    sal_error err = { 0 };
    for (int64_t i = 0; i < chains * draws; i++) {
        end = largest ? fmax(end, x[i]) : fmin(end, x[i]);
    }
    for (int64_t i = 0; i < chains * draws; i++) {
        y[i] = x[i] == end;
    }
    ck_ok(sal_stats_diagnose(chains, draws, y, &d, &err), &err);
    sali_free(y);
    return d.ess_basic;
}

/* Figures that differ from those of `posterior` on purpose (docs/diagnosing.md): the ESS of series
 * whose first pair of autocorrelations is not positive; R-hat where that of the distances to the
 * median is NA; the ESS of the tails where 5% of the draws are at the largest value. */
static double own_figure(const char *name, const char *what, double want, int64_t chains,
                         int64_t draws, const double *x, const sal_diagnostics *d)
{
    static const char *const swinging[] = { "alternating", "very_antithetic", NULL };
    static const char *const halves[] = { "alternating", "binary_half", "halves_stuck_apart",
                                          NULL };
    static const char *const discrete[] = {
        "alternating", "binary",       "binary_half",        "spin",
        "ties",        "signed_zeros", "chains_stuck_apart", "halves_stuck_apart",
        NULL
    };
    const double N = (double)(2 * chains * (draws / 2));
    if (is_one_of(name, swinging) && want == N / 2) {
        return N * log10(N);
    }
    if (is_one_of(name, swinging) && strcmp(what, "mcse_mean") == 0) {
        return want * sqrt(0.5 / log10(N));
    }
    if (is_one_of(name, halves) && strcmp(what, "rhat") == 0) {
        return d->rhat_bulk;
    }
    if (is_one_of(name, discrete) && strcmp(what, "ess_tail") == 0) {
        return fmin(ess_of_end(chains, draws, x, false), ess_of_end(chains, draws, x, true));
    }
    return want;
}

START_TEST(diagnostics_agree_with_posterior)
{
    json_t *root = reference("stats_reference.json"), *entry;
    size_t index;
    sal_error err = { 0 };
    json_array_foreach(json_object_get(root, "cases"), index, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        json_t *expected = json_object_get(entry, "expected");
        int64_t chains, draws;
        double *x = numbers(json_object_get(entry, "series"), &chains, &draws);
        sal_diagnostics d;
        ck_ok(sal_stats_diagnose(chains, draws, x, &d, &err), &err);
        const struct {
            const char *what;
            double got;
        } found[] = {
            { "rhat", d.rhat },
            { "rhat_bulk", d.rhat_bulk },
            { "rhat_folded", d.rhat_folded },
            { "rhat_basic", d.rhat_basic },
            { "ess_bulk", d.ess_bulk },
            { "ess_tail", d.ess_tail },
            { "ess_basic", d.ess_basic },
            { "ess_mean", d.ess_basic },
            { "mcse_mean", d.mcse_mean },
            { "mcse_sd", d.mcse_sd },
        };
        ck_assert_uint_eq(json_object_size(expected), sizeof found / sizeof *found);
        for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
            double want = number(json_object_get(expected, found[i].what));
            /* The variance of a constant that is not a binary fraction is 0, not 1e-33. */
            want = want > 1e12 ? INFINITY : want;
            want = own_figure(name, found[i].what, want, chains, draws, x, &d);
            check_close(name, found[i].what, found[i].got, want);
        }
        sali_free(x);
    }
    ck_assert_uint_gt(index, 30);
    json_decref(root);
}
END_TEST

START_TEST(ess_tfp_agrees_with_its_definition)
{
    json_t *root = reference("tfp_reference.json"), *entry;
    size_t index;
    sal_error err = { 0 };
    json_array_foreach(json_object_get(root, "cases"), index, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        int64_t one, n;
        double *x = numbers(json_object_get(entry, "series"), &one, &n), ess;
        ck_ok(sal_stats_ess_tfp(n, x, &ess, &err), &err);
        check_close(name, "ess", ess, number(json_object_get(entry, "ess")));
        sali_free(x);
    }
    ck_assert_uint_gt(index, 10);
    json_decref(root);
}
END_TEST

START_TEST(ess_tfp_of_a_chain_that_never_moves_is_nan)
{
    sal_error err = { 0 };
    double x[37], ess = 0.0;
    for (int i = 0; i < 37; i++) {
        x[i] = 0.1;
    }
    ck_ok(sal_stats_ess_tfp(37, x, &ess, &err), &err);
    ck_assert_double_nan(ess);
    x[5] = NAN;
    ck_ok(sal_stats_ess_tfp(37, x, &ess, &err), &err);
    ck_assert_double_nan(ess);
    x[5] = INFINITY;
    ck_ok(sal_stats_ess_tfp(37, x, &ess, &err), &err);
    ck_assert_double_nan(ess);
    ck_ok(sal_stats_ess_tfp(3, (double[]){ 1, 2, 4 }, &ess, &err), &err);
    ck_assert_double_nan(ess);
}
END_TEST

/* A first-order autoregression, from a small generator of its own. */
static double *autoregress(int64_t chains, int64_t draws, double phi, uint64_t seed)
{
    double *x = SALI_NEW_ARRAY(double, chains *draws);
    for (int64_t i = 0; i < chains * draws; i++) {
        double noise = 0.0;
        for (int k = 0; k < 12; k++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            noise += (double)(seed >> 11) * 0x1p-53 - 0.5;
        }
        x[i] = (i % draws ? phi * x[i - 1] : 0.0) + noise;
    }
    return x;
}

START_TEST(diagnostics_hold_their_identities)
{
    sal_error err = { 0 };
    int64_t chains = 3, draws = 400;
    double *x = autoregress(chains, draws, 0.5, 11), ess, sum = 0.0;
    sal_diagnostics d, moved;
    ck_ok(sal_stats_diagnose(chains, draws, x, &d, &err), &err);
    for (int64_t c = 0; c < chains; c++) {
        ck_ok(sal_stats_ess_tfp(draws, x + c * draws, &ess, &err), &err);
        sum += ess;
    }
    ck_assert_double_eq(d.ess_tfp, sum);
    ck_assert_double_eq(d.autocorrelation_time, (double)(chains * draws) / d.ess_basic);
    ck_assert_double_eq(d.rhat, fmax(d.rhat_bulk, d.rhat_folded));
    /* For this process the integrated time is (1 + phi) / (1 - phi) = 3. */
    ck_assert_double_eq_tol(d.autocorrelation_time, 3.0, 1.0);
    ck_assert_double_eq_tol(d.ess_tfp, d.ess_basic, 0.3 * d.ess_basic);

    for (int64_t i = 0; i < chains * draws; i++) { /* x -> 3 - 2 x, far out */
        x[i] = 1e7 - 2.0 * x[i];
    }
    ck_ok(sal_stats_diagnose(chains, draws, x, &moved, &err), &err);
    check_close("moved", "mean", moved.mean, 1e7 - 2.0 * d.mean);
    check_close("moved", "sd", moved.sd, 2.0 * d.sd);
    check_close("moved", "rhat", moved.rhat, d.rhat);
    check_close("moved", "rhat_basic", moved.rhat_basic, d.rhat_basic);
    check_close("moved", "ess_bulk", moved.ess_bulk, d.ess_bulk);
    check_close("moved", "ess_tail", moved.ess_tail, d.ess_tail);
    check_close("moved", "ess_basic", moved.ess_basic, d.ess_basic);
    check_close("moved", "ess_tfp", moved.ess_tfp, d.ess_tfp);
    check_close("moved", "mcse_mean", moved.mcse_mean, 2.0 * d.mcse_mean);
    check_close("moved", "mcse_sd", moved.mcse_sd, 2.0 * d.mcse_sd);
    sali_free(x);
}
END_TEST

/* A chain that swings from side to side knows its mean better than independent draws, and its ESS
 * is cut at S log10 S (Vehtari et al. 2021, sec. 3.2). */
START_TEST(ess_of_antithetic_chains_has_a_cap)
{
    sal_error err = { 0 };
    const int64_t chains = 2, draws = 500;
    const double size = (double)(chains * draws);
    double *x = autoregress(chains, draws, -0.99, 5);
    sal_diagnostics d;
    ck_ok(sal_stats_diagnose(chains, draws, x, &d, &err), &err);
    ck_assert_double_eq_tol(d.ess_basic, size * log10(size), 1e-9 * size);
    sali_free(x);
}
END_TEST

/* Draws that alternate, in step or not: not even the first pair of autocorrelations is positive. */
START_TEST(ess_of_alternating_draws_is_the_cap)
{
    sal_error err = { 0 };
    enum { CHAINS = 4, DRAWS = 200, ALL = CHAINS * DRAWS };
    double x[ALL];
    for (int shift = 0; shift < 2; shift++) {
        for (int k = 0; k < ALL; k++) {
            x[k] = (k + shift * (k / DRAWS)) % 2;
        }
        sal_diagnostics d;
        ck_ok(sal_stats_diagnose(CHAINS, DRAWS, x, &d, &err), &err);
        check_close("alternating", "ess_bulk", d.ess_bulk, ALL * log10(ALL));
        check_close("alternating", "ess_basic", d.ess_basic, ALL * log10(ALL));
        check_close("alternating", "ess_tail", d.ess_tail, ALL * log10(ALL));
    }
}
END_TEST

/* Of two values the indicators of both tails are that of the rarer value, however rare, up to sign:
 * the ESS of the tails is that of the draws. */
START_TEST(ess_of_tails_is_known_for_two_values)
{
    sal_error err = { 0 };
    enum { CHAINS = 4, DRAWS = 400 };
    static const int every[] = { 2, 3, 10, 50 };
    double *noise = autoregress(CHAINS, DRAWS, 0.3, 17), x[CHAINS * DRAWS];
    for (int turn = 0; turn < 8; turn++) {
        for (int k = 0; k < CHAINS * DRAWS; k++) {
            const bool rare = k % every[turn / 2] == 0 || noise[k] > 2.5;
            x[k] = turn % 2 ? rare : !rare;
        }
        sal_diagnostics d;
        ck_ok(sal_stats_diagnose(CHAINS, DRAWS, x, &d, &err), &err);
        check_close("two values", "ess_tail", d.ess_tail, d.ess_basic);
    }
    sali_free(noise);
}
END_TEST

/* Chains that stand still in different places, two by two: R-hat is infinite, though the draws'
 * distances from their median are all equal. Constants have none. Exactly half ones are no harm. */
START_TEST(rhat_of_stuck_chains_is_infinite)
{
    sal_error err = { 0 };
    enum { CHAINS = 4, DRAWS = 100 };
    double x[CHAINS * DRAWS];
    sal_diagnostics d;
    for (int places = 2; places <= 4; places++) {
        for (int k = 0; k < CHAINS * DRAWS; k++) {
            x[k] = k / DRAWS % places;
        }
        ck_ok(sal_stats_diagnose(CHAINS, DRAWS, x, &d, &err), &err);
        ck_assert_msg(isinf(d.rhat) && d.rhat > 0, "%d places: R-hat %g", places, d.rhat);
    }
    for (int k = 0; k < CHAINS * DRAWS; k++) {
        x[k] = 0.1;
    }
    ck_ok(sal_stats_diagnose(CHAINS, DRAWS, x, &d, &err), &err);
    ck_assert_double_nan(d.rhat);
    ck_assert_double_nan(d.ess_tail);
    for (int k = 0; k < CHAINS * DRAWS; k++) {
        x[k] = k / 2 % 2;
    }
    ck_ok(sal_stats_diagnose(CHAINS, DRAWS, x, &d, &err), &err);
    ck_assert_double_nan(d.rhat_folded);
    ck_assert_double_eq(d.rhat, d.rhat_bulk);
}
END_TEST

START_TEST(two_or_three_draws_have_no_diagnostics)
{
    sal_error err = { 0 };
    sal_diagnostics d;
    for (int64_t draws = 1; draws <= 3; draws++) {
        double x[9] = { 1, 5, 2, 4, 3, 9, 8, 6, 7 };
        ck_ok(sal_stats_diagnose(3, draws, x, &d, &err), &err);
        ck_assert_double_nan(d.rhat);
        ck_assert_double_nan(d.rhat_basic);
        ck_assert_double_nan(d.ess_bulk);
        ck_assert_double_nan(d.ess_tail);
        ck_assert_double_nan(d.ess_tfp);
    }
    ck_assert_double_eq(d.mean, 5.0);
}
END_TEST

START_TEST(rhat_of_counts_is_basic_rhat_of_the_indicator)
{
    sal_error err = { 0 };
    int64_t chains = 4, draws = 90, ones[8] = { 0 };
    double *x = autoregress(chains, draws, 0.8, 3), rhat;
    for (int64_t i = 0; i < chains * draws; i++) {
        x[i] = x[i] > 0.4 ? 1.0 : 0.0;
        ones[i / (draws / 2)] += x[i] > 0.5;
    }
    sal_diagnostics d;
    ck_ok(sal_stats_diagnose(chains, draws, x, &d, &err), &err);
    ck_ok(sali_rhat_counts(2 * chains, draws / 2, ones, &rhat, &err), &err);
    ck_assert_double_eq_tol(rhat, d.rhat_basic, 1e-12);
    sali_free(x);

    ck_ok(sali_rhat_counts(3, 10, (int64_t[]){ 10, 10, 10 }, &rhat, &err), &err);
    ck_assert_double_nan(rhat);
    ck_ok(sali_rhat_counts(3, 10, (int64_t[]){ 0, 0, 0 }, &rhat, &err), &err);
    ck_assert_double_nan(rhat);
    ck_ok(sali_rhat_counts(4, 10, (int64_t[]){ 0, 10, 10, 10 }, &rhat, &err), &err);
    ck_assert_msg(isinf(rhat) && rhat > 0, "%g", rhat);
    ck_ok(sali_rhat_counts(2, 10, (int64_t[]){ 5, 5 }, &rhat, &err), &err);
    ck_assert_double_eq_tol(rhat, sqrt(0.9), 1e-15);
}
END_TEST

START_TEST(bad_arguments_are_refused_and_leave_outputs_alone)
{
    sal_error err;
    sal_diagnostics d = { .mean = 42.0 };
    double x[4] = { 0 }, out = 42.0;
    ck_fails(sal_stats_diagnose(0, 4, x, &d, &err), SAL_ERR_ARGUMENT, &err, "got 0 x 4");
    ck_fails(sal_stats_diagnose(2, -1, x, &d, &err), SAL_ERR_ARGUMENT, &err, "at least 1 draw");
    ck_fails(sal_stats_diagnose(INT64_MAX / 2, 4, x, &d, &err), SAL_ERR_ARGUMENT, &err, "x 4");
    ck_fails(sal_stats_diagnose(INT64_MAX / 16, 4, x, &d, &err), SAL_ERR_MEMORY, &err, "memory");
    ck_fails(sal_stats_diagnose(1, 4, NULL, &d, &err), SAL_ERR_ARGUMENT, &err, "a series");
    ck_assert_double_eq(d.mean, 42.0);
    ck_fails(sal_stats_ess_tfp(0, x, &out, &err), SAL_ERR_ARGUMENT, &err, "n is 0");
    ck_fails(sal_stats_ess_tfp(INT64_MAX, x, &out, &err), SAL_ERR_MEMORY, &err, "memory");
    ck_fails(sali_rhat_counts(1, 9, (int64_t[]){ 1 }, &out, &err), SAL_ERR_ARGUMENT, &err,
             "got 1 of 9");
    ck_fails(sali_rhat_counts(2, 9, (int64_t[]){ 1, 10 }, &out, &err), SAL_ERR_ARGUMENT, &err,
             "half-chain 1 counts 10");
    ck_assert_double_eq(out, 42.0);
    ck_assert_int_eq(sal_stats_ess_tfp(0, x, &out, NULL), SAL_ERR_ARGUMENT);
}
END_TEST

START_TEST(fft_is_the_transform_and_backward_undoes_it)
{
    enum { N = 64 };
    double re[N], im[N], x[N], y[N];
    sali_memory memory = { 0 };
    sali_fft fft;
    ck_assert_int_eq(sali_fft_init(&fft, &memory, N, NULL), SAL_OK);
    for (int t = 0; t < N; t++) {
        x[t] = re[t] = cos(0.3 * t * t);
        y[t] = im[t] = sin(1.7 * t) + 0.2;
    }
    sali_fft_forward(&fft, re, im);
    for (int k = 0; k < N; k++) {
        int place = 0; /* bits of k reversed */
        double sum_re = 0.0, sum_im = 0.0;
        for (int bit = 1; bit < N; bit *= 2) {
            place = 2 * place + (k & bit ? 1 : 0);
        }
        for (int t = 0; t < N; t++) {
            double c = cos(2.0 * M_PI * k * t / N), s = -sin(2.0 * M_PI * k * t / N);
            sum_re += x[t] * c - y[t] * s;
            sum_im += x[t] * s + y[t] * c;
        }
        ck_assert_double_eq_tol(re[place], sum_re, 1e-12);
        ck_assert_double_eq_tol(im[place], sum_im, 1e-12);
    }
    sali_fft_backward(&fft, re, im);
    for (int t = 0; t < N; t++) {
        ck_assert_double_eq_tol(re[t], N * x[t], 1e-12);
        ck_assert_double_eq_tol(im[t], N * y[t], 1e-12);
    }
    sali_memory_free(&memory);
    ck_assert_int_eq(sali_fft_size(1), 2);
    ck_assert_int_eq(sali_fft_size(1024), 1024);
    ck_assert_int_eq(sali_fft_size(1025), 2048);
    ck_assert_int_eq(sali_fft_size(INT64_MAX), 0);
}
END_TEST

START_TEST(sorting_is_stable_and_orders_every_double)
{
    const double x[] = { 3.0, 0.0, -0.0, -INFINITY, 1e-310, -1e300, 3.0, INFINITY, -2.5, 0.0 };
    const int64_t order[] = { 3, 5, 8, 1, 2, 9, 4, 0, 6, 7 };
    sali_ranked ranked[10], scratch[10];
    for (int i = 0; i < 10; i++) {
        ranked[i] = (sali_ranked){ x[i], i };
    }
    sali_rank_sort(10, ranked, scratch);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(ranked[i].index, order[i]);
    }
    sali_rank_sort(0, ranked, scratch);
    sali_rank_sort(1, ranked, scratch);
}
END_TEST

START_TEST(normal_quantile_agrees_with_r)
{
    json_t *root = reference("stats_reference.json"), *entry;
    size_t index;
    json_array_foreach(json_object_get(root, "normal_quantile"), index, entry)
    {
        double p = number(json_array_get(entry, 0)), want = number(json_array_get(entry, 1));
        ck_assert_double_eq_tol(sali_normal_quantile(p), want, 1e-14 * (1.0 + fabs(want)));
        ck_assert_double_eq_tol(0.5 * erfc(-want / M_SQRT2), p, 1e-12 * p);
    }
    ck_assert_uint_gt(index, 5);
    json_decref(root);
}
END_TEST

START_TEST(chi_square_agrees_with_r)
{
    json_t *root = reference("stats_reference.json"), *entry;
    size_t index;
    json_array_foreach(json_object_get(root, "chi_square"), index, entry)
    {
        double p =
            chi_square_survival(number(json_array_get(entry, 0)), number(json_array_get(entry, 1)));
        ck_assert_double_eq_tol(p, number(json_array_get(entry, 2)), 1e-12);
    }
    ck_assert_uint_gt(index, 5);
    json_decref(root);

    const double expected[] = { 50, 30, 3, 1, 16, 0 }, observed[] = { 40, 35, 4, 0, 21, 0 };
    const double pooled = 100.0 / 50 + 25.0 / 30 + 25.0 / 16; /* 4 < 5 joins 16: 25 against 20 */
    double statistic = pooled - 25.0 / 16 + 25.0 / 20;
    ck_assert_double_eq_tol(chi_square_p(6, observed, expected), chi_square_survival(2, statistic),
                            1e-15);
    const double impossible[] = { 40, 35, 4, 0, 20, 1 };
    ck_assert_double_eq(chi_square_p(6, impossible, expected), 0.0);
    ck_assert_double_eq(chi_square_p(6, expected, expected), 1.0);
    ck_assert_double_eq(chi_square_p(1, observed, expected), 1.0);
    ck_assert_double_eq(chi_square_p(2, (double[]){ 1, 2 }, (double[]){ 2, 1 }), 1.0);
}
END_TEST

/* Sokal: the relative variance of the estimate is about 2 (2 M + 1) / draws, M the window. */
START_TEST(autocorrelation_time_is_that_of_autoregressions)
{
    enum { CHAINS = 3, DRAWS = 30001 };
    sal_error err = { 0 };
    const double phis[] = { -0.5, 0, 0.3, 0.8, 0.95 };
    for (size_t k = 0; k < sizeof phis / sizeof *phis; k++) {
        double tau = 0, truth = (1 + phis[k]) / (1 - phis[k]), window = 5 * fmax(truth, 1);
        double deviation = sqrt(2 * (2 * window + 1) / (CHAINS * DRAWS)) * truth;
        double *x = autoregress(CHAINS, DRAWS, phis[k], 7 + k);
        ck_ok(sal_stats_autocorrelation_time(CHAINS, DRAWS, x, &tau, &err), &err);
        /* cutting off after 5 times loses 1% at most; -0.5 loses 0.5^5 */
        ck_assert_double_eq_tol(tau, truth, 4 * deviation + 0.02 * truth);
        sali_free(x);
    }
}
END_TEST

START_TEST(autocorrelation_time_ignores_where_and_how_wide_a_chain_is)
{
    enum { DRAWS = 1000 };
    double *x = autoregress(2, DRAWS, 0.7, 3), one, moved, twice;
    sal_error err = { 0 };
    for (int t = 0; t < DRAWS; t++) {
        x[DRAWS + t] = 100 + x[t];
    }
    ck_ok(sal_stats_autocorrelation_time(1, DRAWS, x, &one, &err), &err);
    ck_ok(sal_stats_autocorrelation_time(1, DRAWS, x + DRAWS, &moved, &err), &err);
    ck_ok(sal_stats_autocorrelation_time(2, DRAWS, x, &twice, &err), &err);
    ck_assert_double_eq_tol(moved, one, 1e-9);
    ck_assert_double_eq_tol(twice, one, 1e-9);
    sali_free(x);
}
END_TEST

START_TEST(autocorrelation_time_of_what_has_none_is_nan)
{
    double x[] = { 1, 1, 1, 1, 1, 1, 1, 2, 1, 2 }, tau = 0;
    sal_error err = { 0 };
    ck_ok(sal_stats_autocorrelation_time(1, 6, x, &tau, &err), &err);
    ck_assert(isnan(tau));
    ck_ok(sal_stats_autocorrelation_time(2, 5, x, &tau, &err), &err);
    ck_assert(isfinite(tau)); /* the second chain moves */
    ck_ok(sal_stats_autocorrelation_time(3, 3, x, &tau, &err), &err);
    ck_assert(isnan(tau));
    x[9] = INFINITY;
    ck_ok(sal_stats_autocorrelation_time(2, 5, x, &tau, &err), &err);
    ck_assert(isnan(tau));
    tau = 7;
    ck_fails(sal_stats_autocorrelation_time(0, 5, x, &tau, &err), SAL_ERR_ARGUMENT, &err, "chains");
    ck_fails(sal_stats_autocorrelation_time(1, 5, NULL, &tau, &err), SAL_ERR_ARGUMENT, &err,
             "series");
    ck_assert_double_eq(tau, 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stats");
    TCase *tc = tcase_create("all");
    tcase_add_test(tc, diagnostics_agree_with_posterior);
    tcase_add_test(tc, ess_tfp_agrees_with_its_definition);
    tcase_add_test(tc, ess_tfp_of_a_chain_that_never_moves_is_nan);
    tcase_add_test(tc, diagnostics_hold_their_identities);
    tcase_add_test(tc, ess_of_antithetic_chains_has_a_cap);
    tcase_add_test(tc, rhat_of_stuck_chains_is_infinite);
    tcase_add_test(tc, ess_of_tails_is_known_for_two_values);
    tcase_add_test(tc, ess_of_alternating_draws_is_the_cap);
    tcase_add_test(tc, two_or_three_draws_have_no_diagnostics);
    tcase_add_test(tc, rhat_of_counts_is_basic_rhat_of_the_indicator);
    tcase_add_test(tc, bad_arguments_are_refused_and_leave_outputs_alone);
    tcase_add_test(tc, fft_is_the_transform_and_backward_undoes_it);
    tcase_add_test(tc, sorting_is_stable_and_orders_every_double);
    tcase_add_test(tc, normal_quantile_agrees_with_r);
    tcase_add_test(tc, chi_square_agrees_with_r);
    tcase_add_test(tc, autocorrelation_time_is_that_of_autoregressions);
    tcase_add_test(tc, autocorrelation_time_ignores_where_and_how_wide_a_chain_is);
    tcase_add_test(tc, autocorrelation_time_of_what_has_none_is_nan);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
