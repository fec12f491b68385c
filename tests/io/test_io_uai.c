/* SPDX-License-Identifier: MIT */
/* Networks and evidence of the UAI competitions. */
#include "temp_dir.h"

#include <math.h>

#include "alloc_fail.h"
#include "io/file.h"
#include "io/format.h"
#include "io/networks/uai.h"

/* Variables of 2, 3 and 1 states; factors on (1 0), (), (2) and (0). */
static const char small[] = "MARKOV\n3\n2 3 1\n4\n2 1 0\n0\n1 2\n1 0\n\n"
                            "6\n .5 1e-3 2\n 0 4 1\n1 2.5\n1\n 7\n2 1 1\n";

/* A network of a format, from memory and into a file. */
static sal_status uai_parse(const char *name, const void *data, int64_t size, sali_factor_graph *g,
                            sal_error *err)
{
    sali_content content = { 0 };
    sal_status status = sali_format_parse(&sali_format_uai, name, data, size, &content, err);
    if (status == SAL_OK) {
        *g = content.network;
    }
    return status;
}

static sal_status uai_write(const char *path, const sali_factor_graph *g, sal_error *err)
{
    const sali_content content = { .kind = SALI_CONTENT_NETWORK, .network = *g };
    return sali_format_write(&sali_format_uai, path, &content, err);
}

static sal_status parse_text(const char *text, sali_factor_graph *g, sal_error *err)
{
    return uai_parse("f", text, (int64_t)strlen(text), g, err);
}

static sal_status read_file(const char *path, sali_factor_graph *g, sal_error *err)
{
    sali_bytes file = { 0 };
    sal_status status = sali_file_read(path, &file, err);
    status = status ? status : uai_parse(path, file.data, file.size, g, err);
    sali_bytes_free(&file);
    return status;
}

static sal_status parse_uai(const void *data, int64_t size, sal_error *err)
{
    sali_factor_graph g = { 0 };
    sal_status status = uai_parse("mem", data, size, &g, err);
    sali_factor_graph_free(&g);
    return status;
}

static void check_small(const sali_factor_graph *g)
{
    static const int64_t scopes[] = { 0, 2, 2, 3, 4 };
    static const int64_t tables[] = { 0, 6, 7, 8, 10 };
    static const int32_t scope[] = { 1, 0, 2, 0 };
    static const double table[] = { .5, 1e-3, 2, 0, 4, 1, 2.5, 7, 1, 1 };
    ck_assert(g->kind == SALI_FACTOR_MARKOV && g->variables == 3 && g->factors == 4);
    ck_assert(g->states[0] == 2 && g->states[1] == 3 && g->states[2] == 1);
    ck_assert_mem_eq(g->scope_begin, scopes, sizeof scopes);
    ck_assert_mem_eq(g->table_begin, tables, sizeof tables);
    ck_assert_mem_eq(g->scope, scope, sizeof scope);
    for (int i = 0; i < 10; i++) {
        double want = log(table[i]);
        ck_assert(g->log_table[i] == want || fabs(g->log_table[i] - want) < 1e-15 * fabs(want));
    }
}

START_TEST(network_is_read)
{
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    ck_ok(read_file(temp_write("a.uai", small, sizeof small - 1), &g, &err), &err);
    check_small(&g);
    ck_assert(g.log_table[3] == -INFINITY);
    sali_factor_graph_free(&g);
    ck_assert_ptr_null(g.scope);
    sali_factor_graph_free(&g);
}
END_TEST

START_TEST(layout_and_case_and_comments_do_not_matter)
{
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    ck_ok(parse_text("/* c */ markov 3 2 3 1 4 2 1\r\n0 0 1 2 1 0 // scopes\n6 5E-1 .001 2. 0.0 +4 "
                     "1.0 # table\n1 2.5 1 7 2 1 1",
                     &g, &err),
          &err);
    check_small(&g);
    sali_factor_graph_free(&g);
    ck_ok(parse_text("Bayes\n1 2 1\n1 0\n2 0.5 0.5", &g, &err), &err);
    ck_assert_int_eq(g.kind, SALI_FACTOR_BAYES);
    sali_factor_graph_free(&g);
    ck_ok(parse_text("MARKOV 1 2 0", &g, &err), &err);
    ck_assert_int_eq(g.factors, 0);
    sali_factor_graph_free(&g);
}
END_TEST

