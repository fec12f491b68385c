/* SPDX-License-Identifier: MIT */
/* Ops at kinks and special values, and the structured ones against brute force. */
#include "formula.h"

#include <math.h>

#include "ad/ops/digamma.h"
#include "alloc_fail.h"
#include "op_cases.h"

/* Equal but for a few last places, a NaN to a NaN. */
#define ck_same(got, want)                                                            \
    ck_assert_msg((got) == (want) || (isnan(got) && isnan(want)) ||                   \
                      (isfinite(want) && fabs((got) - (want)) <= 2e-15 * fabs(want)), \
                  "%.17g, not %.17g", (got), (want))

typedef struct point {
    double x, y, slope;
} point;

static void check_points(sal_expr (*record)(sal_expr), int64_t n, const point *points)
{
    for (int64_t k = 0; k < n; k++) {
        sal_tape *tape = formula_tape(SAL_BINARY, 1, 2);
        formula f = formula_freeze(tape, record(sal_reshape(sal_state(tape), SAL_SCALAR)));
        double slope, y = formula_at(&f, &points[k].x, &slope);
        formula_melt(f);
        ck_same(y, points[k].y);
        ck_same(slope, points[k].slope);
    }
}
#define CHECK_POINTS(record, ...)                                          \
    check_points(record, sizeof((point[]){ __VA_ARGS__ }) / sizeof(point), \
                 (const point[]){ __VA_ARGS__ })

/* Public functions as functions: they are macros. */
#define AS_FUNCTION(name, expression) \
    static sal_expr name(sal_expr a)  \
    {                                 \
        return expression;            \
    }
AS_FUNCTION(take_abs, sal_abs(a))
AS_FUNCTION(take_relu, sal_relu(a))
AS_FUNCTION(take_gelu, sal_gelu(a))
AS_FUNCTION(take_elu, sal_elu(a, 1))
AS_FUNCTION(take_elu_half, sal_elu(a, 0.5))
AS_FUNCTION(take_clamp, sal_clamp(a, -1, 2))
AS_FUNCTION(take_half_line, sal_clamp(a, 0, HUGE_VAL))
AS_FUNCTION(take_sqrt, sal_sqrt(a))
AS_FUNCTION(take_log1p, sal_log1p(a))
AS_FUNCTION(take_lgamma, sal_lgamma(a))
AS_FUNCTION(take_pow_0, sal_pow(a, 0))
AS_FUNCTION(take_pow_half, sal_pow(a, 0.5))
AS_FUNCTION(take_pow_minus_half, sal_pow(a, -0.5))
AS_FUNCTION(take_pow_1, sal_pow(a, 1))
AS_FUNCTION(take_pow_2, sal_pow(a, 2))
AS_FUNCTION(take_pow_5, sal_pow(a, 5))
AS_FUNCTION(take_pow_minus_3, sal_pow(a, -3))
AS_FUNCTION(take_pow_third, sal_pow(a, 1.0 / 3))

START_TEST(kinks_and_special_values_are_as_documented)
{
    const double inf = HUGE_VAL, nan = NAN;
    CHECK_POINTS(take_abs, { -2, 2, -1 }, { 0, 0, 0 }, { -0.0, 0, 0 }, { 3, 3, 1 },
                 { -inf, inf, -1 }, { nan, nan, 0 });
    CHECK_POINTS(take_relu, { -2, 0, 0 }, { 0, 0, 0 }, { 3, 3, 1 }, { -inf, 0, 0 }, { inf, inf, 1 },
                 { nan, nan, 0 });
    CHECK_POINTS(take_clamp, { -2, -1, 0 }, { -1, -1, 0 }, { 0, 0, 1 }, { 2, 2, 0 }, { 9, 2, 0 },
                 { inf, 2, 0 }, { nan, nan, 0 });
    CHECK_POINTS(take_half_line, { -1, 0, 0 }, { 5, 5, 1 }, { inf, inf, 0 });
    CHECK_POINTS(take_sqrt, { 4, 2, 0.25 }, { 0, 0, inf }, { inf, inf, 0 }, { -1, nan, nan },
                 { nan, nan, nan });
    CHECK_POINTS(take_log1p, { 0, 0, 1 }, { -1, -inf, inf }, { inf, inf, 0 }, { -2, nan, -1 },
                 { nan, nan, nan });
    CHECK_POINTS(take_lgamma, { 1, 0, -0.57721566490153287 }, { 0, inf, nan }, { -3, inf, nan },
                 { inf, inf, inf }, { nan, nan, nan });
}
END_TEST

