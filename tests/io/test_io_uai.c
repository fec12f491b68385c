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
        { "MARKOV 2 2 2 1\n2 1 1 4 1 1 1 1", "variable 1 is twice in the scope of factor 0" },
        { "MARKOV 2 2 2\n1 2 0 1 2 1 1 1", "f:2: expected the number of entries of the table of "
                                           "factor 0 (4), found '2'" },
        { "MARKOV 2 2147483647 2147483647 1 2 0 1 4 1 1", "more entries than the rest" },
        { "MARKOV 3 2147483647 2147483647 2147483647 1 3 0 1 2 4 1 1", "more entries than" },
        { "MARKOV 1 2 2 1 0 1 0 2 1 1 2 1", "expected a table entry (a finite decimal" },
        { "MARKOV 1 2 1 1 0 2 1 -.5", "entry 1 of the table of factor 0 is -0.5" },
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

static sal_status parse_evidence(const char *text, int32_t *observed, sal_error *err)
{
    static int32_t states[3] = { 2, 3, 1 };
    const sali_factor_graph g = { .variables = 3, .states = states };
    return sali_uai_parse_evidence("e", text, (int64_t)strlen(text), &g, observed, err);
}

START_TEST(both_layouts_of_evidence_are_read)
{
    static const struct {
        const char *text;
        int32_t want[3];
    } cases[] = {
        { "", { -1, -1, -1 } },
        { "\n/* none */\n", { -1, -1, -1 } },
        { "0", { -1, -1, -1 } },
        { "0\n", { -1, -1, -1 } },
        { "1 0", { -1, -1, -1 } },
        { "1 1 2", { -1, 2, -1 } },
        { "1\n1 1 2", { -1, 2, -1 } },
        { "1 1 0 1", { 1, -1, -1 } },
        { "2 0 1 1 2", { 1, 2, -1 } },
        { "1\n2 0 1 1 2", { 1, 2, -1 } },
        { "/* Evidence */\n2\n 0   1\n 2   0\n", { 1, -1, 0 } },
        { "2 0 1 0 1", { 1, -1, -1 } },
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
        { "1", "expected 1 pairs of a variable and a state, found 0 numbers" },
        { "2 0 1", "expected 2 pairs" },
        { "0 0 1", "expected 0 pairs" },
        { "1 2 0 1", "expected 2 pairs of a variable and a state, found 2 numbers" },
        { "2 1 0 1", "4 numbers that begin with 2" },
        { "2 1 0 1 1 0 0", "expected 2 pairs" },
        { "1 3 0", "variable 3 is observed; expected 0 to 2" },
        { "2 0 1\n1 3", "e:2: variable 1 is observed in state 3; expected 0 to 2" },
        { "2 0 1 0 0", "variable 0 is observed in state 0 and before in state 1" },
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

static sal_status parse_evidence_bytes(const void *data, int64_t size, sal_error *err)
{
    static int32_t states[3] = { 2, 3, 1 };
    const sali_factor_graph g = { .variables = 3, .states = states };
    int32_t observed[3];
    return sali_uai_parse_evidence("mem", data, size, &g, observed, err);
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
    const char *path = temp_write("a.uai", small, sizeof small - 1);
    const char *evidence = temp_write("e", "2 0 1 1 2", 9);
    ck_alloc_sweep(read_file(path, &g, &err), sali_factor_graph_free(&g));
    ck_ok(read_file(path, &g, &err), &err);
    ck_alloc_sweep(sali_uai_read_evidence(evidence, &g, observed, &err), (void)0);
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
        char name[100];
        snprintf(name, sizeof name, "data/uai/%s.uai", cases[i].name);
        if (!test_data(name)) {
            return;
        }
        ck_ok(read_file(test_data(name), &g, &err), &err);
        ck_assert(g.kind == cases[i].kind && g.variables == cases[i].variables);
        ck_assert_int_eq(g.factors, cases[i].factors);
        snprintf(name, sizeof name, "data/uai/%s.uai.evid", cases[i].name);
        ck_ok(sali_uai_read_evidence(test_data(name), &g, observed, &err), &err);
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
    tcase_add_test(tcase, both_layouts_of_evidence_are_read);
    tcase_add_test(tcase, bad_evidence_is_refused);
    tcase_add_test(tcase, truncated_and_damaged_files_are_survived);
    tcase_add_test(tcase, uai_survives_failing_allocations);
    tcase_add_test(tcase, networks_of_the_competitions_are_read);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