START_TEST(bad_networks_are_refused)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        { "", "f:1: expected MARKOV or BAYES, found the end of the file" },
        { "\nMARKOVX 1", "f:2: expected MARKOV or BAYES, found 'MARKOVX'" },
        { "MARKOV", "expected the number of variables" },
        { "MARKOV 0 0", "at least 1), found '0'" },
        { "MARKOV -1 0", "found '-1'" },
        { "MARKOV 9999999999999 2 2", "more than the rest of the file can hold" },
        { "MARKOV 99999999999999999999 2 2", "found '99999999999999999999'" },
        { "MARKOV 1 0 0 0", "expected a variable's number of states" },
        { "MARKOV\n1 2\n1e3", "f:3: expected the number of factors" },
        { "MARKOV 1 2 1000000", "more than the rest of the file can hold" },
        { "MARKOV 1 2 1 2 0 0", "expected the number of variables of a factor" },
        { "MARKOV 1 2 1 -1 0 0", "found '-1'" },
        { "MARKOV 2 2 2 1\n2 0 2", "f:2: expected a variable of a factor (an integer, 0 to 1)" },
        { "MARKOV 2 2 2 1\n2 1 1 4 1 1 1 1", "variable 1 is twice in the scope of table 1" },
        { "MARKOV 2 2 2\n1 2 0 1 2 1 1 1", "f:2: expected the number of entries of table 1 (4), "
                                           "found '2'" },
        { "MARKOV 2 2147483647 2147483647 1 2 0 1 4 1 1", "more entries than the rest" },
        { "MARKOV 3 2147483647 2147483647 2147483647 1 3 0 1 2 4 1 1", "more entries than" },
        { "MARKOV 1 2 2 1 0 1 0 2 1 1 2 1", "expected a table entry (a finite decimal" },
        { "MARKOV 1 2 1 1 0 2 1 -.5", "entry 2 of table 1 is -0.5" },
        { "MARKOV 1 2 1 1 0 2 1 nan", "found 'nan'" },
        { "MARKOV 1 2 1 1 0 2 1 inf", "found 'inf'" },
        { "MARKOV 1 2 1 1 0 2 1 1e400", "found '1e400'" },
        { "MARKOV 1 2 1 1 0 2 1 0,5", "found '0,5'" },
        { "MARKOV 1 2 1 1 0 2 1 0.5\n x", "f:2: expected the end of the file, found 'x'" },
        { "MARKOV 1 2 /* 1", "f:1: this comment has no end" },
    };
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_fails(parse_text(cases[i].text, &g, &err), SAL_ERR_DATA, &err, cases[i].message);
        ck_assert_ptr_null(g.states);
    }
    ck_fails(read_file(temp_path("none"), &g, &err), SAL_ERR_NOT_FOUND, &err, "none");
    ck_fails(read_file(temp_dir, &g, &err), SAL_ERR_NOT_FOUND, &err, "a directory");
}
END_TEST

