/* SPDX-License-Identifier: MIT */
/* dReLU units: values, slopes and draws against integrals of the density as it is defined, and
 * against Mills' ratio in long double where numbers are large. */
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "core/vector/drelu.h"

enum { FINE = 900, MOST = 300 };

/* What the density of one unit integrates to. */
typedef struct integrals {
    long double log_total;      /* log of the integral of exp(h a - U(h)) / sqrt(2 pi) */
    long double positive;       /* the probability of h > 0 */
    long double mean, absolute; /* of h, of |h| */
    long double by_eta;         /* the mean of -dU / d eta */
    long double eta;
} integrals;

/* U as it is defined. */
static long double energy(long double delta, long double eta, long double h)
{
    return h > 0 ? h * h / (2 * (1 + eta)) + delta * h : h * h / (2 * (1 - eta)) - delta * h;
}

/* The trapezoidal rule in t, where h = scale exp(t - exp(-t)) on each side, with `scale` about the
 * width of the density. */
static integrals integrate(double a, double delta, double t)
{
    const long double eta = tanhl(t), step = 0.01L;
    long double most = 0, total = 0, positive = 0, mean = 0, absolute = 0, by_eta = 0;
    for (int side = -1; side <= 1; side += 2) {
        const long double s = sqrtl(1 + side * eta), x = s * (delta - side * a);
        const long double mode = x < 0 ? -x * s * side : 0;
        most = fmaxl(most, mode * a - energy(delta, eta, mode));
    }
    for (int side = -1; side <= 1; side += 2) {
        const long double s = sqrtl(1 + side * eta), x = s * (delta - side * a);
        const long double scale = s / (1 + fmaxl(x, 0));
        for (int k = 0; k < FINE; k++) {
            const long double u = -5 + step * k, h = side * scale * expl(u - expl(-u));
            const long double dh = fabsl(h) * (1 + expl(-u)) * step;
            const long double weight = dh * expl(h * a - energy(delta, eta, h) - most);
            const long double square = h / (1 + side * eta);
            total += weight;
            positive += side > 0 ? weight : 0;
            mean += weight * h;
            absolute += weight * fabsl(h);
            by_eta += weight * side * square * square / 2;
        }
    }
    return (integrals){ most + logl(total) - logl(2 * acosl(-1)) / 2,
                        positive / total,
                        mean / total,
                        absolute / total,
                        by_eta / total,
                        eta };
}

/* f, its slopes and a draw of one unit. */
typedef struct unit {
    double f, mean, by_delta, by_t;
} unit;

static unit unit_at(double a, double delta, double t)
{
    double plus, minus;
    unit u;
    sali_drelu_sides(1, &t, &plus, &minus);
    const sali_drelu all = { &delta, &plus, &minus };
    sali_drelu_values(1, &all, &a, &u.f, &u.mean);
    sali_drelu_slopes(1, &all, &a, &u.by_delta, &u.by_t);
    return u;
}

static double draw_at(double a, double delta, double t, double choice, double more)
{
    double plus, minus, h;
    const double uniforms[] = { choice, more };
    sali_drelu_sides(1, &t, &plus, &minus);
    const sali_drelu all = { &delta, &plus, &minus };
    sali_drelu_draw(1, &all, &a, uniforms, &h);
    return h;
}

static const double inputs[] = { 0, 0.01, -0.3, 0.7, -1, 2, 3.5, -5, 9, -12 };
static const double gaps[] = { 0, 0.02, -0.4, 0.8, -1.5, 2, -4, 7, 12 };
static const double skews[] = { 0, 0.1, -0.3, 0.6, -1, 2, -4, 9 };
enum {
    INPUTS = sizeof inputs / sizeof *inputs,
    GAPS = sizeof gaps / sizeof *gaps,
    SKEWS = sizeof skews / sizeof *skews
};

static void check(double got, long double want, long double tolerance, const char *what,
                  const double *at)
{
    ck_assert_msg(fabsl(got - want) <= tolerance,
                  "%s at a = %g, Delta = %g, t = %g: %.17g, not %.17Lg", what, at[0], at[1], at[2],
                  got, want);
}

