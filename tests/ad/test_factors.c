/* SPDX-License-Identifier: MIT */
/* The structured ops, quad, edges and table, against their definitions as plain loops; logsumexp
 * and degrees at the edges. */
#include "test.h"

#include <math.h>

#include "ad/workspace.h"
#include "op_cases.h"

#define CHAINS 18

/* A frozen formula. */
typedef struct fixture {
    sali_program *program;
    sali_params *params;
    sali_workspace *ws;
} fixture;

/* Takes the tape. */
static fixture freeze(sal_tape *tape, sal_expr f)
{
    fixture made = { 0 };
    sal_error err = { 0 };
    ck_ok(sali_program_create(tape, f, &made.program, &err), &err);
    ck_ok(sali_params_create(made.program, &made.params, &err), &err);
    ck_ok(sali_workspace_create(made.program, made.params, CHAINS, 3, &made.ws, &err), &err);
    sal_tape_destroy(tape);
    return made;
}

static void melt(fixture f)
{
    sali_workspace_destroy(f.ws);
    sali_params_destroy(f.params);
    sali_program_destroy(f.program);
}

static sal_tape *new_tape(void)
{
    sal_space *space = op_space();
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    return tape;
}

static void any_point(double *x)
{
    for (int64_t k = 0; k < CHAINS * OP_WIDTH; k++) {
        x[k] = op_number(k, -1, 1);
    }
}

/* Codes of all chains, and their embedding. */
static void any_codes(const fixture *f, int32_t *codes, double *x)
{
    for (int64_t c = 0; c < CHAINS; c++) {
        for (int64_t v = 0; v < OP_VARIABLES; v++) {
            int32_t states = f->program->space->variables[v].states;
            codes[c * OP_VARIABLES + v] =
                (int32_t)op_number(7 + c * OP_VARIABLES + v, 0, (double)states);
        }
    }
    sali_embed_f64(f->program->space, CHAINS, codes, x);
}

START_TEST(quad_equals_its_double_sum)
{
    enum { N = OP_WIDTH };
    sal_tape *tape = new_tape();
    sal_expr J = sal_param(tape, "J", SAL_SHAPE(N, N));
    fixture f = freeze(tape, sal_quad(sal_state(tape), J));
    double flat[N * N], x[CHAINS * N], value[CHAINS], gradient[CHAINS * N];
    for (int64_t k = 0; k < N * N; k++) {
        flat[k] = op_number(900 + k, -1, 1);
    }
    any_point(x);
    sali_params_set(f.params, flat);
    sali_workspace_gradient(f.ws, CHAINS, NULL, x, value, gradient);
    for (int64_t c = 0; c < CHAINS; c++) {
        double want = 0;
        for (int64_t i = 0; i < N; i++) {
            double slope = 0;
            for (int64_t j = 0; j < N; j++) {
                want += x[c * N + i] * flat[i * N + j] * x[c * N + j];
                slope += (flat[i * N + j] + flat[j * N + i]) * x[c * N + j];
            }
            ck_assert_double_eq_tol(gradient[c * N + i], slope, 1e-12);
        }
        ck_assert_double_eq_tol(value[c], want, 1e-12);
    }
    melt(f);
}
END_TEST