START_TEST(written_network_reads_back)
{
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    const char *path = temp_path("a.uai");
    ck_ok(parse_text(small, &g, &err), &err);
    ck_ok(uai_write(path, &g, &err), &err);
    sali_factor_graph_free(&g);
    ck_ok(read_file(path, &g, &err), &err);
    check_small(&g);
    g.log_table[0] = 800;
    ck_fails(uai_write(path, &g, &err), SAL_ERR_ARGUMENT, &err, "subtract a constant");
    g.log_table[0] = -800;
    ck_fails(uai_write(path, &g, &err), SAL_ERR_ARGUMENT, &err, "subtract a constant");
    g.log_table[0] = NAN;
    ck_fails(uai_write(path, &g, &err), SAL_ERR_ARGUMENT, &err, "subtract a constant");
    sali_factor_graph_free(&g);
    ck_ok(read_file(path, &g, &err), &err);
    sali_factor_graph_free(&g);
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

/* ---- the order of a Bayesian network's tables */

/* p(a) = .3 .7, p(b) = .2 .5 .3, p(c = 1 | a, b) = .1 .2 .35 for a = 0, .6 .75 .9 for a = 1. */
#define NETWORK "\n3\n2 3 2\n3\n1 0\n1 1\n3 1 0 2\n\n2 .3 .7\n3 .2 .5 .3\n12 "
static const char in_order[] = "BAYES" NETWORK ".9 .1 .4 .6 .8 .2 .25 .75 .65 .35 .1 .9\n";
/* The same as pgmpy writes it: b fastest, then a, c slowest. */
static const char reversed[] = NETWORK ".9 .8 .65 .4 .25 .1 .1 .2 .35 .6 .75 .9\n";

static sal_status parse_as(const sali_format *format, const char *kind, const char *text,
                           sali_content *content, sal_error *err)
{
    char all[1000];
    int size = snprintf(all, sizeof all, "%s%s", kind, text);
    return sali_format_parse(format, "f", all, size, content, err);
}

static void check_tables_equal(const sali_factor_graph *a, const sali_factor_graph *b)
{
    ck_assert_int_eq(a->factors, b->factors);
    for (int64_t i = 0; i < a->table_begin[a->factors]; i++) {
        ck_assert_double_eq_tol(a->log_table[i], b->log_table[i], 1e-14);
    }
}

START_TEST(tables_of_pgmpy_are_put_in_order_with_a_remark)
{
    sal_error err = { 0 };
    sali_content right = { 0 }, written = { 0 }, markov = { 0 };
    ck_ok(parse_as(&sali_format_uai, "", in_order, &right, &err), &err);
    ck_assert_ptr_null(right.remark.text);
    ck_ok(parse_as(&sali_format_uai, "BAYES", reversed, &written, &err), &err);
    ck_assert_ptr_nonnull(strstr(written.remark.text, "as pgmpy writes them"));
    ck_assert(written.remark.warns);
    check_tables_equal(&written.network, &right.network);
    /* factors of a Markov network are what they are */
    ck_ok(parse_as(&sali_format_uai, "MARKOV", reversed, &markov, &err), &err);
    ck_assert_ptr_null(markov.remark.text);
    ck_assert_double_eq_tol(markov.network.log_table[6], log(.8), 1e-14);
    sali_content_free(&right);
    sali_content_free(&written);
    sali_content_free(&markov);
}
END_TEST

/* p(0) and p(1 | 0), the child first in its scope; then with three states of the child, and of the
 * parent. */
START_TEST(a_child_that_is_first_in_its_scope_is_put_last_with_a_remark)
{
    static const char *const pairs[][2] = {
        { "2 2 2 2 1 0 2 1 0 2 .3 .7 4 .9 .2 .1 .8", "2 2 2 2 1 0 2 0 1 2 .3 .7 4 .9 .1 .2 .8" },
        { "2 2 3 2 1 0 2 1 0 2 .3 .7 6 .5 .1 .3 .2 .2 .7",
          "2 2 3 2 1 0 2 0 1 2 .3 .7 6 .5 .3 .2 .1 .2 .7" },
        { "2 3 2 2 2 1 0 1 0 6 .9 .2 .4 .1 .8 .6 3 .2 .3 .5",
          "2 3 2 2 2 0 1 1 0 6 .9 .1 .2 .8 .4 .6 3 .2 .3 .5" },
        /* the sums are 1 over either variable */
        { "2 2 2 2 1 0 2 1 0 2 .3 .7 4 .9 .1 .1 .9", "2 2 2 2 1 0 2 0 1 2 .3 .7 4 .9 .1 .1 .9" },
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        sal_error err = { 0 };
        sali_content first = { 0 }, last = { 0 };
        ck_ok(parse_as(&sali_format_uai, "BAYES ", pairs[k][0], &first, &err), &err);
        ck_ok(parse_as(&sali_format_uai, "BAYES ", pairs[k][1], &last, &err), &err);
        ck_assert(first.remark.warns && strstr(first.remark.text, "child first in each scope"));
        ck_assert_ptr_null(last.remark.text);
        check_tables_equal(&first.network, &last.network);
        ck_assert_mem_eq(first.network.scope, last.network.scope, 3 * sizeof(int32_t));
        sali_content_free(&first);
        sali_content_free(&last);
    }
}
END_TEST

START_TEST(each_variable_is_the_child_of_one_table)
{
    static const char *const cases[][2] = {
        { "BAYES 2 2 2 1 1 0 2 .3 .7", "variable 1 is the last of the scope of no table; in a" },
        { "BAYES 2 2 2 3 1 0 1 1 1 0 2 .3 .7 2 .3 .7 2 .1 .9",
          "variable 0 is the last of the scope of table 1 and of table 3; in a" },
    };
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ck_fails(parse_text(cases[k][0], &g, &err), SAL_ERR_DATA, &err, cases[k][1]);
    }
}
END_TEST