START_TEST(values_and_slopes_are_integrals_of_the_density)
{
    for (int i = 0; i < INPUTS * GAPS * SKEWS; i++) {
        const double at[] = { inputs[i % INPUTS], gaps[i / INPUTS % GAPS],
                              skews[i / INPUTS / GAPS] };
        const integrals want = integrate(at[0], at[1], at[2]);
        const unit got = unit_at(at[0], at[1], at[2]);
        const long double one = 1 + fabsl(want.log_total) + (long double)(at[0] * at[0]);
        const long double by_t = want.by_eta * (1 - want.eta * want.eta);
        check(got.f, want.log_total, 4 * DBL_EPSILON * one, "f", at);
        check(got.mean, want.mean, 1e-14L * want.absolute, "the mean", at);
        check(got.by_delta, -want.absolute, 1e-14L * want.absolute, "the slope by Delta", at);
        check(got.by_t, by_t, 1e-14L * one, "the slope by t", at);
    }
}
END_TEST

START_TEST(units_without_gap_and_skew_are_gaussian)
{
    for (int k = -4000; k <= 4000; k++) {
        const double a = k * 0.01 * (k % 7 == 0 ? 250 : 1), one = 2 * DBL_EPSILON * (1 + a * a);
        const unit got = unit_at(a, 0, 0);
        ck_assert_double_eq_tol(got.f, a * a / 2, one);
        ck_assert_double_eq_tol(got.mean, a, 3 * DBL_EPSILON * (1 + fabs(a)));
    }
}
END_TEST

/* Mills' ratio and e(x) = 1 / R(x) - x for x >= 20, by their continued fraction. */
static long double excess_far(long double x)
{
    long double rest = 0;
    for (int n = 200; n > 1; n--) {
        rest = n / (x + rest);
    }
    return 1 / (x + rest);
}

/* A unit both of whose sides fall off from 0: both sides are like exponentials of rate x. And one
 * with a mode far from 0: its side is a whole Gaussian. */
START_TEST(large_numbers_neither_overflow_nor_cancel)
{
    static const double large[] = { 25, 60, 300, 4000, 1e4 };
    for (int i = 0; i < 5; i++) {
        const long double x = large[i], e = excess_far(x), a = 0.25L * x;
        const double both[] = { large[i], 0, 0 }, gap[] = { 0.25 * large[i], large[i], 0 };
        unit u = unit_at(0, both[0], 0);
        check(u.f, logl(2 / (x + e)) - logl(2 * acosl(-1)) / 2, 1e-15L * 20, "f", both);
        check(u.by_delta, -e, 1e-15L * e, "the slope by Delta", both);
        ck_assert(u.mean == 0 && u.by_t == 0);
        u = unit_at(gap[0], gap[1], 0); /* rates x - a and x + a */
        const long double near = excess_far(x - a), far = excess_far(x + a);
        const long double plus = 1 / (x - a + near), minus = 1 / (x + a + far);
        const long double p = plus / (plus + minus), q = minus / (plus + minus);
        check(u.mean, p * near - q * far, 4e-15L * near, "the mean", gap);
        /* E z^2 = 1 - x e(x) is about 2 / x^2: by the continued fraction of e(x) = 1 / (x + r) */
        const long double r = 1 / near - (x - a), s = 1 / far - (x + a);
        check(u.by_t, (p * r * near - q * s * far) / 2, 1e-9L * r * near, "the slope by t", gap);
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int negative = 0; negative < 2; negative++) {
                const double at[] = { sign * large[i], negative ? -0.5 : 0.5, sign * 0.3 };
                const long double s2 = 2 / (1 + expl(-2 * fabsl(at[2])));
                const long double m = x - at[1]; /* of |h|: s2 m */
                u = unit_at(at[0], at[1], at[2]);
                check(u.f, s2 * m * m / 2 + logl(s2) / 2, 4 * DBL_EPSILON * (1 + x * x), "f", at);
                check(u.mean, sign * s2 * m, 1e-15L * x, "the mean", at);
            }
        }
    }
}
END_TEST

/* log of the probability that a normal number is above y. */
static long double log_above(long double y)
{
    if (y < 20) {
        return logl(erfcl(y / sqrtl(2)) / 2);
    }
    return -y * y / 2 - logl(2 * acosl(-1)) / 2 - logl(y + excess_far(y));
}

/* The probability that z, of density exp(-x z - z^2 / 2) on z > 0, is above this; and its
 * density. */
static long double above(long double x, long double z, long double *density)
{
    const long double log_ratio =
        x < 20 ? log_above(x + z) - log_above(x)
               : -z * (x + z / 2) -
                     log1pl((z + excess_far(x + z) - excess_far(x)) / (x + excess_far(x)));
    const long double p = expl(log_ratio), y = x + z;
    *density =
        y < 20 ? expl(-y * y / 2 - log_above(x)) / sqrtl(2 * acosl(-1)) : p * (y + excess_far(y));
    return p;
}

