/* SPDX-License-Identifier: MIT */
/* Models given by a text: values, declarations, mistakes at their place. */
#include "test.h"

#include <math.h>
#include <string.h>

#include <saltus/io.h>

#include "alloc_fail.h"
#include "models/formula/formula.h"
#include "models/model.h"
#include "models/tape_model.h"

static sal_model *opened(const char *text)
{
    int64_t place;
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sali_formula_read(text, SAL_F64, &model, &place, &err), &err);
    ck_assert_int_eq(place, -1);
    return model;
}

static double value(const char *text, const int32_t *codes)
{
    double f = NAN;
    sal_error err;
    sal_model *model = opened(text);
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    sal_model_destroy(model);
    return f;
}

/* ---- values */

#define SQUARE "x: spin[3, 4] cyclic; "
#define OPEN "x: spin[2, 3]; "
#define GRAPH "x: binary[4] 0~3, 1~3, 0~1; "
#define LEVELS "x: ordinal(5, -1, 1)[2]; "
#define LABELS "x: categorical(3)[2, 2]; "
#define MIXED "a: binary[3]; b: spin[3]; c: categorical(2)[1]; "

static const struct {
    const char *text;
    double f;
} cases[] = {
    /* arithmetic */
    { SQUARE "1", 1 },
    { SQUARE " 2 * 3 - 4 / 8 ", 5.5 },
    { SQUARE "-2^2", -4 },
    { SQUARE "2^-1 + .5", 1 },
    { SQUARE "--1 + +2", 3 },
    { SQUARE "2 * -3 + 6 / -2 - -1", -8 },
    { SQUARE "2 (3 + 1) pi", 8 * 3.14159265358979323846 },
    { SQUARE "2exp(0) + 1e2 + 1.5e-1 + 3.", 105.15 },
    { SQUARE "exp(log(3)) + sqrt(4) + abs(-2) + min(1, 2) + max(1, 2)", 10 },
    { SQUARE "sigmoid(0) + tanh(0) + relu(-1) + silu(0) + erf(0) + sin(0) + cos(0) + log1p(0)",
      1.5 },
    { SQUARE "softplus(0) + lgamma(4)", 0.69314718055994530942 + 1.79175946922805500081 },
    /* variables are -1, +1 in turn */
    { SQUARE "x[0] + 10 x[1]", 9 },
    { SQUARE "x[0] x[1] x[11]", -1 },
    { SQUARE "sum(i: x[i])", 0 },
    { SQUARE "sum(i: 1)", 12 },
    { SQUARE "sum(i~j: 1)", 24 },
    /* neighbours in a row differ, those in a column agree */
    { SQUARE "sum(i~j: x[i] x[j])", -12 + 12 },
    { SQUARE "sum(i~j: (x[i] - x[j])^2)", 48 },
    { SQUARE "sum(i<j: 1) + sum(i<j: x[i] x[j])", 66 - 6 },
    { SQUARE "sum(i: x[i] sum(i: x[i] x[0]))", 0 },
    { SQUARE "sum(i: x[i] x[0]) ^ 2 + sum(i: x[i]^2)", 12 },
    { OPEN "sum(i~j: 1)", 2 * 2 + 3 },
    { OPEN "sum(i~j: x[i] x[j])", -4 - 3 }, /* a row has three: also columns differ */
    { "x: spin[2, 2, 2]; sum(i~j: 1)", 12 },
    { "x: spin[2, 2, 3] cyclic; sum(i~j: 1)", 12 + 6 + 6 },
    { "x: spin[5] cyclic; sum(i~j: 1)", 5 },
    /* 0, 1, 0, 1 */
    { GRAPH "sum(i~j: 1 + x[i] x[j])", 4 },
    { GRAPH "h = [1, -2, 3, 4]; t = 0.5; sum(i: h[i] x[i]) + t h[2]", 2 + 1.5 },
    { GRAPH "h = [1, -2, 3, 4]; sum(i~j: h[i] h[j] x[j])", 4 - 8 - 2 },
    { LEVELS "x[0]", -1 },
    { LEVELS "x[1]", -0.5 },
    { "x: ordinal(5)[2]; x[1]", 1 },
    { "n: count[2]; m: count(7)[2]; n[1] + m[1]", 2 },
    /* labels 0, 1, 0, 1 */
    { LABELS "sum(i: x[i] == 1)", 2 },
    { LABELS "sum(i~j: x[i] == x[j])", 2 },
    { LABELS "(x[0] == x[2]) + 10 (x[0] == x[1]) + 100(x[1] == 1)", 101 },
    { LABELS "sum(i: x[i] == x[3]) 3", 6 },
    /* a 0 1 0, b +1 -1 +1, c 0 */
    { MIXED "sum(i: a[i] b[i]) + (c[0] == 0)", 0 },
    { MIXED "h = [1, 2, 3]; sum(i: h[i] b[i])", 2 },
    { MIXED "sum(i~j in b: b[i] a[j])", 1 },
    { MIXED "sum(i in c: 5)", 5 },
};

