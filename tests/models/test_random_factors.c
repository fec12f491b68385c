/* SPDX-License-Identifier: MIT */
/* Random factor graphs: the grammar's frequencies, which functions are valid, and models against a
 * recursive evaluation of their expressions. */
#include "test.h"

#include <math.h>
#include <stdbool.h>

#include <saltus/io.h>
#include <saltus/model.h>

#include "alloc_fail.h"
#include "chi_square.h"
#include "models/zoo/random_factors.h"

/* Each p-value is uniform if the frequencies are right; there are about 10, the seeds are fixed. */
#define LEAST_P 1e-4

/* ---- an independent reading of the expressions */

/* The value of node i at theta; sets *wrong at a logarithm of a negative number or an inverse of
 * 0. */
static double value_of(const sali_tree *tree, int32_t i, const int32_t *theta, bool *wrong)
{
    const sali_tree_node *node = &tree->nodes[i];
    if (node->op == SALI_TREE_CONSTANT) {
        return node->constant;
    }
    if (node->op == SALI_TREE_VARIABLE) {
        return theta[node->variable];
    }
    double a = value_of(tree, node->in[0], theta, wrong), b = 0;
    if (node->op <= SALI_TREE_MULTIPLY) {
        b = value_of(tree, node->in[1], theta, wrong);
    }
    switch (node->op) {
    case SALI_TREE_ADD:
        return a + b;
    case SALI_TREE_SUBTRACT:
        return a - b;
    case SALI_TREE_MULTIPLY:
        return a * b;
    case SALI_TREE_LOG:
        *wrong |= a < 0;
        return log(a);
    case SALI_TREE_SQUARE:
        return a * a;
    case SALI_TREE_INVERSE:
        *wrong |= a == 0;
        return 1 / a;
    default:
        return -a;
    }
}

/* f by the thesis' definition; the terms are drawn again for it. */
static double formula(const sali_random_spec *spec, const int32_t *theta)
{
    static sali_tree tree;
    int64_t scope[16];
    sal_error err = { 0 };
    double f = 0;
    for (int64_t j = 0; j < spec->m; j++) {
        int64_t n_scope = sali_random_scope(spec, j, scope);
        for (int64_t k = 0; k < n_scope; k++) {
            bool wrong = false, used = false;
            double T;
            ck_ok(sali_random_term(spec, j, k, n_scope, scope, &T, &tree, &err), &err);
            double eta = value_of(&tree, tree.n - 1, theta, &wrong);
            for (int32_t i = 0; i < tree.n; i++) {
                used |=
                    tree.nodes[i].op == SALI_TREE_VARIABLE && tree.nodes[i].variable == scope[k];
            }
            ck_assert_msg(used, "eta_k does not use its parameter");
            ck_assert_msg(!wrong && !isnan(T * eta) && T * eta < INFINITY, "T eta = %g", T * eta);
            f += T * eta;
        }
    }
    return f;
}

static bool advance(int64_t n, int32_t states, int32_t *codes)
{
    for (int64_t v = 0; v < n; v++) {
        if (++codes[v] < states) {
            return true;
        }
        codes[v] = 0;
    }
    return false;
}

/* Models that forbid every state are passed over. */
static void find_round(sali_random_spec *spec)
{
    int32_t codes[16] = { 0 };
    while (!isfinite(formula(spec, codes))) {
        spec->round += !advance(spec->n, spec->states, codes);
    }
}

static void check_model(sali_random_spec *spec, sal_dtype dtype, double tolerance)
{
    char text[120];
    int32_t codes[16] = { 0 };
    double f;
    sal_error err = { 0 };
    sal_model *model = NULL;
    snprintf(text, sizeof text, "random-factors:n=%d,m=%d,p=%g,seed=%d,states=%d", (int)spec->n,
             (int)spec->m, spec->p, (int)spec->seed, (int)spec->states);
    ck_ok(sal_model_open(text, dtype, &model, &err), &err);
    ck_assert_int_eq(sal_space_variables(sal_model_space(model)), spec->n);
    find_round(spec);
    do {
        double want = formula(spec, codes);
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        ck_assert_msg(f == want || fabs(f - want) <= tolerance * (1 + fabs(want)),
                      "%s: f = %.17g, expected %.17g", text, f, want);
    } while (advance(spec->n, spec->states, codes));
    sal_model_destroy(model);
}

