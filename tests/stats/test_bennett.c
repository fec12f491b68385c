/* SPDX-License-Identifier: MIT */
/* Bennett's acceptance ratio, and the mean acceptance of swaps. */
#include "test.h"

#include <math.h>

#include "core/rng.h"
#include "stats/bennett.h"

enum { STATES = 12, N = 400, GROUPS = 200 };

/* Two distributions over a dozen states, unnormalised; a forbids state 3, b state 7. */
static double f_of(int which, int s)
{
    if (s == (which ? 7 : 3)) {
        return -INFINITY;
    }
    return which ? sin(3.0 * s) + 0.1 * s : cos(2.0 * s) - 0.15 * s;
}

static double log_z(int which)
{
    double sum = 0;
    for (int s = 0; s < STATES; s++) {
        sum += exp(f_of(which, s));
    }
    return log(sum);
}

static int draw(int which, double u)
{
    double below = 0;
    for (int s = 0; s < STATES; s++) {
        below += exp(f_of(which, s) - log_z(which));
        if (u < below) {
            return s;
        }
    }
    return which ? 6 : STATES - 1;
}

/* Each draw comes `copies` times in a row: so many states are as good as one. */
static void fill(int which, uint32_t trial, int n, int copies, double *difference)
{
    sali_stream stream = {
        .seed = 4, .step = trial, .chain = (uint32_t)which, .purpose = SALI_RNG_TEST
    };
    for (int i = 0; i < n; i++) {
        int s = draw(which, sali_rng_uniform_at(&stream, (uint32_t)(i / copies)));
        difference[i] = f_of(1, s) - f_of(0, s);
    }
}

/* Over many trials the errors are as large as the standard errors say. */
START_TEST(ratio_is_right_within_its_error)
{
    enum { TRIALS = 400 };
    const double exact = log_z(1) - log_z(0);
    double a[N], b[N / 2], squares = 0, mean = 0;
    uint32_t group[N], group_to[N / 2];
    for (uint32_t i = 0; i < N; i++) {
        group[i] = i * GROUPS / N;
    }
    for (uint32_t i = 0; i < N / 2; i++) {
        group_to[i] = i * GROUPS / (N / 2);
    }
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        fill(0, trial, N, N / GROUPS, a);
        fill(1, trial, N / 2, 1, b);
        const sali_bennett_side from = { N, a, NULL }, to = { N / 2, b, NULL };
        double off = sali_bennett_ratio(&from, &to) - exact;
        double by_from[GROUPS] = { 0 }, by_to[GROUPS] = { 0 };
        sali_bennett_influence(&from, group, by_from, &to, group_to, by_to, off + exact);
        squares += off * off /
                   (sali_bennett_squared_error(GROUPS, by_from) +
                    sali_bennett_squared_error(GROUPS, by_to)) /
                   TRIALS;
        mean += off / TRIALS;
    }
    ck_assert_double_eq_tol(squares, 1, 0.3);
    ck_assert_double_eq_tol(mean, 0, 0.01);
}
END_TEST

/* Of a mean of groups it is the usual one: their variance, by one group less, over their number. */
START_TEST(error_of_a_mean_is_the_usual_one)
{
    static const double x[] = { 2, -1, 4, 7, 0.5 };
    double influence[5], mean = 0, squares = 0;
    for (int g = 0; g < 5; g++) {
        mean += x[g] / 5;
    }
    for (int g = 0; g < 5; g++) {
        influence[g] = (x[g] - mean) / 5;
        squares += (x[g] - mean) * (x[g] - mean);
    }
    ck_assert_double_eq_tol(sali_bennett_squared_error(5, influence), squares / 4 / 5, 1e-12);
}
END_TEST