START_TEST(texts_have_their_values)
{
    static const int32_t in_turn[12] = { 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1 };
    static const int32_t mixed[7] = { 0, 1, 0, 1, 0, 1, 0 };
    const char *text = cases[_i].text;
    const double f = value(text, strncmp(text, MIXED, strlen(MIXED)) == 0 ? mixed : in_turn);
    ck_assert_msg(fabs(f - cases[_i].f) < 1e-12, "%s: %.15g", text, f);
}
END_TEST

/* ---- what becomes of them */

START_TEST(parameters_are_the_models)
{
    sal_model *model = opened("x: spin[3]; J = -0.5; h = [1, 2, 3]; J sum(i~j: x[i] x[j]) + "
                              "sum(i: h[i] x[i])");
    double J, h[3], changed = 2, f;
    const int32_t codes[3] = { 1, 1, 1 };
    sal_error err;
    ck_ok(sal_model_get_params(model, "J", &J, &err), &err);
    ck_ok(sal_model_get_params(model, "h", h, &err), &err);
    ck_assert(J == -0.5 && h[0] == 1 && h[2] == 3);
    ck_ok(sal_model_set_params(model, "J", &changed, &err), &err);
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(f, 4 + 6, 1e-12);
    sal_model_destroy(model);
}
END_TEST

/* As fast as a ready-made one: the same operation on all edges. */
START_TEST(a_lattice_becomes_one_list_of_edges)
{
    sal_model *text = opened("x: spin[4, 4] cyclic; 0.3 sum(i~j: x[i] x[j])");
    ck_assert_int_eq(sali_model_operations(text, "edges"), 1);
    ck_assert_int_eq(sali_model_operations(text, "gather"), 0);
    sal_model_destroy(text);
}
END_TEST

START_TEST(a_specification_is_opened_and_named)
{
    const char *specification = "formula: x: binary[2]; x[0] x[1]";
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, SAL_F32, &model, &err), &err);
    ck_assert_str_eq(sal_model_name(model), specification);
    ck_assert_int_eq(sal_model_dtype(model), SAL_F32);
    sal_model_destroy(model);
    model = NULL;
    ck_assert_int_eq(sal_model_open("formula: x: binary[2]; x[0] +", 0, &model, &err),
                     SAL_ERR_DATA);
    ck_assert_msg(strstr(err.message, "character 22") && strstr(err.message, "missing at the end"),
                  "%s", err.message);
    ck_assert_ptr_null(model);
}
END_TEST

/* The sums and labels of these blocks are those of the space, and states of others are refused. */
START_TEST(sums_and_labels_are_fixed)
{
    sal_model *model =
        opened("a: binary[2, 2] sum 3 cyclic; b: spin[3] sum -1 0~1, 0~2; c: count(5)[2] sum 7; "
               "d: categorical(3)[4] labels 2 0 2; e: spin[2] cyclic sum 0; p: permutation[3]; "
               "sum(i~j in b: b[i] b[j]) + sum(i~j in e: e[i] e[j]) + sum(i<j in p: p[i] == p[j])");
    const sal_space *space = sal_model_space(model);
    const struct {
        bool fixed;
        int64_t sum, states, labels[3];
    } want[] = {
        { true, 3, 2, { -1 } },       { true, -1, 2, { -1 } }, { true, 7, 6, { -1 } },
        { false, 0, 3, { 2, 0, 2 } }, { true, 0, 2, { -1 } },  { false, 0, 3, { 1, 1, 1 } }
    };
    for (int64_t b = 0; b < 6; b++) {
        const sal_block *block = sal_space_block(space, b);
        ck_assert(block->fixed_sum == want[b].fixed && block->sum == want[b].sum &&
                  block->states == want[b].states && !block->labels == (want[b].labels[0] < 0));
        for (int k = 0; block->labels && k < 3; k++) {
            ck_assert_int_eq(block->labels[k], want[b].labels[k]);
        }
    }
    const int32_t codes[] = { 1, 1, 1, 0, 0, 1, 0, 2, 5, 0, 2, 2, 0, 1, 0, 2, 0, 1 };
    int32_t other[18];
    double f;
    sal_error err;
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(f, -1 + 1 - 1, 1e-12);
    memcpy(other, codes, sizeof other);
    other[3] = 1;
    ck_fails(sal_model_evaluate(model, 1, other, &f, NULL, NULL, &err), SAL_ERR_ARGUMENT, &err,
             "block 'a' sums to 4; its sum is fixed to 3");
    sal_model_destroy(model);
}
END_TEST