START_TEST(models_equal_a_recursive_evaluation_at_every_state)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        sali_random_spec spec = {
            .n = 1 + (int64_t)seed % 6, .m = 4, .p = 0.25 * (1 + (int)seed % 4), .seed = seed
        };
        spec.states = seed % 3 == 2 && spec.n < 5 ? 3 : 2;
        check_model(&spec, SAL_F64, 1e-11);
    }
}
END_TEST

START_TEST(single_precision_gives_the_same_f_and_forbids_the_same_states)
{
    for (uint64_t seed = 100; seed < 130; seed++) {
        sali_random_spec spec = { .n = 5, .m = 3, .p = 0.5, .seed = seed, .states = 2 };
        check_model(&spec, SAL_F32, 1e-4);
    }
}
END_TEST

START_TEST(models_that_forbid_every_state_are_discarded)
{
    int64_t rounds = 0;
    for (uint64_t seed = 8; seed < 12; seed++) {
        sali_random_spec spec = { .n = 3, .m = 40, .p = 1, .seed = seed, .states = 2 };
        check_model(&spec, SAL_F64, 1e-11);
        rounds += spec.round;
    }
    ck_assert_int_gt(rounds, 0);
}
END_TEST

/* ---- the grammar */

enum { PARAMETER = SALI_TREE_VARIABLE, CONSTANT = SALI_TREE_CONSTANT, OTHER, CELLS };

/* Chances of an expression's first rule, from Function and from FunctionWithParam, by cell: the
 * ops, the parameter, a constant, another of n variables. */
static void chances(bool with_parameter, double n, double *out)
{
    for (int op = 0; op < PARAMETER; op++) {
        out[op] = with_parameter ? (op <= SALI_TREE_MULTIPLY ? 0.16 : 0.08) : 1.0 / 14;
    }
    out[PARAMETER] = with_parameter ? 0.2 : 4.0 / 14 + 2.0 / 14 / n;
    out[CONSTANT] = with_parameter ? 0 : 1.0 / 14;
    out[OTHER] = with_parameter ? 0 : 2.0 / 14 * (n - 1) / n;
}

static int cell_of(const sali_tree_node *node, int64_t parameter)
{
    return node->op == SALI_TREE_VARIABLE && node->variable != parameter ? OTHER : (int)node->op;
}

static void ck_frequencies(const double *count, const double *chance, const char *what)
{
    double total = 0, expected[CELLS];
    for (int k = 0; k < CELLS; k++) {
        total += count[k];
    }
    for (int k = 0; k < CELLS; k++) {
        expected[k] = total * chance[k];
    }
    double p = chi_square_p(CELLS, count, expected);
    ck_assert_msg(p > LEAST_P, "%s: p = %g", what, p);
}

START_TEST(rules_are_drawn_with_the_grammars_probabilities)
{
    enum { TREES = 40000, N = 4 };
    static sali_tree tree;
    const int64_t variables[N] = { 3, 5, 6, 9 };
    double root[CELLS] = { 0 }, left[CELLS] = { 0 }, right[CELLS] = { 0 }, only[CELLS] = { 0 };
    double constant[3] = { 0 }, variable[10] = { 0 }, nodes = 0;
    int too_large = 0;
    for (uint64_t k = 0; k < TREES; k++) {
        sali_stream stream = { .seed = 4, .step = k, .purpose = SALI_RNG_TEST };
        if (!sali_tree_draw(&stream, 6, N, variables, &tree)) {
            too_large++;
            continue;
        }
        const sali_tree_node *top = &tree.nodes[tree.n - 1], *first = &tree.nodes[top->in[0]];
        root[cell_of(top, 6)]++;
        nodes += tree.n;
        if (top->op <= SALI_TREE_MULTIPLY) {
            left[cell_of(first, 6)]++;
            right[cell_of(&tree.nodes[top->in[1]], 6)]++;
        } else if (top->op < SALI_TREE_VARIABLE) {
            only[cell_of(first, 6)]++;
        }
        for (int32_t i = 0; i < tree.n; i++) {
            if (tree.nodes[i].op == SALI_TREE_CONSTANT) {
                constant[(int)(tree.nodes[i].constant + 1.5) - (tree.nodes[i].constant > 0)]++;
            } else if (tree.nodes[i].op == SALI_TREE_VARIABLE) {
                variable[tree.nodes[i].variable]++;
            }
        }
    }
    double with[CELLS], without[CELLS], mixed[CELLS];
    chances(true, N, with);
    chances(false, N, without);
    for (int k = 0; k < CELLS; k++) {
        mixed[k] =
            (with[k] + without[k]) / 2; /* each operand has the parameter in half the rules */
    }
    ck_frequencies(root, with, "first rule");
    ck_frequencies(left, mixed, "first operand");
    ck_frequencies(right, mixed, "second operand");
    ck_frequencies(only, with, "single operand");
    double third = (constant[0] + constant[1] + constant[2]) / 3;
    ck_assert_double_gt(chi_square_p(3, constant, (double[]){ third, third, third }), LEAST_P);
    double others = (variable[3] + variable[5] + variable[9]) / 3;
    ck_assert_double_gt(chi_square_p(3, (double[]){ variable[3], variable[5], variable[9] },
                                     (double[]){ others, others, others }),
                        LEAST_P);
    /* A Function has F = 1 + 10/14 F nodes on average, so 3.5; FunctionWithParam has
     * W = 1 + 0.8 W + 0.48 F, so 13.4. */
    ck_assert_double_eq_tol(nodes / (TREES - too_large), 13.4, 0.5);
    ck_assert_int_lt(too_large, TREES / 1000);
}
END_TEST