/* Slopes from the C library; far below 0, gelu is 0 to within the largest number's last place. */
START_TEST(gelu_and_elu_are_pytorchs)
{
    const double inf = HUGE_VAL, nan = NAN, inv_e = exp(-1);
    CHECK_POINTS(take_gelu, { -1, -0.15865525393145707, -0.08331547058768629 },
                 { -0.5, -0.15426876936299344, 0.13250487534383712 }, { 0, 0, 0.5 },
                 { 0.5, 0.34573123063700656, 0.8674951246561629 },
                 { 3, 2.99595030590511, 1.011945647204184 }, { -40, 0, 0 }, { 40, 40, 1 },
                 { -inf, 0, 0 }, { inf, inf, 1 }, { nan, nan, nan });
    CHECK_POINTS(take_elu, { -1, expm1(-1), inv_e }, { -1e-9, expm1(-1e-9), 1 - 1e-9 }, { 0, 0, 1 },
                 { 3, 3, 1 }, { 1000, 1000, 1 }, { -inf, -1, 0 }, { inf, inf, 1 },
                 { nan, nan, nan });
    CHECK_POINTS(take_elu_half, { -1, 0.5 * expm1(-1), 0.5 * inv_e }, { 0, 0, 0.5 }, { 3, 3, 1 },
                 { -inf, -0.5, 0 });
}
END_TEST

START_TEST(powers_are_right_at_zero_and_for_negative_bases)
{
    const double inf = HUGE_VAL, nan = NAN;
    CHECK_POINTS(take_pow_0, { -2, 1, 0 }, { 0, 1, 0 }, { inf, 1, 0 }, { nan, nan, 0 });
    CHECK_POINTS(take_pow_1, { -2, -2, 1 }, { 0, 0, 1 }, { nan, nan, nan });
    CHECK_POINTS(take_pow_2, { -3, 9, -6 }, { 0, 0, 0 }, { 1.1, 1.1 * 1.1, 2.2 },
                 { nan, nan, nan });
    CHECK_POINTS(take_pow_half, { 9, 3, 0.5 / 3 }, { 0, 0, inf }, { -0.0, 0, inf },
                 { -1, nan, nan });
    CHECK_POINTS(take_pow_minus_half, { 4, 0.5, -0.0625 }, { 0, inf, -inf }, { -0.0, inf, -inf });
    CHECK_POINTS(take_pow_5, { -2, -32, 80 }, { 0, 0, 0 }, { 3, 243, 405 });
    CHECK_POINTS(take_pow_minus_3, { -2, -0.125, -0.1875 }, { 0, inf, -inf }, { inf, 0, 0 });
    CHECK_POINTS(take_pow_third, { 0, 0, inf }, { -8, nan, nan });
}
END_TEST

/* f = op of two coordinates. */
static void check_pair(sal_expr (*record)(sal_expr, sal_expr), double a, double b, double y,
                       double slope_a, double slope_b)
{
    sal_tape *tape = formula_tape(SAL_BINARY, 2, 2);
    sal_expr s = sal_state(tape);
    formula f = formula_freeze(tape, record(sal_slice(s, 0, 0, 1), sal_slice(s, 0, 1, 1)));
    double x[2] = { a, b }, gradient[2];
    ck_same(formula_at(&f, x, gradient), y);
    ck_same(gradient[0], slope_a);
    ck_same(gradient[1], slope_b);
    formula_melt(f);
}

static sal_expr take_minimum(sal_expr a, sal_expr b)
{
    return sal_minimum(a, b);
}

static sal_expr take_maximum(sal_expr a, sal_expr b)
{
    return sal_maximum(a, b);
}

/* log a where a is not 0, else b. */
static sal_expr take_where(sal_expr a, sal_expr b)
{
    return sal_where(a, sal_log(a), b);
}