/* ---- mistakes */

static const struct {
    const char *text, *message;
    int place;
} mistakes[] = {
    { "", "no variables are declared", 0 },
    { "1", "no variables are declared", 0 },
    { "x: spin[2]", "expected ';' after a declaration, but the formula ends", 10 },
    { "x: spin[2];", "is missing at the end", 11 },
    { "x: spins[2]; 1", "expected binary, spin, ordinal(5)", 3 },
    { "x: spin; 1", "expected '[' and the number of variables", 7 },
    { "x: spin[0]; 1", "a block has 1 to", 8 },
    { "x: spin[70000000]; 1", "a number of variables, a whole number up to 67108864", 8 },
    { "x: spin[10000, 10000]; 1", "a block has 1 to 67108864 variables", 14 },
    { "x: spin[1,1,1,1,1]; 1", "at most 4 sides", 16 },
    { "x: ordinal[3]; 1", "expected '(' and the number of levels", 10 },
    { "x: ordinal(3, 1, 1)[3]; 1", "the lowest first", 12 },
    { "x: ordinal(1, 0, 1)[3]; 1", "two levels or more", 12 },
    { "x: categorical(1000000)[1000]; 1", "states of all its variables", 2 },
    { "x: spin[3] 0~3; 1", "expected a variable, a whole number up to 2", 13 },
    { "x: spin[3] 0~0; 1", "no neighbour of its own", 11 },
    { "x: spin[3] 0~1, 2~1, 1~0; 1", "the neighbours 0~1 are listed twice", 11 },
    { "x: spin[3] 0-1; 1", "expected '~' between neighbours", 12 },
    { "x: binary[3] sum 4; 1", "block 'x': no state has the sum 4; expected 0 to 3", 13 },
    { "x: binary[3] cyclic sum 4; 1", "no state has the sum 4", 20 },
    { "x: spin[3] sum -2; 1", "no state has the sum -2; expected an odd number", 11 },
    { "x: spin[3] sum - x; 1", "expected the sum of all variables, a whole number", 17 },
    { "x: spin[3] sum 1 sum 1; 1", "expected ';' after a declaration", 17 },
    { "x: spin[3] summe 1; 1", "expected ';' after a declaration", 11 },
    { "x: spin[3] sum 99999999999999999999; 1", "expected the sum of all variables", 15 },
    { "x: count[3] sum 1; 1", "a fixed sum of counts needs a cap", 12 },
    { "x: ordinal(3)[3] sum 1; 1", "a fixed sum is for binary variables, spins and counts", 17 },
    { "x: categorical(3)[3] sum 1; 1", "of labels their numbers can be fixed", 21 },
    { "x: binary[3] labels 1 2; 1", "labels are of categorical variables", 13 },
    { "x: categorical(2)[3] labels 1; 1", "expected how often each label occurs", 29 },
    { "x: categorical(2)[3] labels 1 1; 1", "the numbers of its labels sum to 2, and it has 3",
      21 },
    { "x: categorical(2)[3] labels 4 0; 1", "a whole number up to 3", 28 },
    { "x: permutation[5000]; 1", "a permutation has at most 4096 variables", 2 },
    { "x: permutation[3] labels 1 1 1; 1", "expected ';' after a declaration", 18 },
    { "x: permutation(3)[3]; 1", "expected '[' and the number of variables", 14 },
    { "x: spin[3]; x: spin[2]; 1", "the name 'x' is taken", 12 },
    { "i: spin[3]; 1", "the name 'i' is taken", 0 },
    { "x: spin[3]; h = [1, 2; h[0]", "expected ']' after the numbers", 21 },
    { "x: spin[3]; h = 1e999; h", "is no number", 16 },
    { "x: spin[3]; h = 1; x[0]", "the parameter h is declared, and f does not have it", 0 },
    { "x: spin[3]; h = [1, 2]; sum(i: h[i] x[i])", "sum is over 3 variables, and h has 2", 33 },
    { "x: spin[3]; y: spin[2]; sum(i: x[i] y[i])", "over 3 variables, and y has 2", 38 },
    { "x: spin[3]; y: spin[3]; h = [1, 2, 3]; sum(i~j: h[i])", "as in sum(i~j in x: ..)", 50 },
    { "x: spin[3]; y: spin[3]; sum(i: 1)", "as in sum(i in x: ..)", 30 },
    { "x: spin[3]; sum(i in z: 1)", "expected the name of variables after 'in'", 21 },
    { "x: spin[1]; sum(i~j: x[i] x[j])", "no variable has a neighbour here", 17 },
    { "x: spin[20000]; sum(i<j: x[i] x[j])", "have more than 67108864 pairs", 27 },
    { "x: spin[3]; x", "expected '[' after x", 13 },
    { "x: spin[3]; x[3]", "there is no x[3]: the last one is x[2]", 14 },
    { "x: spin[3]; x[99999999999999999999]", "there is no x[99999999999999999999]", 14 },
    { "x: spin[3]; x[-1]", "expected a number, i or j", 14 },
    { "x: spin[3]; x[i]", "x[i] stands outside of a sum(i: ..)", 14 },
    { "x: spin[3]; sum(i: x[j])", "x[j] stands outside of a sum(i~j: ..)", 21 },
    { "x: spin[3]; sum(k: 1)", "expected 'i' after 'sum('", 16 },
    { "x: spin[3]; sum(i~k: 1)", "expected 'j' after 'i~'", 18 },
    { "x: spin[3]; sum(i 1)", "expected ':' after the index", 18 },
    { "x: spin[3]; x[0] == 1", "is a number; '==' is for categorical", 16 },
    { "x: categorical(3)[3]; x[0] + 1", "has labels and is no number", 22 },
    { "x: categorical(3)[3]; x[0] == 3", "expected a label, a whole number up to 2", 30 },
    { "x: categorical(3)[3]; y: spin[3]; x[0] == y[0]", "a variable with 3 labels", 42 },
    { "x: spin[3]; foo(1)", "there is no function 'foo'", 12 },
    { "x: spin[3]; y + 1", "'y' is no variable, parameter or function", 12 },
    { "x: spin[3]; min(1)", "expected ',' between the two arguments", 17 },
    { "x: spin[3]; 2^x[0]", "expected a number after '^'", 14 },
    { "x: spin[3]; (1", "expected ')' to close the bracket, but the formula ends", 14 },
    { "x: spin[3]; 3 $ 4", "expected an operator or the end, found '$ 4'", 14 },
    { "x: spin[3]; \xc3\xa4", "expected a number, a variable or a function", 12 },
};