START_TEST(variables_are_in_factors_with_the_chance_asked_for)
{
    enum { N = 12, M = 2000 };
    int64_t scope[N];
    for (int q = 0; q <= 4; q++) {
        sali_random_spec spec = { .n = N, .m = M, .p = 0.25 * q, .states = 2, .seed = 8 };
        double edges = 0, deviation = sqrt(N * M * spec.p * (1 - spec.p));
        for (int64_t j = 0; j < M; j++) {
            int64_t n_scope = sali_random_scope(&spec, j, scope);
            for (int64_t k = 1; k < n_scope; k++) {
                ck_assert_int_lt(scope[k - 1], scope[k]);
            }
            edges += (double)n_scope;
        }
        ck_assert_double_le(fabs(edges - N * M * spec.p), 5 * deviation);
    }
}
END_TEST

/* ---- validity */

#define V(k)                                      \
    {                                             \
        .op = SALI_TREE_VARIABLE, .variable = (k) \
    }
#define C(c)                                      \
    {                                             \
        .op = SALI_TREE_CONSTANT, .constant = (c) \
    }
#define OP(name, a, b)                            \
    {                                             \
        .op = SALI_TREE_##name, .in = {(a), (b) } \
    }

static const struct {
    const char *what;
    double scale;
    int32_t states;
    bool valid;
    sali_tree tree;
} validity[] = {
    { "x", 1, 2, true, { 1, { V(0) } } },
    { "log x", 1, 2, true, { 2, { V(0), OP(LOG, 0, 0) } } },
    { "-log x", -1, 2, false, { 2, { V(0), OP(LOG, 0, 0) } } }, /* +inf at 0 */
    { "log -x", 1, 2, false, { 3, { V(0), OP(NEGATE, 0, 0), OP(LOG, 1, 0) } } },
    { "1 / x", 1, 2, false, { 2, { V(0), OP(INVERSE, 0, 0) } } },
    { "1 / (x + 1)", 1, 2, true, { 4, { V(0), C(1), OP(ADD, 0, 1), OP(INVERSE, 2, 0) } } },
    { "1 / (x - 2)", 1, 2, true, { 4, { V(0), C(2), OP(SUBTRACT, 0, 1), OP(INVERSE, 2, 0) } } },
    { "1 / (x - 2), x to 2",
      1,
      3,
      false,
      { 4, { V(0), C(2), OP(SUBTRACT, 0, 1), OP(INVERSE, 2, 0) } } },
    { "log (x - x)",
      1,
      2,
      false,
      { 3, { V(0), OP(SUBTRACT, 0, 0), OP(LOG, 1, 0) } } }, /* nowhere finite */
    { "x / x as 1 / (1 / x)", 1, 2, false, { 3, { V(0), OP(INVERSE, 0, 0), OP(INVERSE, 1, 0) } } },
    { "1 / log x", 1, 2, false, { 3, { V(0), OP(LOG, 0, 0), OP(INVERSE, 1, 0) } } }, /* at 1 */
    { "x log y",
      1,
      2,
      false,
      { 4, { V(0), V(1), OP(LOG, 1, 0), OP(MULTIPLY, 0, 2) } } }, /* 0 inf */
    { "log x - log y",
      1,
      2,
      false,
      { 5, { V(0), OP(LOG, 0, 0), V(1), OP(LOG, 2, 0), OP(SUBTRACT, 1, 3) } } },
    { "log x + log y",
      1,
      2,
      true,
      { 5, { V(0), OP(LOG, 0, 0), V(1), OP(LOG, 2, 0), OP(ADD, 1, 3) } } },
    { "log (log 2 + log 2 - log 4 + x): zero but for rounding",
      1,
      2,
      false,
      { 9,
        { C(2), OP(LOG, 0, 0), OP(ADD, 1, 1), OP(SQUARE, 0, 0), OP(LOG, 3, 0), OP(SUBTRACT, 2, 4),
          V(0), OP(ADD, 5, 6), OP(LOG, 7, 0) } } },
};

