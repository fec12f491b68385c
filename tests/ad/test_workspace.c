/* SPDX-License-Identifier: MIT */
/* Gradients by the parameters that several workspaces gather and one of them sums. */
#include "formula.h"

#include <string.h>

#include "op_cases.h"

enum { PARTS = 3, ROWS = 9 };

/* Three workspaces of a formula; all but the first are parts. */
static void open_parts(const formula *f, sali_workspace *ws[PARTS])
{
    for (int k = 0; k < PARTS; k++) {
        sal_error err;
        const unsigned wants = SALI_WANT_PARAM_GRADIENT | (k > 0 ? SALI_WANT_PARAM_PART : 0);
        ck_ok(sali_workspace_create(f->program, f->params, ROWS, wants, &ws[k], &err), &err);
    }
}

static void close_parts(sali_workspace *ws[PARTS])
{
    for (int k = 0; k < PARTS; k++) {
        sali_workspace_destroy(ws[k]);
    }
}

/* Rows 0 .. 3, 4 .. 6 and 7 .. 8 of x [ROWS x n] gather in the three workspaces. */
static void gather(sali_workspace *ws[PARTS], int64_t n, const double *x, const double *weight)
{
    static const int first[PARTS + 1] = { 0, 4, 7, ROWS };
    for (int k = 0; k < PARTS; k++) {
        sali_workspace_param_zero(ws[k]);
        sali_workspace_param_gradient(ws[k], first[k + 1] - first[k], NULL, x + n * first[k],
                                      weight + first[k], NULL);
    }
}

/* f = sum_i s_i w_i^2 + c: the state meets w's square, so that w gets its adjoint only at the end:
 * 2 w_i sum_r weight_r s_ri. The same workspaces serve twice. */
START_TEST(parts_add_up_to_the_derivative)
{
    enum { N = 5 };
    sal_tape *tape = formula_tape(SAL_BINARY, N, 2);
    sal_expr w = sal_param(tape, "w", SAL_SHAPE(N));
    formula f = formula_freeze(tape, sal_dot(sal_square(w), sal_state_block(tape, "x")));
    sali_workspace *ws[PARTS];
    double values[N], x[ROWS * N], weight[ROWS], gradient[N];
    for (int i = 0; i < N; i++) {
        values[i] = op_number(i, -2, 2);
    }
    sali_params_set(f.params, values);
    open_parts(&f, ws);
    for (int time = 0; time < 2; time++) {
        for (int i = 0; i < ROWS * N; i++) {
            x[i] = op_number(100 * time + i, 0, 1);
        }
        for (int r = 0; r < ROWS; r++) {
            weight[r] = op_number(50 * time + r, -1, 1);
        }
        gather(ws, N, x, weight);
        sali_workspace_param_reduce(ws, PARTS, 1, gradient);
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int r = 0; r < ROWS; r++) {
                sum += weight[r] * x[r * N + i];
            }
            ck_assert_double_eq_tol(gradient[i], 2 * values[i] * sum, 1e-13);
        }
    }
    close_parts(ws);
    formula_melt(f);
}
END_TEST

/* Sums of so many elements are divided among threads, stretch by stretch; their bits are those of
 * sums in pairs. */
START_TEST(sums_do_not_depend_on_threads)
{
    enum { N = 600, SIZE = N * N };
    sal_tape *tape = formula_tape(SAL_BINARY, N, 2);
    sal_expr x = sal_state_block(tape, "x"), J = sal_param(tape, "J", SAL_SHAPE(N, N));
    formula f = formula_freeze(tape, sal_quad(x, J));
    sali_workspace *ws[PARTS];
    double *state = malloc(ROWS * N * sizeof *state), weight[ROWS];
    double *want = malloc(SIZE * sizeof *want), *got = malloc(SIZE * sizeof *got);
    for (int i = 0; i < ROWS * N; i++) {
        state[i] = op_number(i, -1, 1);
    }
    for (int r = 0; r < ROWS; r++) {
        weight[r] = op_number(r, -1, 1);
    }
    open_parts(&f, ws);
    gather(ws, N, state, weight);
    sali_workspace_param_add(ws[0], ws[1]);
    sali_workspace_param_add(ws[0], ws[2]);
    sali_workspace_param_flat(ws[0], want);
    for (int threads = 1; threads <= 5; threads += 2) {
        gather(ws, N, state, weight);
        sali_workspace_param_reduce(ws, PARTS, threads, got);
        ck_assert_mem_eq(got, want, SIZE * sizeof *got);
    }
    close_parts(ws);
    formula_melt(f);
    free(state);
    free(want);
    free(got);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("workspace");
    TCase *tcase = tcase_create("workspace");
    tcase_add_test(tcase, parts_add_up_to_the_derivative);
    tcase_add_test(tcase, sums_do_not_depend_on_threads);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