START_TEST(edges_equal_their_sum)
{
    enum { N = OP_WIDTH, EDGES = 60 };
    sal_tape *tape = new_tape();
    int64_t pairs[2 * EDGES];
    double w[EDGES], x[CHAINS * N], value[CHAINS], gradient[CHAINS * N], weight[CHAINS],
        slope[EDGES];
    for (int64_t e = 0; e < EDGES; e++) { /* some repeated, some with i = j */
        pairs[2 * e] = (int64_t)op_number(e, 0, N);
        pairs[2 * e + 1] = (int64_t)op_number(300 + e, 0, N);
        w[e] = op_number(600 + e, -1, 1);
    }
    sal_expr parameter = sal_param(tape, "w", SAL_SHAPE(EDGES));
    fixture f = freeze(tape, sal_edges(sal_state(tape), parameter, EDGES, pairs));
    any_point(x);
    sali_params_set(f.params, w);
    sali_workspace_gradient(f.ws, CHAINS, NULL, x, value, gradient);
    for (int64_t c = 0; c < CHAINS; c++) {
        double want = 0, slopes[N] = { 0 };
        for (int64_t e = 0; e < EDGES; e++) {
            int64_t i = pairs[2 * e], j = pairs[2 * e + 1];
            want += w[e] * x[c * N + i] * x[c * N + j];
            slopes[i] += w[e] * x[c * N + j];
            slopes[j] += w[e] * x[c * N + i];
        }
        ck_assert_double_eq_tol(value[c], want, 1e-12);
        for (int64_t i = 0; i < N; i++) {
            ck_assert_double_eq_tol(gradient[c * N + i], slopes[i], 1e-12);
        }
        weight[c] = op_number(c, -1, 1);
    }
    sali_workspace_param_zero(f.ws);
    sali_workspace_param_gradient(f.ws, CHAINS, NULL, x, weight, value);
    sali_workspace_param_reduce(&f.ws, 1, 1, slope);
    for (int64_t e = 0; e < EDGES; e++) {
        double want = 0;
        for (int64_t c = 0; c < CHAINS; c++) {
            want += weight[c] * x[c * N + pairs[2 * e]] * x[c * N + pairs[2 * e + 1]];
        }
        ck_assert_double_eq_tol(slope[e], want, 1e-12);
    }
    melt(f);
}
END_TEST

/* ---- tables */

#define FACTORS 5
static const int64_t scope_begin[] = { 0, 3, 5, 6, 6, 8 };
static const int64_t scope[] = { 0, 17, 12, 17, 18, 15, 19, 18 };
#define ENTRIES 27

static fixture table_fixture(double *T)
{
    sal_tape *tape = new_tape();
    sal_expr parameter = sal_param(tape, "T", SAL_SHAPE(ENTRIES));
    fixture f = freeze(tape, sal_table(tape, parameter, FACTORS, scope_begin, scope));
    sali_params_set(f.params, T);
    return f;
}

static void any_table(double *T)
{
    for (int64_t e = 0; e < ENTRIES; e++) {
        T[e] = op_number(e, -2, 2);
    }
}

/* The definition: the entry of each factor, last variable fastest. */
static double table_value(const sal_space *space, const double *T, const int32_t *codes)
{
    double sum = 0;
    int64_t start = 0;
    for (int64_t m = 0; m < FACTORS; m++) {
        int64_t entry = 0, size = 1;
        for (int64_t k = scope_begin[m]; k < scope_begin[m + 1]; k++) {
            int32_t states = space->variables[scope[k]].states;
            entry = entry * states + codes[scope[k]];
            size *= states;
        }
        sum += T[start + entry];
        start += size;
    }
    return sum;
}

/* f(s with s_v = code) - f(s), from the gradient at s. */
static double difference(const sal_space *space, const double *gradient, const int32_t *codes,
                         int64_t v, int32_t code)
{
    const sali_variable *variable = &space->variables[v];
    const double *g = gradient + variable->offset;
    return variable->kind == SAL_CATEGORICAL
               ? g[code] - g[codes[v]]
               : *g * (variable->levels[code] - variable->levels[codes[v]]);
}

/* Every difference of every chain, against the definition. */
static void check_differences(const fixture *f, const double *T, const int32_t *codes,
                              const double *value, const double *gradient)
{
    const sal_space *space = f->program->space;
    for (int64_t c = 0; c < CHAINS; c++) {
        int32_t state[OP_VARIABLES];
        memcpy(state, codes + c * OP_VARIABLES, sizeof state);
        double here = table_value(space, T, state);
        ck_assert(value[c] == here || fabs(value[c] - here) < 1e-12);
        for (int64_t v = 0; v < OP_VARIABLES && here > -(double)INFINITY; v++) {
            for (int32_t code = 0; code < space->variables[v].states; code++) {
                double got =
                    difference(space, gradient + c * OP_WIDTH, codes + c * OP_VARIABLES, v, code);
                state[v] = code;
                double want = table_value(space, T, state) - here;
                if (code != codes[c * OP_VARIABLES + v]) {
                    ck_assert_msg(got == want || fabs(got - want) < 1e-12,
                                  "variable %lld to %d: %g, not %g", (long long)v, code, got, want);
                }
            }
            state[v] = codes[c * OP_VARIABLES + v];
        }
    }
}