START_TEST(functions_are_valid_where_the_thesis_says)
{
    for (size_t k = 0; k < sizeof validity / sizeof *validity; k++) {
        bool valid = sali_tree_valid(&validity[k].tree, validity[k].scale, validity[k].states);
        ck_assert_msg(valid == validity[k].valid, "%s", validity[k].what);
    }
}
END_TEST

/* (2 + x) squared k times: 3^32 = 2e15, 3^64 = 3e30. */
START_TEST(huge_functions_are_not_valid)
{
    static sali_tree tree;
    tree.nodes[0] = (sali_tree_node)C(2);
    tree.nodes[1] = (sali_tree_node)V(0);
    tree.nodes[2] = (sali_tree_node)OP(ADD, 0, 1);
    for (int32_t k = 1; k <= 9; k++) {
        tree.nodes[2 + k] = (sali_tree_node)OP(SQUARE, 1 + k, 0);
        tree.n = 3 + k;
        ck_assert_int_eq(sali_tree_valid(&tree, 1, 2), k <= 5);
    }
}
END_TEST

/* ---- the specification */

START_TEST(the_seed_determines_the_model)
{
    double f[3];
    const int32_t codes[10] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    const char *specs[] = { "random-factors:seed=5", "random-factors:seed=5",
                            "random-factors:seed=6" };
    for (int k = 0; k < 3; k++) {
        sal_error err = { 0 };
        sal_model *model = NULL;
        ck_ok(sal_model_open(specs[k], 0, &model, &err), &err);
        ck_ok(sal_model_evaluate(model, 1, codes, &f[k], NULL, NULL, &err), &err);
        ck_assert_str_eq(sal_model_name(model), specs[k]);
        sal_model_destroy(model);
    }
    ck_assert_double_eq(f[0], f[1]);
    ck_assert_double_ne(f[0], f[2]);
}
END_TEST

START_TEST(without_factors_f_is_zero)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    double f = 1, delta[6];
    ck_ok(sal_model_open("random-factors:n=3,p=0", 0, &model, &err), &err);
    ck_ok(sal_model_evaluate(model, 1, (int32_t[]){ 1, 0, 1 }, &f, NULL, delta, &err), &err);
    ck_assert_double_eq(f, 0);
    ck_assert_double_eq(delta[1], 0);
    sal_model_destroy(model);
}
END_TEST

START_TEST(bad_specifications_are_refused)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_fails(sal_model_open("random-factors:p=1.5", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "p=1.5");
    ck_fails(sal_model_open("random-factors:n=0", 0, &model, &err), SAL_ERR_ARGUMENT, &err, "n=0");
    ck_fails(sal_model_open("random-factors:states=1", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "states=1");
}
END_TEST

START_TEST(allocation_failures_are_reported)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_alloc_sweep(sal_model_open("random-factors:n=3,m=1", 0, &model, &err),
                   sal_model_destroy(model));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("random_factors");
    TCase *tcase = tcase_create("random_factors");
    tcase_add_test(tcase, models_equal_a_recursive_evaluation_at_every_state);
    tcase_add_test(tcase, single_precision_gives_the_same_f_and_forbids_the_same_states);
    tcase_add_test(tcase, models_that_forbid_every_state_are_discarded);
    tcase_add_test(tcase, rules_are_drawn_with_the_grammars_probabilities);
    tcase_add_test(tcase, variables_are_in_factors_with_the_chance_asked_for);
    tcase_add_test(tcase, functions_are_valid_where_the_thesis_says);
    tcase_add_test(tcase, huge_functions_are_not_valid);
    tcase_add_test(tcase, the_seed_determines_the_model);
    tcase_add_test(tcase, without_factors_f_is_zero);
    tcase_add_test(tcase, bad_specifications_are_refused);
    tcase_add_test(tcase, allocation_failures_are_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