START_TEST(sums_that_differ_from_1_are_rounding_or_an_error)
{
    static const struct {
        const char *table;   /* of a child of two states and its parent of three */
        const char *message; /* NULL: it is read */
        const char *remark;  /* part of it; NULL: none */
    } cases[] = {
        { ".3333 .6667 .1 .9 .14286 .85714", NULL, NULL },
        { ".33 .66 .1 .9 .14 .86", NULL, NULL },
        { ".3333 .1 .1429 .6667 .9 .8571", NULL, "pgmpy" },
        /* within the rounding in both orders, but exact in one */
        { ".5 .49 .51 .5 .51 .49", NULL, "pgmpy" },
        { ".5 .5 .49 .51 .51 .49", NULL, NULL },
        { ".3 .7 .1 .8 .2 .8", "f: table 2, of variable 1: a row sums to 0.9; in a BAYES", NULL },
        { "1 0 0 0 1 0", "table 2, of variable 1: a row sums to 0;", NULL },
        { "3 7 1 9 2 8", "write MARKOV for BAYES", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        sali_content content = { 0 };
        char text[200];
        snprintf(text, sizeof text, "BAYES 2 3 2 2 1 0 2 0 1 3 .2 .3 .5 6 %s", cases[i].table);
        if (cases[i].message) {
            ck_fails(parse_as(&sali_format_uai, "", text, &content, &err), SAL_ERR_DATA, &err,
                     cases[i].message);
            continue;
        }
        ck_ok(parse_as(&sali_format_uai, "", text, &content, &err), &err);
        const char *remark = content.remark.text;
        ck_assert_msg(cases[i].remark ? remark && strstr(remark, cases[i].remark) : !remark,
                      "%s: %s", cases[i].table, remark ? remark : "no remark");
        sali_content_free(&content);
    }
}
END_TEST

START_TEST(tables_of_logarithms_are_told_by_the_suffix)
{
    static const char text[] = "MARKOV 2 2 2 1 2 0 1 4 -0.5 0 1.5 -inf";
    static const double want[] = { -0.5, 0, 1.5, -INFINITY };
    static const char *const names[] = { "grid.uai.LG", "GRID.UAI.LG", "grid.lg" };
    sal_error err = { 0 };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        sali_content content = { 0 };
        const char *path = temp_write(names[k], text, sizeof text - 1);
        ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NONE, &content, NULL, &err), &err);
        ck_assert_ptr_null(content.remark.text);
        ck_assert_mem_eq(content.network.log_table, want, sizeof want);
        sali_content_free(&content);
    }
    sali_content content = { 0 };
    ck_fails(sali_content_read(temp_write("grid.uai", text, sizeof text - 1), NULL,
                               SALI_CONTENT_NONE, &content, NULL, &err),
             SAL_ERR_DATA, &err, "call the file NAME.LG");
    ck_ok(parse_as(&sali_format_uai_lg, "", "BAYES 1 2 1 1 0 2 -0.35667494 -1.2039728", &content,
                   &err),
          &err);
    sali_content_free(&content);
    ck_fails(parse_as(&sali_format_uai_lg, "", "BAYES 1 2 1 1 0 2 -1 -1", &content, &err),
             SAL_ERR_DATA, &err, "a row sums to 0.735759 (the entries are read as natural log");
    ck_ok(parse_as(&sali_format_uai_lg, "", "MARKOV 1 2 1 1 0 2 .3 .7", &content, &err), &err);
    ck_assert(content.remark.warns);
    ck_assert_ptr_nonnull(strstr(content.remark.text, "read as natural logarithms because of the"));
    sali_content_free(&content);
    ck_fails(parse_as(&sali_format_uai_lg, "", "MARKOV 1 2 1 1 0 2 -1 inf", &content, &err),
             SAL_ERR_DATA, &err, "found 'inf'");
}
END_TEST

static sal_status parse_reversed(const void *data, int64_t size, sal_error *err)
{
    sali_content content = { 0 };
    sal_status status = sali_format_parse(&sali_format_uai, "mem", data, size, &content, err);
    sali_content_free(&content);
    return status;
}