START_TEST(table_gradient_on_the_lattice_gives_exact_differences)
{
    double T[ENTRIES], x[CHAINS * OP_WIDTH], value[CHAINS], gradient[CHAINS * OP_WIDTH];
    int32_t codes[CHAINS * OP_VARIABLES];
    any_table(T);
    fixture f = table_fixture(T);
    any_codes(&f, codes, x);
    sali_workspace_gradient(f.ws, CHAINS, codes, x, value, gradient);
    check_differences(&f, T, codes, value, gradient);
    melt(f);
}
END_TEST

START_TEST(forbidden_states_of_a_table_have_difference_minus_infinity)
{
    double T[ENTRIES], x[CHAINS * OP_WIDTH], value[CHAINS], gradient[CHAINS * OP_WIDTH];
    int32_t codes[CHAINS * OP_VARIABLES];
    any_table(T);
    for (int64_t e = 0; e < ENTRIES; e += 3) {
        T[e] = -(double)INFINITY;
    }
    fixture f = table_fixture(T);
    any_codes(&f, codes, x);
    sali_workspace_gradient(f.ws, CHAINS, codes, x, value, gradient);
    check_differences(&f, T, codes, value, gradient);
    melt(f);
}
END_TEST

START_TEST(between_two_forbidden_levels_of_a_table_there_is_no_slope)
{
    double T[ENTRIES], x[CHAINS * OP_WIDTH], value[CHAINS], gradient[CHAINS * OP_WIDTH];
    int32_t codes[CHAINS * OP_VARIABLES];
    any_table(T);
    T[21] = T[22] = -(double)INFINITY; /* the table of variable 15, whose real is 15, too */
    fixture f = table_fixture(T);
    any_codes(&f, codes, x);
    for (int k = 0; k < 2; k++) {
        sali_workspace_gradient(f.ws, 1, k == 0 ? codes : NULL, x, value, gradient);
        ck_assert(value[0] == -(double)INFINITY);
        ck_assert_double_eq(gradient[15], 0);
    }
    melt(f);
}
END_TEST

START_TEST(table_extension_agrees_with_codes_on_the_lattice)
{
    double T[ENTRIES], x[CHAINS * OP_WIDTH], weight[CHAINS];
    double value[2][CHAINS], gradient[2][CHAINS * OP_WIDTH], slope[2][ENTRIES];
    int32_t codes[CHAINS * OP_VARIABLES];
    any_table(T);
    fixture f = table_fixture(T);
    any_codes(&f, codes, x);
    for (int64_t c = 0; c < CHAINS; c++) {
        weight[c] = op_number(c, -1, 1);
    }
    for (int k = 0; k < 2; k++) {
        const int32_t *known = k == 0 ? codes : NULL;
        sali_workspace_gradient(f.ws, CHAINS, known, x, value[k], gradient[k]);
        sali_workspace_param_zero(f.ws);
        sali_workspace_param_gradient(f.ws, CHAINS, known, x, weight, value[k]);
        sali_workspace_param_reduce(&f.ws, 1, 1, slope[k]);
    }
    for (int64_t c = 0; c < CHAINS; c++) {
        ck_assert_double_eq_tol(value[0][c], value[1][c], 1e-12);
    }
    for (int64_t k = 0; k < CHAINS * OP_WIDTH; k++) {
        ck_assert_double_eq_tol(gradient[0][k], gradient[1][k], 1e-12);
    }
    for (int64_t e = 0; e < ENTRIES; e++) {
        ck_assert_double_eq_tol(slope[0][e], slope[1][e], 1e-12);
    }
    melt(f);
}
END_TEST

