/* SPDX-License-Identifier: MIT */
/* Theorems of the papers about samplers, on models so small that their matrices and stationary
 * distributions can be had exactly. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "transition.h"

#define MOST TINY_MOST_STATES

/* ---- linear algebra */

/* The stationary distribution of a stochastic matrix, by the elimination of Grassmann, Taksar &
 * Heyman 1985, which subtracts nothing. */
static void stationary(int64_t n, const double *P, double *pi)
{
    double *A = malloc((size_t)(n * n) * sizeof *A), total = 1;
    memcpy(A, P, (size_t)(n * n) * sizeof *A);
    for (int64_t k = n - 1; k > 0; k--) {
        double out = 0;
        for (int64_t j = 0; j < k; j++) {
            out += A[k * n + j];
        }
        for (int64_t i = 0; i < k; i++) {
            A[i * n + k] /= out;
            for (int64_t j = 0; j < k; j++) {
                A[i * n + j] += A[i * n + k] * A[k * n + j];
            }
        }
    }
    pi[0] = 1;
    for (int64_t k = 1; k < n; k++) {
        pi[k] = 0;
        for (int64_t i = 0; i < k; i++) {
            pi[k] += pi[i] * A[i * n + k];
        }
        total += pi[k];
    }
    for (int64_t k = 0; k < n; k++) {
        pi[k] /= total;
    }
    free(A);
}

/* One rotation of Jacobi's method, which clears A[p][q]. */
static void rotate(int64_t n, double *A, int64_t p, int64_t q)
{
    double theta = 0.5 * atan2(2 * A[p * n + q], A[q * n + q] - A[p * n + p]);
    double c = cos(theta), s = sin(theta);
    for (int64_t k = 0; k < n; k++) {
        double a = A[k * n + p], b = A[k * n + q];
        A[k * n + p] = c * a - s * b;
        A[k * n + q] = s * a + c * b;
    }
    for (int64_t k = 0; k < n; k++) {
        double a = A[p * n + k], b = A[q * n + k];
        A[p * n + k] = c * a - s * b;
        A[q * n + k] = s * a + c * b;
    }
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Eigenvalues of a symmetric matrix, which is overwritten, the largest first. */
static void eigenvalues(int64_t n, double *A, double *values)
{
    for (int sweep = 0; sweep < 12; sweep++) {
        for (int64_t p = 0; p < n; p++) {
            for (int64_t q = p + 1; q < n; q++) {
                rotate(n, A, p, q);
            }
        }
    }
    for (int64_t k = 0; k < n; k++) {
        values[k] = A[k * n + k];
    }
    qsort(values, (size_t)n, sizeof *values, descending);
}

/* 1 minus the second largest eigenvalue of P, which is reversible with respect to pi. */
static double gap(int64_t n, const double *P, const double *pi)
{
    double *A = malloc((size_t)(n * n) * sizeof *A), *values = malloc((size_t)n * sizeof *values);
    for (int64_t k = 0; k < n * n; k++) {
        A[k] = sqrt(pi[k / n] / pi[k % n]) * P[k];
    }
    eigenvalues(n, A, values);
    ck_assert_double_eq_tol(values[0], 1, 1e-10);
    double found = 1 - values[1];
    free(A);
    free(values);
    return found;
}

/* The largest and the smallest eigenvalue of a symmetric d x d matrix. */
static void extremes(int64_t d, const double *A, double *high, double *low)
{
    double *copy = malloc((size_t)(d * d) * sizeof *copy), values[MOST];
    memcpy(copy, A, (size_t)(d * d) * sizeof *copy);
    eigenvalues(d, copy, values);
    *high = values[0];
    *low = values[d - 1];
    free(copy);
}

/* ---- models */

/* s'Js + b's over a tiny space. */
static sal_model *quadratic(const sal_space *space, const double *J, const double *b)
{
    int64_t N = space->width;
    sal_model *model = NULL;
    sal_error err;
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    sal_expr f = sal_add(sal_dot(sal_constant(tape, b, SAL_SHAPE(N)), s),
                         sal_quad(s, sal_constant(tape, J, SAL_SHAPE(N, N))));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

/* A random symmetric J of standard deviation `scale`, and fields of 1. */
static void random_terms(int64_t N, double scale, double *J, double *b)
{
    tiny_normals(41, N * N, scale, J);
    tiny_normals(42, N, 1, b);
    for (int64_t k = 0; k < N * N; k++) {
        J[k] = k / N < k % N ? J[k] : J[k % N * N + k / N];
    }
}

/* Reals of all states [n x N]. */
static double *all_reals(const sal_model *model, int64_t n)
{
    double *x = malloc((size_t)(n * model->space->width) * sizeof *x);
    int32_t codes[TINY_MOST_REALS];
    for (int64_t i = 0; i < n; i++) {
        state_codes(model->space, i, codes);
        sali_model_embed(model, 1, codes, x + i * model->space->width);
    }
    return x;
}

static double squared_distance(int64_t N, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t k = 0; k < N; k++) {
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    }
    return sum;
}

static transition matrix(const char *specification, const sal_model *model, double step_size)
{
    const sali_sampler *sampler = sali_sampler_find(specification);
    sali_sampler_settings settings = { .step_size = step_size };
    sal_error err;
    ck_ok(sali_specification_values(specification, sampler->settings, settings.values, &err), &err);
    return transition_make(sampler, model, &settings, 1, 0);
}

/* The Metropolis-Hastings matrix of the proposal with log-weights [n x n]. */
static void metropolis_hastings(int64_t n, const double *f, double *log_weight, double *P)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            sum += exp(log_weight[i * n + j]);
        }
        for (int64_t j = 0; j < n; j++) {
            log_weight[i * n + j] -= log(sum);
        }
    }
    for (int64_t i = 0; i < n; i++) {
        P[i * n + i] = 1;
        for (int64_t j = 0; j < n; j++) {
            double forward = log_weight[i * n + j], ratio = f[j] - f[i] + log_weight[j * n + i];
            if (j != i && forward > -INFINITY) {
                P[i * n + j] = fmin(exp(forward), exp(ratio));
                P[i * n + i] -= P[i * n + j];
            }
        }
    }
}