START_TEST(reordering_survives_failing_allocations)
{
    sal_error err = { 0 };
    ck_alloc_sweep(parse_reversed("BAYES 2 2 2 2 1 0 2 0 1 2 .3 .7 4 .1 .2 .9 .8",
                                  (int64_t)strlen("BAYES 2 2 2 2 1 0 2 0 1 2 .3 .7 4 .1 .2 .9 .8"),
                                  &err),
                   (void)0);
}
END_TEST

/* ---- evidence */

static sal_status parse_evidence(const char *text, int32_t *observed, sal_error *err)
{
    static int32_t states[3] = { 2, 3, 1 };
    const sali_factor_graph g = { .variables = 3, .states = states };
    sali_remark remark = { 0 };
    sal_status status =
        sali_uai_parse_evidence("e", text, (int64_t)strlen(text), &g, 0, observed, &remark, err);
    sali_remark_free(&remark);
    return status;
}

START_TEST(both_layouts_of_evidence_are_read)
{
    static const struct {
        const char *text;
        int32_t want[3];
    } cases[] = {
        { "0", { -1, -1, -1 } },
        { "0\n", { -1, -1, -1 } },
        { "1\n0", { -1, -1, -1 } },
        { "1 1 2", { -1, 2, -1 } },
        { "1\n1 1 2", { -1, 2, -1 } },
        { "1 1 0 1", { 1, -1, -1 } },
        { "2 0 1 1 2", { 1, 2, -1 } },
        { "1\n2 0 1 1 2", { 1, 2, -1 } },
        { "/* Evidence */\n2\n 0   1\n 2   0\n", { 1, -1, 0 } },
        { "3 0 1 0 1 1 2", { 1, 2, -1 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        int32_t observed[3] = { 42, 42, 42 };
        ck_ok(parse_evidence(cases[i].text, observed, &err), &err);
        ck_assert_mem_eq(observed, cases[i].want, sizeof observed);
    }
}
END_TEST

START_TEST(bad_evidence_is_refused)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        { "", "e: holds no numbers; expected \"n variable state ...\" with n pairs" },
        { "\n/* none */\n", "e: holds no numbers" },
        { "1 0", "e:1: one observation has no value for variable 0; expected" },
        { "1", "expected 1 pairs of a variable and a state, found 0 numbers" },
        { "2 0 1", "expected 2 pairs" },
        { "0 0 1", "expected 0 pairs" },
        { "1 2 0 1", "expected 2 pairs of a variable and a state, found 2 numbers" },
        { "2 1 0 1", "4 numbers that begin with 2" },
        { "2 1 0 1 1 0 0 1", "8 numbers that begin with 2" },
        { "1 3 0", "variable 3 is observed; expected 0 to 2" },
        { "2 0 1\n1 3", "e:2: variable 1 is observed in state 3; expected 0 to 2" },
        { "3 0 1 0 0 1 2", "variable 0 is observed in state 0 and before in state 1" },
        { "1 -1 0", "found '-1'" },
        { "1 0 x", "e:1: expected a count, a variable or a state" },
        { "1 0 1.0", "found '1.0'" },
        { "/* ", "no end" },
        { "2147483647", "expected 2147483647 pairs" },
        { "99999999999 0 1", "found '99999999999'" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        int32_t observed[3] = { 42, 42, 42 };
        ck_fails(parse_evidence(cases[i].text, observed, &err), SAL_ERR_DATA, &err,
                 cases[i].message);
        ck_assert(observed[0] == 42 && observed[1] == 42 && observed[2] == 42);
    }
}
END_TEST

START_TEST(one_sample_of_several_is_chosen)
{
    sali_remark remark = { 0 };
    static const char three[] = "3\n 1 0 1\n 2 1 2 2 0\n 0\n";
    static const struct {
        int64_t sample;
        int32_t want[3];
    } cases[] = { { 1, { 1, -1, -1 } }, { 2, { -1, 2, 0 } }, { 3, { -1, -1, -1 } } };
    int32_t states[] = { 2, 3, 1 };
    const sali_factor_graph g = { .variables = 3, .states = states };
    sal_error err = { 0 };
    int32_t observed[3] = { 42, 42, 42 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_ok(sali_uai_parse_evidence("e", three, sizeof three - 1, &g, cases[i].sample, observed,
                                      &remark, &err),
              &err);
        ck_assert_mem_eq(observed, cases[i].want, sizeof observed);
    }
    observed[0] = 42;
    ck_fails(sali_uai_parse_evidence("e", three, sizeof three - 1, &g, 0, observed, &remark, &err),
             SAL_ERR_ARGUMENT, &err, "e: holds 3 samples of evidence; choose one by its number");
    ck_fails(sali_uai_parse_evidence("e", three, sizeof three - 1, &g, 4, observed, &remark, &err),
             SAL_ERR_ARGUMENT, &err, "no sample 4 of evidence; expected 1 to 3");
    ck_fails(sali_uai_parse_evidence("e", "1 0 1", 5, &g, 2, observed, &remark, &err),
             SAL_ERR_ARGUMENT, &err, "expected 1 to 1");
    ck_fails(sali_uai_parse_evidence("e", three, sizeof three - 1, &g, -1, observed, &remark, &err),
             SAL_ERR_ARGUMENT, &err, "no sample -1");
    ck_assert_int_eq(observed[0], 42);
    ck_ok(sali_uai_parse_evidence("e", "1 0 1", 5, &g, 1, observed, &remark, &err), &err);
    ck_assert_int_eq(observed[0], 1);
    ck_assert_ptr_null(remark.text);
}
END_TEST

/* Numbers that fit one sample and several: ends of lines decide, then a choice, then the graph. */
START_TEST(ambiguous_evidence_is_decided_or_remarked_on)
{
    static const struct {
        const char *text;
        int64_t sample;
        int32_t want[3]; /* 42: several samples, and none is chosen */
        const char *remark;
    } cases[] = {
        { "2\n1 0 1\n0\n", 0, { 42, 42, 42 }, NULL },
        { "2\n1 0 1\n0\n", 1, { 1, -1, -1 }, NULL },
        { "2\n1 0 1\n0\n", 2, { -1, -1, -1 }, NULL },
        { "2\n0\n1 1 0\n", 0, { 42, 42, 42 }, NULL },
        { "2\n0\n1 1 0\n", 2, { -1, 0, -1 }, NULL },
        { "# two\n2\n0 1 1 2\n", 0, { 1, 2, -1 }, NULL },
        { "2\n0 1\n1 2\n", 0, { 1, 2, -1 }, NULL },
        { "2\n0 1\n1 2\n", 1, { 1, 2, -1 }, NULL },
        { "2\n0 1\n1 2\n", 2, { -1, 2, -1 }, NULL },
        { "2\n0 1 1\n2\n", 0, { 42, 42, 42 }, NULL },
        /* one sample would have a variable twice */
        { "2 0 1 0 1", 0, { 42, 42, 42 }, NULL },
        { "2 0 1 0 1", 2, { 1, -1, -1 }, NULL },
        { "2 1 0 1 0", 0, { 42, 42, 42 }, NULL },
        { "2 0 1 1 2",
          0,
          { 1, 2, -1 },
          "the numbers fit one sample of 2 observations, and 2 samples, the first of 0; they were "
          "read as one (" },
        { "2 0 1 1 2", 2, { -1, 2, -1 }, "they were read as several, because one of them was" },
    };
    static int32_t states[3] = { 2, 3, 1 };
    const sali_factor_graph g = { .variables = 3, .states = states };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        sali_remark remark = { 0 };
        int32_t observed[3] = { 42, 42, 42 };
        sal_status status =
            sali_uai_parse_evidence("e", cases[i].text, (int64_t)strlen(cases[i].text), &g,
                                    cases[i].sample, observed, &remark, &err);
        if (cases[i].want[0] == 42) {
            ck_assert_int_eq(status, SAL_ERR_ARGUMENT);
            ck_assert_ptr_nonnull(strstr(err.message, "e: holds 2 samples of evidence"));
        } else {
            ck_ok(status, &err);
        }
        ck_assert_mem_eq(observed, cases[i].want, sizeof observed);
        ck_assert_int_eq(remark.text != NULL, cases[i].remark != NULL);
        ck_assert(!cases[i].remark || strstr(remark.text, cases[i].remark));
        ck_assert_int_eq(remark.warns, cases[i].remark != NULL);
        sali_remark_free(&remark);
    }
}
END_TEST