START_TEST(table_extension_leaves_out_forbidden_states_without_weight)
{
    double T[ENTRIES], x[CHAINS * OP_WIDTH], value[CHAINS], gradient[CHAINS * OP_WIDTH];
    int32_t codes[CHAINS * OP_VARIABLES];
    any_table(T);
    fixture f = table_fixture(T);
    any_codes(&f, codes, x);
    double here = table_value(f.program->space, T, codes);
    int32_t other = codes[15] ^ 1; /* the table of variable 15 is T[21], T[22] */
    T[21 + other] = -(double)INFINITY;
    sali_params_set(f.params, T);
    sali_workspace_gradient(f.ws, 1, NULL, x, value, gradient);
    ck_assert_double_eq_tol(value[0], here, 1e-12);
    ck_assert(isinf(difference(f.program->space, gradient, codes, 15, other)));
    melt(f);
}
END_TEST

/* ---- edges of the number line */

START_TEST(logsumexp_keeps_infinities_in_order)
{
    const double inf = (double)INFINITY;
    const double rows[4][3] = {
        { -inf, -inf, -inf }, { -inf, 1, -inf }, { inf, 1, -inf }, { 2000, 2000, -2000 }
    };
    const double values[] = { -inf, 1, inf, 2000 + log(2) };
    const double softmax[4][3] = { { 0, 0, 0 }, { 0, 1, 0 }, { 0, 0, 0 }, { 0.5, 0.5, 0 } };
    for (int axis = -1; axis < 2; axis++) { /* all; the first of [3, 1]; the last of [1, 3] */
        sal_tape *tape = new_tape();
        sal_expr s = sal_slice(sal_state(tape), 0, 0, 3);
        s = axis < 0    ? s
            : axis == 0 ? sal_reshape(s, SAL_SHAPE(3, 1))
                        : sal_reshape(s, SAL_SHAPE(1, 3));
        sal_expr y = axis < 0 ? sal_logsumexp(s) : sal_logsumexp_axis(s, axis);
        fixture f = freeze(tape, y);
        for (int k = 0; k < 4; k++) {
            double x[OP_WIDTH] = { 0 }, value, gradient[OP_WIDTH];
            memcpy(x, rows[k], sizeof rows[k]);
            sali_workspace_gradient(f.ws, 1, NULL, x, &value, gradient);
            ck_assert_msg(value == values[k] || fabs(value - values[k]) < 1e-12, "%g", value);
            for (int i = 0; i < 3 && value < inf; i++) {
                ck_assert_double_eq_tol(gradient[i], softmax[k][i], 1e-15);
            }
        }
        double x[OP_WIDTH] = { 0, NAN }, value;
        sali_workspace_value(f.ws, 1, NULL, x, &value);
        ck_assert(isnan(value));
        melt(f);
    }
}
END_TEST

START_TEST(logsumexp_finds_the_largest_of_a_long_row)
{
    for (int largest = 0; largest < 20; largest++) {
        sal_tape *tape = new_tape();
        fixture f = freeze(tape, sal_logsumexp(sal_slice(sal_state(tape), 0, 0, 20)));
        double x[OP_WIDTH] = { 0 }, value, gradient[OP_WIDTH];
        x[largest] = 2000;
        sali_workspace_gradient(f.ws, 1, NULL, x, &value, gradient);
        ck_assert_double_eq(value, 2000);
        for (int i = 0; i < 20; i++) {
            ck_assert_double_eq(gradient[i], i == largest);
        }
        melt(f);
    }
}
END_TEST

/* ---- degrees */

static sali_degree degree_of(sal_tape *tape, sal_expr f)
{
    fixture made = freeze(tape, f);
    sali_degree degree = made.program->steps[made.program->output].degree;
    melt(made);
    return degree;
}