/* The sum of the maxima of a 2x2 window over each of two images [2, 2, 2]. */
START_TEST(max_pool_ties_go_to_the_first_pixel)
{
    sal_tape *tape = formula_tape(SAL_BINARY, 8, 2);
    sal_expr images = sal_reshape(sal_state(tape), SAL_SHAPE(2, 2, 2));
    formula f = formula_freeze(tape, sal_sum(sal_max_pool2d(images, 2, 1)));
    double gradient[8];
    ck_same(formula_at(&f, (double[]){ 1, 3, 3, 0, -2, -5, -4, -2 }, gradient), 1.0);
    ck_assert_mem_eq(gradient, ((double[]){ 0, 1, 0, 0, 1, 0, 0, 0 }), sizeof gradient);
    ck_same(formula_at(&f, (double[]){ 1, NAN, 3, 0, 0, 0, 0, 2 }, gradient), (double)NAN);
    formula_melt(f);
}
END_TEST

START_TEST(ties_go_to_the_first_and_nan_wins)
{
    const double inf = HUGE_VAL;
    check_pair(take_minimum, 1, 2, 1, 1, 0);
    check_pair(take_minimum, 2, 1, 1, 0, 1);
    check_pair(take_minimum, 2, 2, 2, 1, 0);
    check_pair(take_minimum, NAN, 2, NAN, 1, 0);
    check_pair(take_minimum, -inf, NAN, NAN, 0, 1);
    check_pair(take_maximum, 1, 2, 2, 0, 1);
    check_pair(take_maximum, 2, 2, 2, 1, 0);
    check_pair(take_maximum, -inf, -inf, -inf, 1, 0);
    check_pair(take_maximum, inf, NAN, NAN, 0, 1);
    check_pair(take_maximum, NAN, 1, NAN, 1, 0);
    check_pair(take_where, 2, 5, log(2), 0.5, 0);
    check_pair(take_where, 0, 5, 5, 0, 1); /* the derivative of log 0 does not leak */
    check_pair(take_where, NAN, 5, NAN, NAN, 0);
}
END_TEST

START_TEST(max_gives_its_derivative_to_the_first_maximum)
{
    static const double points[][6] = {
        { 1, 3, 2, 3, 3, 0 },        { -2, -2, -2, -2, -2, -2 },
        { 0, 1, NAN, 2, 3, 4 },      { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -1, -HUGE_VAL },
        { 0, HUGE_VAL, 1, 2, 3, 4 },
    };
    static const double largest[] = { 3, -2, NAN, -1, HUGE_VAL };
    static const int first[] = { 1, 0, -1, 4, 1 };
    for (int p = 0; p < 5; p++) {
        sal_tape *tape = formula_tape(SAL_BINARY, 6, 2);
        formula f = formula_freeze(tape, sal_max(sal_state(tape)));
        double gradient[6];
        ck_same(formula_at(&f, points[p], gradient), largest[p]);
        for (int i = 0; i < 6; i++) {
            ck_assert_double_eq(gradient[i], i == first[p]);
        }
        formula_melt(f);
    }
    /* Over columns of [3, 2]: the larger of columns' maxima are at 2 and at 3. */
    sal_tape *tape = formula_tape(SAL_BINARY, 6, 2);
    sal_expr a = sal_reshape(sal_state(tape), SAL_SHAPE(3, 2));
    formula f = formula_freeze(tape, sal_sum(sal_max_axis(a, 0)));
    const double x[6] = { 0, 1, 4, 2, 4, 2 };
    double gradient[6];
    ck_assert_double_eq(formula_at(&f, x, gradient), 6);
    for (int i = 0; i < 6; i++) {
        ck_assert_double_eq(gradient[i], i == 2 || i == 3);
    }
    formula_melt(f);
}
END_TEST

/* ---- digamma */

static double digamma(double x)
{
    double psi;
    digamma_block(1, &x, &psi);
    return psi;
}

static void check_digamma(double x, long double want)
{
    ck_assert_msg(fabsl(digamma(x) - want) < 2e-15L * (1 + fabsl(want)),
                  "psi(%g) = %.17g, not %.17Lg", x, digamma(x), want);
}

/* psi(1) = -gamma, psi(1/2) = -gamma - 2 log 2, psi(1/4) and psi(3/4) = -gamma -+ pi/2 - 3 log 2
 * (Gauss), and psi(x + 1) = psi(x) + 1/x from there, up and down. */