/* ---- unadjusted samplers: Xiang et al. 2023, theorem 1 and figure 1
 *
 * The bound as printed, Z exp(-1/(2 alpha) - lambda_min/2), is false: adding a constant to f
 * changes it but not the bias (the proof bounds exp((F(x) + F(y)) / 2) by exp(F(x) + F(y))). Left
 * as it is, that sum gives 2 (sum exp(F/2))^2 / (sum exp F) in the place of Z. */

/* theta s'As + b's on a 2 x 2 lattice of {0, 1}, A the adjacency. */
#define THETA 0.4
static const double lattice_fields[] = { 0.3, -0.5, 0.2, -0.1 };

static sal_model *lattice(double *low)
{
    static const double A[16] = { 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0 };
    double J[16], high;
    for (int k = 0; k < 16; k++) {
        J[k] = THETA * A[k];
    }
    extremes(4, J, &high, low);
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_model *model = quadratic(space, J, lattice_fields);
    sal_space_destroy(space);
    return model;
}

/* L1 distance of the stationary distribution of a sampler from the target. */
static double bias(const char *sampler, const sal_model *model, double step_size)
{
    transition t = matrix(sampler, model, step_size);
    double pi[MOST], sum = 0;
    stationary(t.n, t.P, pi);
    for (int64_t i = 0; i < t.n; i++) {
        sum += fabs(pi[i] - t.pi[i]);
    }
    transition_free(&t);
    return sum;
}

