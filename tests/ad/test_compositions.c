/* SPDX-License-Identifier: MIT */
/* Formulas that are compositions of ops and need none of their own: hidden Markov models by the
 * forward algorithm, cumulative sums, and the prior of a chain of bits. */
#include "formula.h"

#include <math.h>

#include "op_cases.h"

/* ---- hidden Markov models
 *
 * The state holds the observed symbols y_1 .. y_T, categorical of M; K hidden states; parameters
 * are logits. With log pi, log A and log B the logits less their logsumexp along the last axis,
 *
 *     E [T, K]    = Y log B'                                   matmul of the one-hots of y
 *     alpha_1     = log pi + E_1                               slice, reshape, add
 *     alpha_t [j] = E_t [j] + logsumexp_i (alpha_{t-1} [i] + log A [i, j])
 *                   alpha as a column [K, 1] broadcasts over the rows of log A; logsumexp_axis 0
 *     log p(y)    = logsumexp_k alpha_T [k]                                                     */

enum { STEPS = 4, K = 3, M = 3, LOGITS = K + K * K + M * K };

/* Logits [rows, n] less the logsumexp of each row. */
static sal_expr log_rows(sal_expr logits, int64_t rows)
{
    sal_expr norm = sal_logsumexp_axis(logits, -1);
    return sal_sub(logits, sal_reshape(norm, SAL_SHAPE(rows, 1)));
}

static sal_expr hmm_log_likelihood(sal_tape *tape)
{
    sal_expr logits = sal_param(tape, "pi", SAL_SHAPE(K));
    sal_expr log_pi = sal_sub(logits, sal_logsumexp(logits));
    sal_expr log_A = log_rows(sal_param(tape, "A", SAL_SHAPE(K, K)), K);
    sal_expr log_B = sal_param(tape, "B", SAL_SHAPE(M, K)); /* [symbol, hidden state] */
    log_B = sal_sub(log_B, sal_logsumexp_axis(log_B, 0));
    sal_expr E = sal_matmul(sal_state_block(tape, "x"), log_B);
    sal_expr alpha = sal_add(log_pi, sal_reshape(sal_slice(E, 0, 0, 1), SAL_SHAPE(K)));
    for (int t = 1; t < STEPS; t++) {
        sal_expr arrive = sal_add(sal_reshape(alpha, SAL_SHAPE(K, 1)), log_A);
        sal_expr emit = sal_reshape(sal_slice(E, 0, t, 1), SAL_SHAPE(K));
        alpha = sal_add(emit, sal_logsumexp_axis(arrive, 0));
    }
    return sal_logsumexp(alpha);
}

/* to[i] = softmax of `n` logits, `step` apart. */
static void softmax(int n, int step, const double *logits, double *to)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += exp(logits[i * step]);
    }
    for (int i = 0; i < n; i++) {
        to[i * step] = exp(logits[i * step]) / sum;
    }
}

/* p(y) as the sum over all hidden paths. */
static double hmm_by_enumeration(const double *flat, const int32_t *y)
{
    double pi[K], A[K * K], B[M * K], p = 0;
    softmax(K, 1, flat, pi);
    for (int i = 0; i < K; i++) {
        softmax(K, 1, flat + K + i * K, A + i * K);
        softmax(M, K, flat + K + K * K + i, B + i);
    }
    for (int path = 0; path < K * K * K * K; path++) {
        double product = 1;
        for (int t = 0, rest = path, before = 0; t < STEPS; t++, rest /= K) {
            int here = rest % K;
            product *= (t == 0 ? pi[here] : A[before * K + here]) * B[y[t] * K + here];
            before = here;
        }
        p += product;
    }
    return p;
}

START_TEST(forward_algorithm_equals_the_sum_over_paths)
{
    double flat[LOGITS], total = 0;
    sal_tape *tape = formula_tape(SAL_CATEGORICAL, STEPS, M);
    formula f = formula_freeze(tape, hmm_log_likelihood(tape));
    for (int k = 0; k < LOGITS; k++) {
        flat[k] = op_number(k, -2, 2);
    }
    sali_params_set(f.params, flat);
    for (int index = 0; index < M * M * M * M; index++) {
        int32_t y[STEPS];
        double x[STEPS * M], value;
        for (int t = 0, rest = index; t < STEPS; t++, rest /= M) {
            y[t] = rest % M;
        }
        sali_embed_f64(f.program->space, 1, y, x);
        sali_workspace_value(f.ws, 1, y, x, &value);
        ck_assert_double_eq_tol(value, log(hmm_by_enumeration(flat, y)), 1e-13);
        total += exp(value);
    }
    ck_assert_double_eq_tol(total, 1, 1e-13); /* a distribution over sequences */
    formula_melt(f);
}
END_TEST