START_TEST(digamma_follows_from_known_values)
{
    const long double gamma = 0.577215664901532860606512090082402431L, two = logl(2);
    const long double pi = 3.14159265358979323846264338327950288L;
    const long double known[][2] = { { 1, -gamma },
                                     { 0.5L, -gamma - 2 * two },
                                     { 0.25L, -gamma - pi / 2 - 3 * two },
                                     { 0.75L, -gamma + pi / 2 - 3 * two } };
    for (int k = 0; k < 4; k++) {
        long double x = known[k][0], psi = known[k][1];
        for (; x < 300; psi += 1 / x, x += 1) {
            check_digamma((double)x, psi);
        }
        x = known[k][0], psi = known[k][1];
        for (; x > -20 && x != 1; x -= 1, psi -= 1 / x) {
            check_digamma((double)x, psi);
        }
    }
}
END_TEST

/* The duplication formula where no value is known, and the ends of the range. */
START_TEST(digamma_obeys_duplication)
{
    for (int k = 1; k < 2000; k++) {
        double x = 0.013 * k;
        ck_assert_double_eq_tol(digamma(2 * x), (digamma(x) + digamma(x + 0.5)) / 2 + log(2),
                                4e-15 * (1 + fabs(digamma(x))));
        ck_assert_double_eq_tol(digamma(-x - 7e-4) + 1 / (-x - 7e-4), digamma(1 - x - 7e-4),
                                1e-13 * (1 + pow(digamma(-x - 7e-4), 2)));
    }
    check_digamma(1e-300, -1e300L);
    check_digamma(1e300, logl(1e300L));
    check_digamma(1.4616321449683623, 0);
    ck_assert(isnan(digamma(0)) && isnan(digamma(-7)) && isnan(digamma(NAN)) &&
              isnan(digamma(-HUGE_VAL)) && digamma(HUGE_VAL) == HUGE_VAL);
}
END_TEST

START_TEST(digamma_is_the_derivative_of_lgamma)
{
    const long double h = 1e-4L;
    for (int k = 1; k < 400; k++) {
        long double x = 0.07L * k;
        long double one = (lgammal(x + h) - lgammal(x - h)) / (2 * h);
        long double two = (lgammal(x + 2 * h) - lgammal(x - 2 * h)) / (4 * h);
        ck_assert_double_eq_tol(digamma((double)x), (double)((4 * one - two) / 3), 1e-8);
    }
}
END_TEST

/* ---- selections */

#define N 6

/* A symmetric positive definite matrix with unlike diagonal entries. */
static void any_matrix(int64_t seed, double *A)
{
    double G[N * N];
    for (int k = 0; k < N * N; k++) {
        G[k] = op_number(seed + k, -1, 1);
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            A[i * N + j] = i == j ? 0.1 : 0;
            for (int l = 0; l < N; l++) {
                A[i * N + j] += G[i * N + l] * G[j * N + l] * (1 << i) * (1 << j);
            }
        }
    }
}

/* det(A_S) and y_S' A_S^-1 y_S by elimination, S the bits of `set`. */
static void eliminate(const double *A, const double *y, int set, double *det, double *quad)
{
    double M[N * N], v[N];
    memcpy(M, A, sizeof M);
    memcpy(v, y, sizeof v);
    *det = 1;
    *quad = 0;
    for (int i = 0; i < N; i++) {
        if (!((set >> i) & 1)) {
            continue;
        }
        double pivot = M[i * N + i];
        *det *= pivot;
        *quad += v[i] * v[i] / pivot;
        for (int j = i + 1; j < N; j++) {
            double factor = M[j * N + i] / pivot;
            for (int l = i; l < N; l++) {
                M[j * N + l] -= factor * M[i * N + l];
            }
            v[j] -= factor * v[i];
        }
    }
}

/* Every subset, on the lattice: the value, and the derivatives as ad.h gives them, in terms of the
 * change that adding or removing a variable makes. */