START_TEST(bias_of_unadjusted_samplers_falls_and_keeps_its_bound)
{
    static const char *const samplers[] = { "una", "dula" };
    static const double alphas[] = { 1.2, 1, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.08, 0.06 };
    double low, f[MOST], pi[MOST], halves = 0, whole = 0;
    sal_model *model = lattice(&low);
    ck_assert_double_eq_tol(low, -2 * THETA, 1e-12);
    states_probabilities(model, 1, f, pi);
    for (int64_t i = 0; i < 16; i++) {
        halves += exp(f[i] / 2);
        whole += exp(f[i]);
    }
    for (int s = 0; s < 2; s++) {
        double before = INFINITY;
        for (size_t k = 0; k < sizeof alphas / sizeof *alphas; k++) {
            double found = bias(samplers[s], model, alphas[k]);
            double bound = 2 * halves * halves / whole * exp(-0.5 / alphas[k] - low / 2);
            ck_assert_double_gt(alphas[k] * low, -1);
            ck_assert_msg(found < before, "%s: bias %g at alpha %g, %g before", samplers[s], found,
                          alphas[k], before);
            ck_assert_msg(found <= bound, "%s: bias %g above its bound %g at alpha %g", samplers[s],
                          found, bound, alphas[k]);
            before = found;
        }
        ck_assert_double_gt(bias(samplers[s], model, 1), 0.01); /* there is one */
        ck_assert_double_lt(before, 1e-3);
    }
    ck_assert_double_lt(bias("mana", model, 1), 1e-12); /* acceptance takes it away */
    ck_assert_double_lt(bias("dmala", model, 1), 1e-12);
    sal_model_destroy(model);
}
END_TEST

/* Adding a constant to f changes the theorem's bound as printed, but no bias. */
START_TEST(bias_does_not_depend_on_the_normalisation)
{
    double low, J[16] = { 0 }, shifted[4];
    sal_model *model = lattice(&low);
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    memcpy(shifted, lattice_fields, sizeof shifted);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_model *other = NULL;
    sal_error err;
    for (int k = 0; k < 16; k++) {
        J[k] = THETA * (k % 4 != k / 4 && k % 4 + k / 4 != 3);
    }
    sal_expr s = sal_state(tape);
    sal_expr f = sal_add(sal_dot(sal_constant(tape, shifted, SAL_SHAPE(4)), s),
                         sal_quad(s, sal_constant(tape, J, SAL_SHAPE(4, 4))));
    ck_ok(sal_model_from_tape(tape, sal_add(f, sal_scalar(tape, -5)), &other, &err), &err);
    ck_assert_double_eq_tol(bias("una", model, 0.5), bias("una", other, 0.5), 1e-12);
    sal_tape_destroy(tape);
    sal_model_destroy(model);
    sal_model_destroy(other);
    sal_space_destroy(space);
}
END_TEST

/* ---- spectral gaps */

/* Off the diagonal P >= c Q, hence Gap(P) >= c Gap(Q) (Zanella 2020, theorem 2). */
static void check_gap(int64_t n, const double *P, const double *Q, const double *pi, double c,
                      const char *where)
{
    ck_assert_msg(c > 0.2 && c < 0.98, "%s: c = %g says nothing", where, c);
    for (int64_t k = 0; k < n * n; k++) {
        ck_assert_msg(k / n == k % n || P[k] >= c * Q[k] - 1e-14, "%s: P %g below c Q, %g", where,
                      P[k], c * Q[k]);
    }
    double of_p = gap(n, P, pi), of_q = gap(n, Q, pi);
    ck_assert_msg(of_p >= c * of_q, "%s: gap %g, c %g times %g", where, of_p, c, of_q);
    ck_assert_double_gt(of_p, 1e-3);
}

/* Models of random couplings, by kind, small enough that c says something. */
static const struct {
    const char *space;
    double single, all; /* standard deviation of couplings, for moves of one and of all variables */
} coupled[] = { { "binary", 0.12, 0.03 },
                { "spin", 0.03, 0.008 },
                { "grid", 0.01, 0.01 },
                { "label", 0.07, 0.03 } };