/* x of the positive side from the middle of a whole normal density to a narrow exponential; uniform
 * numbers down to the smallest and up to the largest that are drawn. */
START_TEST(draws_invert_the_distribution_in_both_tails)
{
    static const double ends[] = { 0x1p-53, 1e-12, 1e-7, 1e-4, 0.01, 0.1 };
    static const double xs[] = { -1e4, -300, -40,  -20, -8.3, -7, -4, -2, -1, -0.4, -1e-3, 0,
                                 1e-4, 0.2,  0.99, 1.5, 2.5,  4,  7,  12, 40, 300,  1e4 };
    for (int i = 0; i < (int)(sizeof xs / sizeof *xs); i++) {
        for (int k = 0; k < 40; k++) {
            const double u = k < 6 ? ends[k] : k < 12 ? 1 - ends[k - 6] : (k - 11) / 29.0;
            const double h = draw_at(0, xs[i], 0, 0.3, u);
            long double density;
            const long double got = above(xs[i], h, &density);
            const long double rounding = 4 * DBL_EPSILON * density * (fabs(xs[i]) + h);
            ck_assert_msg(fabsl(got - u) <= 1e-14L * fmin(u, 1 - u) + rounding + 6e-16L,
                          "x = %g: %.17g is exceeded with probability %.17Lg, not %.17g", xs[i], h,
                          got, u);
        }
    }
}
END_TEST

START_TEST(draws_choose_sides_by_their_weights)
{
    for (int i = 0; i < INPUTS * GAPS * SKEWS; i++) {
        const double at[] = { inputs[i % INPUTS], gaps[i / INPUTS % GAPS],
                              skews[i / INPUTS / GAPS] };
        const long double p = integrate(at[0], at[1], at[2]).positive;
        const double s = sqrt(2 / (1 + exp(-2 * at[2]))), r = sqrt(2 / (1 + exp(2 * at[2])));
        if (p > 1e-12L && p < 1 - 1e-12L) {
            const double plus = draw_at(at[0], at[1], at[2], (double)(p * (1 - 1e-12L)), 0.3);
            const double minus = draw_at(at[0], at[1], at[2], (double)(p * (1 + 1e-12L)), 0.3);
            long double density;
            check((double)above(s * (at[1] - at[0]), plus / s, &density), 0.3L, 1e-12L, "plus", at);
            check((double)above(r * (at[1] + at[0]), -minus / r, &density), 0.3L, 1e-12L, "minus",
                  at);
        }
    }
}
END_TEST

START_TEST(a_unit_does_not_depend_on_those_beside_it)
{
    static double a[MOST], delta[MOST], t[MOST], plus[MOST], minus[MOST], f[MOST], mean[MOST];
    static double by_delta[MOST], by_t[MOST], uniforms[2 * MOST], h[MOST];
    for (int i = 0; i < MOST; i++) {
        a[i] = 0.05 * (i % 97) - 2;
        delta[i] = 0.1 * (i % 31) - 1;
        t[i] = 0.1 * (i % 23) - 1;
        uniforms[i] = (i + 0.5) / MOST;
        uniforms[MOST + i] = (i * 7 % MOST + 0.5) / MOST;
    }
    sali_drelu_sides(MOST, t, plus, minus);
    const sali_drelu all = { delta, plus, minus };
    sali_drelu_values(MOST, &all, a, f, mean);
    sali_drelu_slopes(MOST, &all, a, by_delta, by_t);
    sali_drelu_draw(MOST, &all, a, uniforms, h);
    for (int i = 0; i < MOST; i++) {
        const unit one = unit_at(a[i], delta[i], t[i]);
        ck_assert(one.f == f[i] && one.mean == mean[i]);
        ck_assert(one.by_delta == by_delta[i] && one.by_t == by_t[i]);
        ck_assert(draw_at(a[i], delta[i], t[i], uniforms[i], uniforms[MOST + i]) == h[i]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("drelu");
    TCase *tcase = tcase_create("drelu");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, values_and_slopes_are_integrals_of_the_density);
    tcase_add_test(tcase, units_without_gap_and_skew_are_gaussian);
    tcase_add_test(tcase, large_numbers_neither_overflow_nor_cancel);
    tcase_add_test(tcase, draws_invert_the_distribution_in_both_tails);
    tcase_add_test(tcase, draws_choose_sides_by_their_weights);
    tcase_add_test(tcase, a_unit_does_not_depend_on_those_beside_it);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