START_TEST(masked_ops_equal_elimination_on_every_subset)
{
    double A[N * N], y[N], flat[N * N + N];
    any_matrix(40, A);
    for (int i = 0; i < N; i++) {
        y[i] = op_number(700 + i, -2, 2);
    }
    memcpy(flat, A, sizeof A);
    memcpy(flat + N * N, y, sizeof y);
    sal_tape *tape = formula_tape(SAL_BINARY, N, 2);
    sal_expr matrix = sal_param(tape, "A", SAL_SHAPE(N, N)),
             vector = sal_param(tape, "y", SAL_SHAPE(N));
    sal_tape *other = formula_tape(SAL_BINARY, N, 2);
    formula logdet = formula_freeze(tape, sal_masked_logdet(sal_state(tape), matrix));
    matrix = sal_param(other, "A", SAL_SHAPE(N, N));
    vector = sal_param(other, "y", SAL_SHAPE(N));
    formula quad = formula_freeze(other, sal_masked_quad_inverse(sal_state(other), matrix, vector));
    sali_params_set(logdet.params, flat);
    sali_params_set(quad.params, flat);
    for (int set = 0; set < 1 << N; set++) {
        double x[N], by_logdet[N], by_quad[N], det, q;
        for (int i = 0; i < N; i++) {
            x[i] = (set >> i) & 1;
        }
        eliminate(A, y, set, &det, &q);
        ck_assert_double_eq_tol(formula_at(&logdet, x, by_logdet), log(det), 1e-12);
        ck_assert_double_eq_tol(formula_at(&quad, x, by_quad), q, 1e-11 * (1 + q));
        for (int i = 0; i < N; i++) {
            double with, without, q_with, q_without, a = A[i * N + i];
            eliminate(A, y, set | 1 << i, &with, &q_with);
            eliminate(A, y, set & ~(1 << i), &without, &q_without);
            double v = with / without / a, jump = q_with - q_without;
            double slope = log(a) + (x[i] == 0 ? v - 1 : 1 - 1 / v);
            ck_assert_double_eq_tol(by_logdet[i], slope, 1e-9 * (1 + fabs(slope)));
            slope = x[i] == 0 ? jump * v : jump / v;
            ck_assert_double_eq_tol(by_quad[i], slope, 1e-9 * (1 + fabs(slope)));
        }
    }
    formula_melt(logdet);
    formula_melt(quad);
}
END_TEST

/* The extension between the lattice points: the determinant in units of the diagonal is
 * multilinear. */
START_TEST(masked_determinant_is_multilinear)
{
    double A[N * N], y[N] = { 0 }, x[N], scale = 1, want = 0, det, q;
    any_matrix(90, A);
    sal_tape *tape = formula_tape(SAL_BINARY, N, 2);
    formula f = formula_freeze(
        tape, sal_masked_logdet(sal_state(tape), sal_param(tape, "A", SAL_SHAPE(N, N))));
    sali_params_set(f.params, A);
    for (int i = 0; i < N; i++) {
        x[i] = op_number(60 + i, 0.05, 0.95);
        scale *= pow(A[i * N + i], x[i]);
    }
    for (int set = 0; set < 1 << N; set++) {
        double weight = 1;
        for (int i = 0; i < N; i++) {
            bool in = (set >> i) & 1;
            weight *= in ? x[i] / A[i * N + i] : 1 - x[i];
        }
        eliminate(A, y, set, &det, &q);
        want += weight * det;
    }
    ck_assert_double_eq_tol(formula_at(&f, x, NULL), log(want * scale), 1e-11);
    formula_melt(f);
}
END_TEST

START_TEST(not_positive_definite_is_nan)
{
    static const double indefinite[] = { 1, 2, 0, 2, 1, 0, 0, 0, -1 }, y[] = { 1, 1, 1 };
    sal_tape *tape = formula_tape(SAL_BINARY, 3, 2);
    sal_expr s = sal_state(tape), A = sal_constant(tape, indefinite, SAL_SHAPE(3, 3));
    sal_expr both = sal_add(sal_masked_logdet(s, A),
                            sal_masked_quad_inverse(s, A, sal_constant(tape, y, SAL_SHAPE(3))));
    formula f = formula_freeze(tape, both);
    double gradient[3];
    ck_assert_double_eq(formula_at(&f, (double[]){ 0, 0, 0 }, NULL), 0);
    ck_assert_double_eq(formula_at(&f, (double[]){ 1, 0, 0 }, gradient), 1);
    ck_assert(isfinite(gradient[0]) && isfinite(gradient[1]) && isnan(gradient[2]));
    ck_assert(isnan(formula_at(&f, (double[]){ 1, 1, 0 }, gradient)));
    ck_assert(isnan(gradient[0]) && isnan(gradient[1]) && isnan(gradient[2]));
    ck_assert(isnan(formula_at(&f, (double[]){ 0, 0, 1 }, NULL)));
    ck_assert(isnan(formula_at(&f, (double[]){ -0.5, 0, 0 }, NULL)));
    ck_assert(isnan(formula_at(&f, (double[]){ NAN, 0, 0 }, NULL)));
    formula_melt(f);
}
END_TEST