/* States with their exact probabilities as weights give the exact ratio. */
START_TEST(weights_count)
{
    double d[STATES], even[STATES], weight[STATES];
    int n = 0;
    for (int s = 0; s < STATES; s++) {
        if (s != 3 && s != 7) {
            d[n] = f_of(1, s) - f_of(0, s);
            even[n] = exp(f_of(0, s) - log_z(0));
            weight[n++] = exp(f_of(1, s) - log_z(1));
        }
    }
    /* State 3 is allowed by b alone, state 7 by a alone. */
    d[n] = INFINITY;
    weight[n] = exp(f_of(1, 3) - log_z(1));
    double a[STATES];
    memcpy(a, d, sizeof a);
    a[n] = -INFINITY;
    even[n++] = exp(f_of(0, 7) - log_z(0));
    const sali_bennett_side from = { n, a, even }, to = { n, d, weight };
    ck_assert_double_eq_tol(sali_bennett_ratio(&from, &to), log_z(1) - log_z(0), 1e-9);
}
END_TEST

/* Sides so far apart that L is smaller than any double at the root, where it is e^-u: one state of
 * a, and two of b, of which a forbids the one that has a quarter of the weight. */
START_TEST(far_sides_have_a_ratio)
{
    const double low[] = { -2000 }, high[] = { 1993, INFINITY }, weight[] = { 0.75, 0.25 };
    const sali_bennett_side a = { 1, low, NULL }, b = { 2, high, weight };
    const double exact = 0.5 * (low[0] + high[0] - log(0.75));
    const double ratio = sali_bennett_ratio(&a, &b);
    ck_assert_double_eq_tol(ratio, exact + 0.5 * log(2), 1e-9);
    const uint32_t group_a[] = { 0 }, group_b[] = { 0, 1 };
    double influence[2] = { 0 };
    sali_bennett_influence(&a, group_a, influence, &b, group_b, influence, ratio);
    ck_assert_double_eq_tol(influence[0], -0.25, 1e-9);
    ck_assert_double_eq_tol(influence[1], 0.25, 1e-9);
}
END_TEST

START_TEST(nothing_in_common_is_nan)
{
    const double never[] = { -INFINITY, -INFINITY }, always[] = { INFINITY, INFINITY };
    const double some[] = { 0.5, -INFINITY };
    const sali_bennett_side a = { 2, never, NULL }, b = { 2, always, NULL };
    const sali_bennett_side c = { 2, some, NULL };
    ck_assert(isnan(sali_bennett_ratio(&a, &b)));
    ck_assert(isnan(sali_bennett_ratio(&a, &c)));
    ck_assert(isnan(sali_bennett_ratio(&c, &b)));
}
END_TEST

/* One state far above all others, further than exp reaches. */
START_TEST(acceptance_bears_far_states)
{
    double sorted[2], below[3];
    for (double far = 700; far < 800; far += 5) {
        const double da[] = { 0, -far - 0.5 }, db[] = { -far, -far };
        const sali_bennett_side a = { 2, da, NULL }, b = { 2, db, NULL };
        ck_assert_double_eq_tol(sali_swap_acceptance(&a, &b, sorted, below), (1 + exp(-0.5)) / 2,
                                1e-12);
    }
}
END_TEST

START_TEST(acceptance_is_the_mean_over_pairs)
{
    double a[N], b[N], weight[N], sorted[N], below[N + 1], sum = 0, want = 0;
    fill(0, 1, N, 1, a);
    fill(1, 2, N, 1, b);
    a[5] = -INFINITY;
    b[7] = INFINITY;
    for (int i = 0; i < N; i++) {
        weight[i] = 1 + i % 3;
        sum += weight[i];
    }
    for (int i = 0; i < N; i++) {
        weight[i] /= sum;
        for (int k = 0; k < N; k++) {
            want += weight[i] * fmin(1, exp(a[k] - b[i])) / N;
        }
    }
    const sali_bennett_side from = { N, a, NULL }, to = { N, b, weight };
    ck_assert_double_eq_tol(sali_swap_acceptance(&from, &to, sorted, below), want, 1e-12);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bennett");
    TCase *tcase = tcase_create("bennett");
    tcase_add_test(tcase, ratio_is_right_within_its_error);
    tcase_add_test(tcase, error_of_a_mean_is_the_usual_one);
    tcase_add_test(tcase, weights_count);
    tcase_add_test(tcase, far_sides_have_a_ratio);
    tcase_add_test(tcase, nothing_in_common_is_nan);
    tcase_add_test(tcase, acceptance_is_the_mean_over_pairs);
    tcase_add_test(tcase, acceptance_bears_far_states);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