/* Grathwohl et al. 2021, theorem 1, with the locally balanced proposal q_2 as written there. */
START_TEST(gap_of_gwg_is_at_least_c_times_the_locally_balanced_one)
{
    for (size_t m = 0; m < sizeof coupled / sizeof *coupled; m++) {
        double J[TINY_MOST_REALS * TINY_MOST_REALS], b[TINY_MOST_REALS], high, low, D2 = 0;
        sal_space *space = tiny_space_make(tiny_space_named(coupled[m].space));
        int64_t N = space->width, n = states_count(space);
        random_terms(N, coupled[m].single, J, b);
        sal_model *model = quadratic(space, J, b);
        double *x = all_reals(model, n), *w = malloc((size_t)(n * n) * sizeof *w);
        double *Q = calloc((size_t)(n * n), sizeof *Q);
        transition t = matrix("gwg", model, 0);
        for (int64_t k = 0; k < n * n; k++) {
            int32_t from[TINY_MOST_REALS], to[TINY_MOST_REALS];
            int moved = 0;
            state_codes(space, k / n, from);
            state_codes(space, k % n, to);
            for (int64_t v = 0; v < space->n_variables; v++) {
                moved += from[v] != to[v];
            }
            w[k] = moved == 1 ? (t.f[k % n] - t.f[k / n]) / 2 : -INFINITY;
            D2 = fmax(D2, moved == 1 ? squared_distance(N, x + k / n * N, x + k % n * N) : 0);
        }
        metropolis_hastings(n, t.f, w, Q);
        extremes(N, J, &high, &low);
        double L = 2 * fmax(fabs(high), fabs(low)); /* of the gradient 2 J x + b */
        check_gap(n, t.P, Q, t.pi, exp(-0.5 * L * D2), coupled[m].space);
        transition_free(&t);
        free(x);
        free(w);
        free(Q);
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

/* log q of `t` without its penalty is (Delta~ + a constant of the state) / 2: the smallest L with
 * |Delta~ - Delta| <= L/2 |x' - x|^2. */
static double smallest_L(const transition *t, int64_t N, const double *x, double alpha)
{
    double L = 0;
    for (int64_t k = 0; k < t->n * t->n; k++) {
        int64_t i = k / t->n, j = k % t->n;
        double square = squared_distance(N, x + i * N, x + j * N);
        double along = 2 * (t->log_q[k] - t->log_q[i * t->n + i]) + square / alpha;
        L = i == j ? L : fmax(L, 2 * fabs(along - (t->f[j] - t->f[i])) / square);
    }
    return L;
}

/* Xiang et al. 2023, theorem 2, with the proposal q_0 of eq. 3 over all states. */
START_TEST(gap_of_mana_is_at_least_c_times_the_locally_balanced_one)
{
    const double alpha = 1.5;
    for (size_t m = 0; m < sizeof coupled / sizeof *coupled; m++) {
        double J[TINY_MOST_REALS * TINY_MOST_REALS], b[TINY_MOST_REALS], D2 = 0;
        sal_space *space = tiny_space_make(tiny_space_named(coupled[m].space));
        int64_t N = space->width, n = states_count(space);
        random_terms(N, coupled[m].all, J, b);
        sal_model *model = quadratic(space, J, b);
        double *x = all_reals(model, n), *w = malloc((size_t)(n * n) * sizeof *w);
        double *Q = calloc((size_t)(n * n), sizeof *Q);
        transition t = matrix("mana", model, alpha);
        for (int64_t k = 0; k < n * n; k++) {
            double square = squared_distance(N, x + k / n * N, x + k % n * N);
            w[k] = (t.f[k % n] - t.f[k / n]) / 2 - square / (2 * alpha);
            D2 = fmax(D2, square);
        }
        metropolis_hastings(n, t.f, w, Q);
        check_gap(n, t.P, Q, t.pi, exp(-0.5 * smallest_L(&t, N, x, alpha) * D2), coupled[m].space);
        transition_free(&t);
        free(x);
        free(w);
        free(Q);
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

static Suite *theory_suite(void)
{
    Suite *suite = suite_create("theory");
    TCase *tcase = tcase_create("theory");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, bias_of_unadjusted_samplers_falls_and_keeps_its_bound);
    tcase_add_test(tcase, bias_does_not_depend_on_the_normalisation);
    tcase_add_test(tcase, gap_of_gwg_is_at_least_c_times_the_locally_balanced_one);
    tcase_add_test(tcase, gap_of_mana_is_at_least_c_times_the_locally_balanced_one);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(theory_suite());
}