START_TEST(max_coverage_equals_its_definition)
{
    enum { M = 9 };
    double C[N * M], want[1 << N];
    for (int k = 0; k < N * M; k++) {
        C[k] = op_number(k, 0, 1);
    }
    C[3] = C[M + 3] = 2; /* a tie: row 0 is the first */
    sal_tape *tape = formula_tape(SAL_BINARY, N, 2);
    formula f = formula_freeze(
        tape, sal_max_coverage(sal_state(tape), sal_constant(tape, C, SAL_SHAPE(N, M))));
    for (int set = 0; set < 1 << N; set++) {
        double x[N], gradient[N], slope[N] = { 0 };
        want[set] = 0;
        for (int j = 0; j < M; j++) {
            int best = -1;
            for (int i = 0; i < N; i++) {
                bool in = (set >> i) & 1;
                best = in && (best < 0 || C[i * M + j] > C[best * M + j]) ? i : best;
            }
            want[set] += best < 0 ? 0 : C[best * M + j];
            slope[best < 0 ? 0 : best] += best < 0 ? 0 : C[best * M + j];
        }
        for (int i = 0; i < N; i++) {
            x[i] = (set >> i) & 1;
        }
        ck_assert_double_eq_tol(formula_at(&f, x, gradient), want[set], 1e-13);
        for (int i = 0; i < N; i++) {
            ck_assert_double_eq_tol(gradient[i], slope[i], 1e-13);
        }
    }
    ck_assert(isnan(formula_at(&f, (double[N]){ 1, NAN, 1 }, NULL)));
    formula_melt(f);
}
END_TEST

AS_FUNCTION(take_at_most, sal_at_most(a, 0.5))

START_TEST(at_most_forbids_what_is_above)
{
    CHECK_POINTS(take_at_most, { -HUGE_VAL, 0, 0 }, { 0, 0, 0 }, { 0.5, 0, 0 },
                 { 0.5000001, -HUGE_VAL, 0 }, { HUGE_VAL, -HUGE_VAL, 0 }, { NAN, NAN, 0 });
}
END_TEST

/* By the sum over all sets, off the lattice too, with a negative row, a tie and a column of none.
 */
START_TEST(expected_coverage_is_the_mean_of_max_coverage)
{
    enum { M = 6 };
    double C[N * M];
    for (int k = 0; k < N * M; k++) {
        C[k] = k % M == 4 ? -1 : op_number(k, -0.3, 1);
    }
    C[1] = C[M + 1] = 2;
    sal_tape *tape = formula_tape(SAL_BINARY, N, 2);
    formula f = formula_freeze(
        tape, sal_expected_coverage(sal_state(tape), sal_constant(tape, C, SAL_SHAPE(N, M))));
    for (int trial = 0; trial < 20; trial++) {
        double x[N], gradient[N], slope[N] = { 0 }, want = 0;
        for (int i = 0; i < N; i++) {
            x[i] = trial < 8 ? trial >> i & 1 : op_number(trial * N + i, 0, 1);
        }
        for (int set = 0; set < 1 << N; set++) {
            double p = 1, value = 0;
            for (int j = 0; j < M; j++) {
                double best = 0;
                for (int i = 0; i < N; i++) {
                    best = (set >> i & 1) && C[i * M + j] > best ? C[i * M + j] : best;
                }
                value += best;
            }
            for (int i = 0; i < N; i++) {
                double others = 1;
                for (int k = 0; k < N; k++) {
                    others *= k == i ? 1 : set >> k & 1 ? x[k] : 1 - x[k];
                }
                p *= set >> i & 1 ? x[i] : 1 - x[i];
                slope[i] += (set >> i & 1 ? value : -value) * others;
            }
            want += p * value;
        }
        ck_assert_double_eq_tol(formula_at(&f, x, gradient), want, 1e-13);
        for (int i = 0; i < N; i++) {
            ck_assert_double_eq_tol(gradient[i], slope[i], 1e-13);
        }
    }
    formula_melt(f);
}
END_TEST

/* ---- many inputs */