START_TEST(mistakes_are_told_at_their_place)
{
    int64_t place = -2;
    sal_model *model = NULL;
    sal_error err;
    const sal_status status = sali_formula_read(mistakes[_i].text, SAL_F64, &model, &place, &err);
    ck_assert_int_eq(status, SAL_ERR_DATA);
    ck_assert_ptr_null(model);
    ck_assert_msg(strstr(err.message, mistakes[_i].message) != NULL, "%s: %s", mistakes[_i].text,
                  err.message);
    ck_assert_msg(place == mistakes[_i].place, "%s: %d", mistakes[_i].text, (int)place);
}
END_TEST

START_TEST(brackets_may_not_be_nested_without_end)
{
    char text[1001] = "x: spin[2]; ";
    const size_t before = strlen(text);
    int64_t place;
    sal_model *model = NULL;
    sal_error err;
    memset(text + before, '(', sizeof text - 1 - before);
    ck_assert_int_eq(sali_formula_read(text, SAL_F64, &model, &place, &err), SAL_ERR_DATA);
    ck_assert_ptr_nonnull(strstr(err.message, "nested more than 100 deep"));
    ck_assert_int_eq(place, (int64_t)before + 100);
}
END_TEST

static sal_status read_and_close(const char *text)
{
    int64_t place;
    sal_model *model = NULL;
    sal_error err;
    const sal_status status = sali_formula_read(text, SAL_F64, &model, &place, &err);
    sal_model_destroy(model);
    return status;
}

START_TEST(running_out_of_memory_is_reported)
{
    static const char text[] =
        "x: spin[2, 3] sum 0 cyclic; y: ordinal(3, 0, 1)[6]; z: categorical(3)[2] labels 1 1 0 "
        "0~1; p: permutation[3]; t = 1; "
        "h = [1, 2, 3, 4, 5, 6]; t sum(i~j in x: x[i] x[j]) + sum(i: h[i] y[i]) + sum(i<j: y[i] "
        "y[j]) + sum(i~j: z[i] == z[j])";
    ck_alloc_sweep(read_and_close(text), (void)0);
}
END_TEST

static Suite *formula_suite(void)
{
    Suite *suite = suite_create("formula");
    TCase *tcase = tcase_create("values");
    tcase_add_loop_test(tcase, texts_have_their_values, 0, (int)(sizeof cases / sizeof *cases));
    tcase_add_test(tcase, parameters_are_the_models);
    tcase_add_test(tcase, a_lattice_becomes_one_list_of_edges);
    tcase_add_test(tcase, a_specification_is_opened_and_named);
    tcase_add_test(tcase, sums_and_labels_are_fixed);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("mistakes");
    tcase_add_loop_test(tcase, mistakes_are_told_at_their_place, 0,
                        (int)(sizeof mistakes / sizeof *mistakes));
    tcase_add_test(tcase, brackets_may_not_be_nested_without_end);
    tcase_add_test(tcase, running_out_of_memory_is_reported);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(formula_suite());
}
