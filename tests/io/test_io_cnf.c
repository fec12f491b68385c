/* SPDX-License-Identifier: MIT */
/* Clauses of CNF and WCNF files, and the model max-sat that is made of them. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/io.h>

#include "alloc_fail.h"
#include "io/format.h"

#define N(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static const char small_cnf[] = "c of a test\np cnf 3 3\n1 -2 0\n3\n0 -1 -3 2 0\n";
static const char old_wcnf[] = "p wcnf 3 4 10\n10 1 -2 0\n4 3 0\n2.5 -1 -3 2 0\n11 1 2 3 0\n";
static const char new_wcnf[] = "h 1 2 3 0\nc since 2022\nh 1 -2 0\n4 3 0\n2.5 -1 -3 2 0\n";

/* A clause: at most three literals, 0 after the last. */
typedef struct clause {
    double weight; /* INFINITY: hard */
    int literals[3];
} clause;

static const clause weighted[] = {
    { INFINITY, { 1, -2 } }, { 4, { 3 } }, { 2.5, { -1, -3, 2 } }, { INFINITY, { 1, 2, 3 } }
};
static const clause plain[] = { { 1, { 1, -2 } }, { 1, { 3 } }, { 1, { -1, -3, 2 } } };

/* The weight of the clauses that a state violates; variable v is bit v - 1. Hard clauses weigh
 * `hard`, soft ones `times` as much as they say. */
static double violated(const clause *clauses, int64_t n, int state, double times, double hard)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        bool holds = false;
        for (int i = 0; i < 3 && clauses[k].literals[i]; i++) {
            int x = clauses[k].literals[i];
            holds |= (state >> (abs(x) - 1) & 1) == (x > 0);
        }
        sum += holds ? 0 : isinf(clauses[k].weight) ? hard : times * clauses[k].weight;
    }
    return sum;
}

static sal_model *open_model(const char *specification)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_ok(sal_model_open(specification, 0, &model, &err), &err);
    return model;
}

/* f of all states of three variables. */
static void check_model(const char *specification, const clause *clauses, int64_t n, double times,
                        double hard)
{
    sal_error err = { 0 };
    sal_model *model = open_model(specification);
    for (int state = 0; state < 8; state++) {
        const int32_t codes[] = { state & 1, state >> 1 & 1, state >> 2 & 1 };
        double f;
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        double sum = violated(clauses, n, state, times, hard);
        ck_assert_msg(isinf(sum) ? isinf(f) && f < 0 : fabs(f + sum) < 1e-12, "%s: f(%d) is %g",
                      specification, state, f);
    }
    sal_model_destroy(model);
}

/* "max-sat:file=PATH,SETTINGS", good until the next call. */
static const char *with(const char *path, const char *settings)
{
    static char text[700];
    snprintf(text, sizeof text, "max-sat:file=%s,%s", path, settings);
    return text;
}

START_TEST(f_is_minus_the_weight_of_violated_clauses)
{
    char cnf[300], wcnf[300];
    strcpy(cnf, temp_write("a.cnf", small_cnf, sizeof small_cnf - 1));
    check_model(cnf, plain, 3, 1, INFINITY);
    check_model(with(cnf, "beta=3"), plain, 3, 3, INFINITY);
    for (int k = 0; k < 2; k++) {
        /* lines "h i j 0" are no fields of a Potts model, which are refused */
        const char *text = k ? new_wcnf : old_wcnf;
        strcpy(wcnf, temp_write(k ? "a.wcnf" : "without suffix", text, strlen(text)));
        check_model(wcnf, weighted, 4, 1, INFINITY);
        check_model(with(wcnf, "hard=7"), weighted, 4, 1, 7);
        check_model(with(wcnf, "hard=7,beta=.5"), weighted, 4, .5, 3.5);
        check_model(with(wcnf, "beta=0"), weighted, 4, 0, INFINITY);
    }
}
END_TEST