/* sum_k k s_k, from 300 pieces of the state put together again in reverse. */
START_TEST(concat_takes_hundreds_of_inputs)
{
    enum { PARTS = 300 };
    static sal_expr parts[PARTS];
    static double weight[PARTS], x[PARTS], gradient[PARTS];
    sal_tape *tape = formula_tape(SAL_BINARY, PARTS, 2);
    double want = 0;
    for (int k = 0; k < PARTS; k++) {
        parts[k] = sal_slice(sal_state(tape), 0, PARTS - 1 - k, 1);
        weight[k] = k;
        x[k] = op_number(k, -1, 1);
    }
    sal_expr whole = sal_concat(parts, PARTS, -1);
    formula f = formula_freeze(tape, sal_dot(whole, sal_constant(tape, weight, SAL_SHAPE(PARTS))));
    double value = formula_at(&f, x, gradient);
    for (int k = 0; k < PARTS; k++) {
        want += weight[k] * x[PARTS - 1 - k];
        ck_assert_double_eq(gradient[PARTS - 1 - k], weight[k]);
    }
    ck_assert_double_eq_tol(value, want, 1e-9);
    ck_assert(sali_program_is_multilinear(f.program));
    formula_melt(f);
}
END_TEST

/* Record, freeze and open a formula with a node of 40 inputs and hoisted ones; then close it. */
static sal_status run_through(const sal_space *space)
{
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sali_program *program = NULL;
    sali_params *params = NULL;
    sali_workspace *ws = NULL;
    sal_expr parts[40], s = sal_state(tape), A = sal_param(tape, "A", SAL_SHAPE(3, 3));
    for (int k = 0; k < 40; k++) {
        parts[k] = k % 2 ? sal_gather(s, 0, 2, ((int64_t[]){ 2, 0 })) : sal_max_axis(A, 0);
    }
    sal_expr f = sal_add(sal_sum(sal_concat(parts, 40, 0)), sal_masked_logdet(s, A));
    sal_status status = sali_program_create(tape, f, &program, NULL);
    status = status == SAL_OK ? sali_params_create(program, &params, NULL) : status;
    status = status == SAL_OK ? sali_workspace_create(program, params, 2, 3, &ws, NULL) : status;
    sali_workspace_destroy(ws);
    sali_params_destroy(params);
    sali_program_destroy(program);
    sal_tape_destroy(tape);
    return status == SAL_ERR_ARGUMENT && !tape ? SAL_ERR_MEMORY : status;
}

START_TEST(failed_allocations_are_survived)
{
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "x", .kind = SAL_BINARY, .count = 3 }, NULL);
    ck_alloc_sweep(run_through(space), );
    sal_space_destroy(space);
}
END_TEST

START_TEST(missing_lists_are_refused)
{
    sal_error err = { 0 };
    sal_tape *tape = formula_tape(SAL_BINARY, 3, 2);
    ck_assert_int_eq(sal_gather(sal_state(tape), 0, 2, NULL).node, -1);
    ck_fails(sal_tape_check(tape, &err), SAL_ERR_ARGUMENT, &err, "gather: no indices");
    sal_tape_destroy(tape);
    ck_assert_int_eq(sal_concat(NULL, 3, 0).node, -1);
    ck_assert_int_eq(sal_concat(&(sal_expr){ 0 }, 0, 0).node, -1); /* there is no tape to blame */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("op_values");
    TCase *all = tcase_create("all");
    tcase_add_test(all, kinks_and_special_values_are_as_documented);
    tcase_add_test(all, gelu_and_elu_are_pytorchs);
    tcase_add_test(all, max_pool_ties_go_to_the_first_pixel);
    tcase_add_test(all, powers_are_right_at_zero_and_for_negative_bases);
    tcase_add_test(all, ties_go_to_the_first_and_nan_wins);
    tcase_add_test(all, max_gives_its_derivative_to_the_first_maximum);
    tcase_add_test(all, digamma_follows_from_known_values);
    tcase_add_test(all, digamma_obeys_duplication);
    tcase_add_test(all, digamma_is_the_derivative_of_lgamma);
    tcase_add_test(all, masked_ops_equal_elimination_on_every_subset);
    tcase_add_test(all, masked_determinant_is_multilinear);
    tcase_add_test(all, not_positive_definite_is_nan);
    tcase_add_test(all, max_coverage_equals_its_definition);
    tcase_add_test(all, at_most_forbids_what_is_above);
    tcase_add_test(all, expected_coverage_is_the_mean_of_max_coverage);
    tcase_add_test(all, concat_takes_hundreds_of_inputs);
    tcase_add_test(all, failed_allocations_are_survived);
    tcase_add_test(all, missing_lists_are_refused);
    suite_add_tcase(suite, all);
    return test_main(suite);
}