START_TEST(degrees_follow_the_formula)
{
    sal_tape *t = new_tape();
    sal_expr s = sal_state(t), w = sal_param(t, "w", SAL_SHAPE(OP_WIDTH));
    ck_assert_int_eq(degree_of(t, sal_slice(s, 0, 2, 1)), SALI_COORDINATES);
    t = new_tape(), s = sal_state(t), w = sal_param(t, "w", SAL_SHAPE(OP_WIDTH));
    ck_assert_int_eq(degree_of(t, sal_dot(s, w)), SALI_AFFINE);
    t = new_tape(), s = sal_state(t);
    ck_assert_int_eq(degree_of(t, sal_sum(s)), SALI_AFFINE);
    t = new_tape(), s = sal_state(t);
    ck_assert_int_eq(degree_of(t, sal_sum(sal_mul(s, s))), SALI_GENERAL);
    t = new_tape(), s = sal_state(t), w = sal_param(t, "w", SAL_SHAPE(OP_WIDTH));
    ck_assert_int_eq(degree_of(t, sal_sum(sal_exp(w))), SALI_CONSTANT);
    t = new_tape(), s = sal_state(t);
    ck_assert_int_eq(degree_of(t, sal_exp(sal_sum(s))), SALI_GENERAL);
}
END_TEST

/* One edge i, j: multilinear unless it lies within one variable. */
static sali_degree degree_of_edge(int64_t i, int64_t j)
{
    sal_tape *t = new_tape();
    sal_expr w = sal_param(t, "w", SAL_SHAPE(1));
    return degree_of(t, sal_edges(sal_state(t), w, 1, ((int64_t[]){ i, j })));
}

START_TEST(edges_are_multilinear_between_variables_only)
{
    ck_assert_int_eq(degree_of_edge(0, 1), SALI_MULTILINEAR);
    ck_assert_int_eq(degree_of_edge(3, 3), SALI_GENERAL);
    ck_assert_int_eq(degree_of_edge(17, 20), SALI_MULTILINEAR); /* two labels */
    ck_assert_int_eq(degree_of_edge(17, 19), SALI_GENERAL);     /* one label's one-hot */
}
END_TEST

/* The product of elements 1 and 2 of what `make` makes of four spins. */
static sali_degree degree_of_product(sal_expr (*make)(sal_expr s))
{
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = 4 }, NULL);
    sal_tape *t = sal_tape_create(space, SAL_F64);
    sal_expr w = sal_param(t, "w", SAL_SHAPE(1));
    sal_space_destroy(space);
    return degree_of(t, sal_edges(make(sal_state(t)), w, 1, ((int64_t[]){ 1, 2 })));
}

/* Elements 1 and 2 are both s_1 + s_2. */
static sal_expr sum_with_transpose(sal_expr s)
{
    sal_expr S = sal_reshape(s, SAL_SHAPE(2, 2));
    return sal_reshape(sal_add(S, sal_transpose(S, 0, 1)), SAL_SHAPE(4));
}

/* Every element is s_0 and a number. */
static sal_expr one_for_all(sal_expr s)
{
    return sal_add(sal_slice(s, 0, 0, 1), sal_param(s.tape, "b", SAL_SHAPE(4)));
}

START_TEST(products_of_sums_are_multilinear_only_if_no_variable_meets_itself)
{
    ck_assert_int_eq(degree_of_product(sum_with_transpose), SALI_GENERAL);
    ck_assert_int_eq(degree_of_product(one_for_all), SALI_GENERAL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("factors");
    TCase *all = tcase_create("all");
    tcase_add_test(all, quad_equals_its_double_sum);
    tcase_add_test(all, edges_equal_their_sum);
    tcase_add_test(all, table_gradient_on_the_lattice_gives_exact_differences);
    tcase_add_test(all, forbidden_states_of_a_table_have_difference_minus_infinity);
    tcase_add_test(all, between_two_forbidden_levels_of_a_table_there_is_no_slope);
    tcase_add_test(all, table_extension_agrees_with_codes_on_the_lattice);
    tcase_add_test(all, table_extension_leaves_out_forbidden_states_without_weight);
    tcase_add_test(all, logsumexp_keeps_infinities_in_order);
    tcase_add_test(all, logsumexp_finds_the_largest_of_a_long_row);
    tcase_add_test(all, degrees_follow_the_formula);
    tcase_add_test(all, edges_are_multilinear_between_variables_only);
    tcase_add_test(all, products_of_sums_are_multilinear_only_if_no_variable_meets_itself);
    suite_add_tcase(suite, all);
    return test_main(suite);
}