/* log Z is then the logarithm of the number of solutions. */
START_TEST(solutions_are_counted_where_all_clauses_are_hard)
{
    sal_error err = { 0 };
    sal_exact exact = { 0 };
    int solutions = 0;
    for (int state = 0; state < 8; state++) {
        solutions += violated(plain, 3, state, 1, INFINITY) == 0;
    }
    ck_assert_int_eq(solutions, 2);
    sal_model *model =
        open_model(with(temp_write("a.cnf", small_cnf, sizeof small_cnf - 1), "clauses=hard"));
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, log(solutions), 1e-12);
    sal_model_destroy(model);
}
END_TEST

static sal_status parse_text(const char *text, sali_content *out, sal_error *err)
{
    const sali_format *format =
        strstr(text, "cnf") && !strstr(text, "wcnf") ? &sali_format_cnf : &sali_format_wcnf;
    return sali_format_parse(format, "f", text, (int64_t)strlen(text), out, err);
}

/* Literals twice, a clause that is always true, one without literals, one without weight, and the
 * end of SATLIB's files. */
START_TEST(unusual_clauses_are_read)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    ck_ok(parse_text("p cnf 4 4\n2 1 2 0\n3 -3 1 0\n0\n-4 0\n%\n0\n", &content, &err), &err);
    const sali_factor_graph *g = &content.network;
    ck_assert_int_eq(g->variables, 4);
    ck_assert_int_eq(g->factors, 3);
    ck_assert_int_eq(g->scope_begin[3], 3);
    ck_assert(g->scope[0] == 0 && g->scope[1] == 1 && g->scope[2] == 3);
    static const double tables[] = { -1, 0, 0, 0, -1, 0, -1 };
    ck_assert_int_eq(g->table_begin[3], N(tables));
    ck_assert_mem_eq(g->log_table, tables, sizeof tables);
    ck_assert_ptr_nonnull(strstr(content.remark.text, "4 clauses, 0 of them hard; f is minus"));
    sali_content_free(&content);
    ck_ok(parse_text("h 2 -2 0\n0 1 0\n", &content, &err), &err); /* nothing is left */
    ck_assert_int_eq(content.network.factors, 1);
    ck_assert_double_eq(content.network.log_table[0], 0);
    sali_content_free(&content);
}
END_TEST

START_TEST(bad_clauses_are_refused)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "f: has no clause" },
        { "p sat 3 1\n", "f:1: expected a line 'p cnf VARIABLES CLAUSES' or 'p wcnf VARIABLES" },
        { "p cnf 0 1\n", "expected the number of variables (an integer, 1 to 1048576), found '0'" },
        { "p cnf 99999999 1\n1 0", "found '99999999'" },
        { "p cnf 3\n1 1 0", "f:1: expected the numbers of variables and clauses on this line" },
        { "p cnf 3 -1\n", "found '-1'" },
        { "p wcnf 3 1 x\n", "expected the weight of hard clauses" },
        { "p cnf 3 1\n1 4 0", "f:2: expected a literal, or 0 at the end of a clause (an integer, -3"
                              " to 3), found '4'" },
        { "p cnf 3 1\n1 -4 0", "found '-4'" },
        { "p cnf 3 1\n1 2", "f:2: expected a literal, or 0 at the end of a clause" },
        { "p cnf 3 2\n1 2 0", "f: has 1 clauses; its line p says 2" },
        { "p cnf 3 1\n1 2 0 3 0", "f: has 2 clauses; its line p says 1" },
        { "p wcnf 3 1\n-1 1 0", "f:2: the weight of a clause is negative" },
        { "p wcnf 3 1\nh 1 0", "expected the weight of a clause" },
        { "p wcnf 3 1 5\n5 0", "f:2: a hard clause without literals, which nothing satisfies" },
        { "h 0", "a hard clause without literals" },
        { "x 1 0", "f:1: expected h or the weight of a clause" },
        { "h 99999999 0", "found '99999999'" },
        { "h 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 0",
          "f:1: a clause of 17 literals; clauses of at most 16 are read" },
    };
    for (int64_t k = 0; k < N(cases); k++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        ck_fails(parse_text(cases[k].text, &content, &err), SAL_ERR_DATA, &err, cases[k].message);
    }
    /* 300 tables of 2^16 entries are more than 2^24 */
    static char many[300 * 64];
    sal_error err = { 0 };
    sali_content content = { 0 };
    for (int k = 0; k < 300; k++) {
        strcat(many + 45 * (size_t)k, "h 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 0   \n");
    }
    ck_fails(parse_text(many, &content, &err), SAL_ERR_DATA, &err,
             "have more than 16777216 entries; a clause of k literals has 2^k");
}
END_TEST