START_TEST(forward_algorithm_has_its_gradient)
{
    const double h = 1e-4;
    double flat[LOGITS], x[STEPS * M], gradient[STEPS * M], by_parameter[LOGITS], value, one = 1;
    sal_tape *tape = formula_tape(SAL_CATEGORICAL, STEPS, M);
    formula f = formula_freeze(tape, hmm_log_likelihood(tape));
    for (int k = 0; k < LOGITS; k++) {
        flat[k] = op_number(300 + k, -2, 2);
    }
    for (int i = 0; i < STEPS * M; i++) {
        x[i] = op_number(900 + i, 0, 1);
    }
    sali_params_set(f.params, flat);
    formula_at(&f, x, gradient);
    sali_workspace_param_zero(f.ws);
    sali_workspace_param_gradient(f.ws, 1, NULL, x, &one, &value);
    sali_workspace_param_reduce(&f.ws, 1, 1, by_parameter);
    for (int i = 0; i < STEPS * M; i++) {
        double up[STEPS * M], down[STEPS * M];
        memcpy(up, x, sizeof x);
        memcpy(down, x, sizeof x);
        up[i] += h;
        down[i] -= h;
        double slope = (formula_at(&f, up, NULL) - formula_at(&f, down, NULL)) / (2 * h);
        ck_assert_double_eq_tol(gradient[i], slope, 1e-7);
    }
    for (int k = 0; k < LOGITS; k++) {
        double kept = flat[k], at[2];
        for (int side = 0; side < 2; side++) {
            flat[k] = kept + (side ? h : -h);
            sali_params_set(f.params, flat);
            at[side] = formula_at(&f, x, NULL);
        }
        flat[k] = kept;
        ck_assert_double_eq_tol(by_parameter[k], (at[1] - at[0]) / (2 * h), 1e-7);
    }
    formula_melt(f);
}
END_TEST

/* ---- cumulative sums: a lower triangle of ones times s */

START_TEST(cumulative_sum_is_a_triangular_product)
{
    enum { N = 7 };
    double ones[N * N], c[N], x[N], want = 0, sum = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            ones[i * N + j] = j <= i;
        }
        c[i] = op_number(i, -1, 1);
        x[i] = i % 3 == 0;
        sum += x[i];
        want += c[i] * sum * sum;
    }
    sal_tape *tape = formula_tape(SAL_BINARY, N, 2);
    sal_expr sums = sal_matvec(sal_constant(tape, ones, SAL_SHAPE(N, N)), sal_state(tape));
    formula f =
        formula_freeze(tape, sal_dot(sal_constant(tape, c, SAL_SHAPE(N)), sal_square(sums)));
    ck_assert_double_eq_tol(formula_at(&f, x, NULL), want, 1e-12);
    formula_melt(f);
}
END_TEST

/* ---- transitions: of L steps of `FACTORS` bits, each flips with probability q a step; the flips
 * are |s_t - s_{t-1}|, s_t the rows of the state less the first, s_{t-1} less the last */

START_TEST(chain_prior_is_a_sum_over_neighbouring_slices)
{
    enum { L = 5, FACTORS = 3, N = L * FACTORS };
    const double q = 0.2, first = 0.3;
    double x[N], want = 0;
    sal_tape *tape = formula_tape(SAL_BINARY, N, 2);
    sal_expr s = sal_reshape(sal_state(tape), SAL_SHAPE(L, FACTORS));
    sal_expr flips =
        sal_sum(sal_abs(sal_sub(sal_slice(s, 0, 1, L - 1), sal_slice(s, 0, 0, L - 1))));
    sal_expr starts = sal_sum(sal_slice(s, 0, 0, 1));
    sal_expr constant = sal_scalar(tape, (L - 1) * FACTORS * log1p(-q) + FACTORS * log1p(-first));
    sal_expr prior =
        sal_add(sal_scale(flips, log(q / (1 - q))), sal_scale(starts, log(first / (1 - first))));
    formula f = formula_freeze(tape, sal_add(prior, constant));
    for (int i = 0; i < N; i++) {
        x[i] = op_number(i, 0, 1) > 0.5;
        double p = i < FACTORS ? first : x[i - FACTORS] == 0 ? q : 1 - q; /* that x_i is 1 */
        want += log(x[i] == 1 ? p : 1 - p);
    }
    ck_assert_double_eq_tol(formula_at(&f, x, NULL), want, 1e-12);
    formula_melt(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compositions");
    TCase *all = tcase_create("all");
    tcase_add_test(all, forward_algorithm_equals_the_sum_over_paths);
    tcase_add_test(all, forward_algorithm_has_its_gradient);
    tcase_add_test(all, cumulative_sum_is_a_triangular_product);
    tcase_add_test(all, chain_prior_is_a_sum_over_neighbouring_slices);
    suite_add_tcase(suite, all);
    return test_main(suite);
}