static sal_status parse_evidence_bytes(const void *data, int64_t size, sal_error *err)
{
    static int32_t states[3] = { 2, 3, 1 };
    const sali_factor_graph g = { .variables = 3, .states = states };
    int32_t observed[3];
    sali_remark remark = { 0 };
    sal_status status = sali_uai_parse_evidence("mem", data, size, &g, 0, observed, &remark, err);
    sali_remark_free(&remark);
    return status;
}

START_TEST(truncated_and_damaged_files_are_survived)
{
    static const char evidence[] = "/* Evidence */\n1\n2 0 1\n1 2\n";
    temp_sweep(parse_uai, small, sizeof small - 1);
    temp_sweep(parse_evidence_bytes, evidence, sizeof evidence - 1);
}
END_TEST

START_TEST(uai_survives_failing_allocations)
{
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    int32_t observed[3];
    sali_remark remark = { 0 };
    const char *path = temp_write("a.uai", small, sizeof small - 1);
    const char *evidence = temp_write("e", "2 0 1 1 2", 9);
    ck_alloc_sweep(read_file(path, &g, &err), sali_factor_graph_free(&g));
    ck_ok(read_file(path, &g, &err), &err);
    ck_alloc_sweep(sali_uai_read_evidence(evidence, &g, 0, observed, &remark, &err),
                   sali_remark_free(&remark));
    sali_remark_free(&remark);
    ck_alloc_sweep(uai_write(path, &g, &err), (void)0);
    sali_factor_graph_free(&g);
    ck_assert_int_eq(temp_count(), 2);
}
END_TEST