START_TEST(other_models_and_files_are_refused)
{
    static const char network[] = "MARKOV 1 3 1 1 0 3 1 2 3";
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_fails(sal_model_open("max-sat", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "max-sat is made of a network: max-sat:file=PATH");
    ck_fails(sal_model_open(with(temp_write("a.uai", network, sizeof network - 1), "beta=1"), 0,
                            &model, &err),
             SAL_ERR_DATA, &err, "variable 0 of this network has 3");
    ck_fails(sal_model_open(with(temp_write("a.wcnf", new_wcnf, sizeof new_wcnf - 1), "hard=-1"), 0,
                            &model, &err),
             SAL_ERR_ARGUMENT, &err, "hard");
}
END_TEST

START_TEST(clauses_are_told_from_other_texts)
{
    static const struct {
        const char *text;
        bool cnf, wcnf;
    } cases[] = { { small_cnf, true, false },       { old_wcnf, false, true },
                  { new_wcnf, false, true },        { "p wcnf 3 4\n", false, true },
                  { "p edge 3 4\n", false, false }, { "p qubo 0 3 4 0\n", false, false },
                  { "3 1 2 0\n", false, false },    { "", false, false },
                  { "h and text\n", false, false }, { "h 0 1 0.5\n", false, false },
                  { "h 1 0 0\n", false, false },    { "h 1 2\n", false, false } };
    for (int64_t k = 0; k < N(cases); k++) {
        int64_t size = (int64_t)strlen(cases[k].text);
        ck_assert_int_eq(sali_format_recognises(&sali_format_cnf, cases[k].text, size),
                         cases[k].cnf);
        ck_assert_int_eq(sali_format_recognises(&sali_format_wcnf, cases[k].text, size),
                         cases[k].wcnf);
    }
}
END_TEST

static sal_status parse_bytes(const void *data, int64_t size, sal_error *err)
{
    sali_content content = { 0 };
    sal_status status = sali_format_parse(&sali_format_wcnf, "f", data, size, &content, err);
    sali_content_free(&content);
    return status;
}

START_TEST(damaged_clauses_and_failing_allocations_are_survived)
{
    temp_sweep(parse_bytes, small_cnf, sizeof small_cnf - 1);
    temp_sweep(parse_bytes, old_wcnf, sizeof old_wcnf - 1);
    temp_sweep(parse_bytes, new_wcnf, sizeof new_wcnf - 1);
    sal_error err = { 0 };
    sali_content content = { 0 };
    ck_alloc_sweep(parse_text(new_wcnf, &content, &err), sali_content_free(&content));
    sal_model *model = NULL;
    const char *specification = with(temp_write("a.wcnf", new_wcnf, sizeof new_wcnf - 1), "hard=2");
    ck_alloc_sweep(sal_model_open(specification, 0, &model, &err), sal_model_destroy(model));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_cnf");
    TCase *tcase = tcase_create("cnf");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, f_is_minus_the_weight_of_violated_clauses);
    tcase_add_test(tcase, solutions_are_counted_where_all_clauses_are_hard);
    tcase_add_test(tcase, unusual_clauses_are_read);
    tcase_add_test(tcase, bad_clauses_are_refused);
    tcase_add_test(tcase, other_models_and_files_are_refused);
    tcase_add_test(tcase, clauses_are_told_from_other_texts);
    tcase_add_test(tcase, damaged_clauses_and_failing_allocations_are_survived);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