START_TEST(networks_of_the_competitions_are_read)
{
    static const struct {
        const char *name;
        sali_factor_kind kind;
        int64_t variables, factors, observed;
    } cases[] = {
        { "BN_1", SALI_FACTOR_BAYES, 100, 100, 18 },
        { "BN_8", SALI_FACTOR_BAYES, 100, 100, 9 },
        { "CSP_12", SALI_FACTOR_MARKOV, 67, 271, 0 },
        { "DBN_11", SALI_FACTOR_MARKOV, 40, 440, 0 },
        { "Grids_11", SALI_FACTOR_MARKOV, 100, 300, 0 },
        { "ObjectDetection_12", SALI_FACTOR_MARKOV, 60, 210, 0 },
        { "Segmentation_11", SALI_FACTOR_MARKOV, 228, 845, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        sali_factor_graph g = { 0 };
        int32_t observed[228];
        sali_remark remark = { 0 };
        char name[100];
        snprintf(name, sizeof name, "data/uai/%s.uai", cases[i].name);
        if (!test_data(name)) {
            return;
        }
        ck_ok(read_file(test_data(name), &g, &err), &err);
        ck_assert(g.kind == cases[i].kind && g.variables == cases[i].variables);
        ck_assert_int_eq(g.factors, cases[i].factors);
        snprintf(name, sizeof name, "data/uai/%s.uai.evid", cases[i].name);
        ck_ok(sali_uai_read_evidence(test_data(name), &g, 0, observed, &remark, &err), &err);
        ck_assert_ptr_null(remark.text);
        int64_t count = 0;
        for (int64_t v = 0; v < g.variables; v++) {
            count += observed[v] >= 0;
        }
        ck_assert_int_eq(count, cases[i].observed);
        sali_factor_graph_free(&g);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_uai");
    TCase *tcase = tcase_create("uai");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, network_is_read);
    tcase_add_test(tcase, layout_and_case_and_comments_do_not_matter);
    tcase_add_test(tcase, bad_networks_are_refused);
    tcase_add_test(tcase, written_network_reads_back);
    tcase_add_test(tcase, tables_of_pgmpy_are_put_in_order_with_a_remark);
    tcase_add_test(tcase, a_child_that_is_first_in_its_scope_is_put_last_with_a_remark);
    tcase_add_test(tcase, each_variable_is_the_child_of_one_table);
    tcase_add_test(tcase, sums_that_differ_from_1_are_rounding_or_an_error);
    tcase_add_test(tcase, tables_of_logarithms_are_told_by_the_suffix);
    tcase_add_test(tcase, reordering_survives_failing_allocations);
    tcase_add_test(tcase, one_sample_of_several_is_chosen);
    tcase_add_test(tcase, both_layouts_of_evidence_are_read);
    tcase_add_test(tcase, bad_evidence_is_refused);
    tcase_add_test(tcase, ambiguous_evidence_is_decided_or_remarked_on);
    tcase_add_test(tcase, truncated_and_damaged_files_are_survived);
    tcase_add_test(tcase, uai_survives_failing_allocations);
    tcase_add_test(tcase, networks_of_the_competitions_are_read);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
