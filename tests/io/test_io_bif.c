/* SPDX-License-Identifier: MIT */
/* Bayesian networks in the Interchange Format. */
#include "temp_dir.h"

#include <saltus/program.h>
#include <saltus/saltus.h>

#include "weather.h"

/* The network of weather.h as bnlearn writes it: the first parent changes fastest. */
static const char bnlearn[] = "network unknown {\n}\n"
                              "variable rain {\n  type discrete [ 2 ] {no, yes};\n}\n"
                              "variable wet {\n  type discrete [ 3 ] {dry, d&mp, soaked};\n}\n"
                              "variable wind {\n  type discrete [ 2 ] {0, 1};\n}\n"
                              "probability ( rain ) {\n  table 0.25, 0.75;\n}\n"
                              "probability ( wet | wind, rain ) {\n"
                              "  (0, no) 0.7, 0.2, 0.1;\n"
                              "  (1, no) 1.0, 0.0, 0.0;\n"
                              "  (0, yes) 0.3, 0.3, 0.4;\n"
                              "  (1, yes) 0.50, 0.25, 0.25;\n}\n"
                              "probability ( wind ) {\n  table 0.4, 6e-1;\n}\n";

/* As JavaBayes writes it: quotes, no commas, no bar, properties, and lists in which the child
 * changes slowest. */
static const char javabayes[] =
    "// Bayesian Network in the Interchange Format\n"
    "network \"Weather-Problem\" { //3 variables and 3 probability distributions\n"
    "\tproperty \"credal-set constant-density-bounded 1.1; a }\" ;\n}\n"
    "variable  \"rain\" { //2 values\n\ttype discrete[2] {  \"no\"  \"yes\" };\n"
    "\tproperty \"position = (218, 195)\" ;\n}\n"
    "variable \"wet\" {\n\ttype discrete[3] { \"dry\"\"d&mp\" /* a, b } */ \"soaked\" };\n}\n"
    "variable \"wind\" {\n\tproperty position = (1, 2) ;\n\ttype discrete[2] { \"0\" \"1\" };\n}\n"
    "probability (  \"wet\"  \"wind\"  \"rain\" ) { //3 variable(s) and 12 values\n"
    "\ttable 0.7 0.3 1 0.5 0.2 0.3 0 0.25 0.1 0.4 0.0 0.25 ;\n}\n"
    "probability ( \"wind\" ) { property a = b; table 0.4 0.6 ; }\n"
    "probability ( \"rain\" ) { table 0.25 0.75 ; }\n";

/* In another order, with a default, in upper case, and with carriage returns. */
static const char other[] = "NETWORK x {}\r\n"
                            "probability (wet | wind , rain) {\r\n"
                            "  default 1 0 0;\r\n  (0 yes) .3 .3 .4;\r\n  (1,yes) .5,.25,.25;\r\n"
                            "  (0 , no)\r\n .7 .2 .1;\r\n}\r\n"
                            "Probability (wind) { Table .4 .6; }\r\n"
                            "variable rain { type discrete[2] { no yes } }\r\n"
                            "variable wet { type discrete[3] { dry, d&mp, soaked, }; }\r\n"
                            "probability(rain){table .25 .75;}\r\n"
                            "variable wind{type discrete[2]{0,1};}";

static sal_status parse(const char *text, sali_factor_graph *g, sal_error *err)
{
    return weather_parse(&sali_format_bif, "f", text, (int64_t)strlen(text), g, err);
}

static sal_status bif_write(const char *path, const sali_factor_graph *g, sal_error *err)
{
    return weather_write(&sali_format_bif, path, g, err);
}

START_TEST(network_is_read_in_every_dialect)
{
    static const char *const texts[] = { bnlearn, javabayes, other };
    weather_check_texts(&sali_format_bif, texts, sizeof texts / sizeof *texts);
}
END_TEST

#define NET(parts) "network n {\n}\n" parts
#define VARIABLE(name, n, states) "variable " name " { type discrete [ " n " ] { " states " }; }\n"
#define A VARIABLE("a", "2", "x, y")
#define B VARIABLE("b", "3", "u, v, w")
#define ONE_A "probability ( a ) { table .5, .5; }\n"

/* A list that sums to 1 in the order of the format, in the other order, and in none: the order is
 * that of the whole file. */
START_TEST(the_order_of_lists_is_found_by_their_sums)
{
    static const char *const texts[] = {
        NET(A B ONE_A "probability ( b | a ) { table .1 .2 .3 .4 .6 .4; }"),
        NET(A B ONE_A "probability ( b | a ) { table .1 .3 .6 .2 .4 .4; }"),
    };
    for (int k = 0; k < 2; k++) {
        sal_error err = { 0 };
        sali_content c = { 0 };
        ck_ok(
            sali_format_parse(&sali_format_bif, "f", texts[k], (int64_t)strlen(texts[k]), &c, &err),
            &err);
        ck_assert_int_eq(c.remark.warns, k == 1);
        ck_assert(k == 0 || strstr(c.remark.text, "child's states changing fastest"));
        static const double rows[] = { .1, .3, .6, .2, .4, .4 };
        for (int i = 0; i < 6; i++) {
            ck_assert_double_eq(c.network.log_table[c.network.table_begin[1] + i], log(rows[i]));
        }
        sali_content_free(&c);
    }
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    ck_fails(
        parse(NET(A B ONE_A "\nprobability ( b | a ) {\n table .1 .3 .5 .2 .4 .4; }"), &g, &err),
        SAL_ERR_DATA, &err, "f:8: row 2 of the table of 'b' sums to 0.9;");
}
END_TEST

/* Rows that were rounded are divided by their sums, with a note, or a warning if much is missing.
 */
START_TEST(rounded_rows_are_normalised_with_a_remark)
{
    static const struct {
        const char *row;
        double first;
        int warns; /* -1: no remark */
    } cases[] = {
        { ".3333 .3333 .3333", 1. / 3, 0 },
        { ".33 .33 .33", 1. / 3, 1 },
        { ".1 .2 .7", .1, -1 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_error err = { 0 };
        sali_content c = { 0 };
        char text[200];
        snprintf(text, sizeof text, NET(B "probability ( b ) { table %s; }"), cases[k].row);
        ck_ok(sali_format_parse(&sali_format_bif, "f", text, (int64_t)strlen(text), &c, &err),
              &err);
        ck_assert_double_eq_tol(exp(c.network.log_table[0]), cases[k].first, 1e-15);
        ck_assert_int_eq(c.remark.text ? c.remark.warns : -1, cases[k].warns);
        ck_assert(!c.remark.text || strstr(c.remark.text, "'b' is farthest from 1, 0.99"));
        sali_content_free(&c);
    }
}
END_TEST

START_TEST(bad_networks_are_refused)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        { "", "f:1: expected network, found the end of the file" },
        { "networks {}", "f:1: expected network, found 'networks'" },
        { "network n", "f:1: no '{' follows" },
        { "network n {", "f:1: no '}' follows" },
        { "network n {}", "f: a network without variables" },
        { NET("node a {}"), "f:3: expected network, variable or probability, found 'node'" },
        { NET("/* a"), "f:3: this comment has no end" },
        { NET("variable \"a {}"), "f:3: this text in quotes has no end" },
        { NET("variable {}"), "an empty variable" },
        { NET("variable a\n type discrete [ 1 ] { x };"), "f:4: expected '{', found 'type'" },
        { NET("variable a { }"), "variable 'a' has no states" },
        { NET("variable a { type continuous; }"), "expected discrete, the only type" },
        { NET("variable a { color red; }"), "expected one type, a property or '}'" },
        { NET("variable a { property x "), "f:3: no ';' follows" },
        { NET(VARIABLE("a", "two", "x, y")),
          "expected a number of states, at least 1, found 'two'" },
        { NET(VARIABLE("a", "0", "")), "a number of states, at least 1" },
        { NET(VARIABLE("a", "3", "x, y")), "f:3: 2 states; [3] says how many" },
        { NET(VARIABLE("a", "1", "x, y")), "2 states; [1] says" },
        { NET(VARIABLE("a", "2", "x, x")), "a second state 'x'" },
        { NET(VARIABLE("a", "2", "\"\", x")), "0 states; [2]" },
        { NET(VARIABLE("a", "2", "x\ty, z")), "the state 'x?y' has control characters" },
        { NET("variable a { type discrete [ 1 ] { x }; type discrete [ 1 ] { x }; }"),
          "expected one type" },
        { NET(A A), "a second variable 'a'" },
        { NET(A), "f: variable 'a' has no table of probabilities" },
        { NET(A ONE_A ONE_A), "f:5: a second table for variable 'a'" },
        { NET(A "probability ( c ) { table 1; }"), "f:4: a table names 'c', which is no variable" },
        { NET(A "probability ( a | c ) { }"), "a parent names 'c', which is no variable" },
        { NET(A "probability ( a | a ) { }"), "variable 'a' is twice in a table" },
        { NET(A "probability ( a ; ) { }"), "expected ')', found ';'" },
        { NET(A "probability { }"), "expected '(', found '{'" },
        { NET(A "probability ( a ) { }"), "no row for some states of the parents, and no default" },
        { NET(A "probability ( a ) { table .5; }"), "1 numbers; the states ask for 2" },
        { NET(A "probability ( a ) { table .5 .5 0; }"), "3 numbers; the states ask for 2" },
        { NET(A "probability ( a ) { table .5 .5 }"), "expected ';', found '}'" },
        { NET(A "probability ( a ) { table .5 x; }"), "expected a probability (a finite" },
        { NET(A "probability ( a ) { table nan 1; }"), "found 'nan'" },
        { NET(A "probability ( a ) { table -.5 1.5; }"), "row 1 of the table of 'a' holds -0.5" },
        { NET(A "probability ( a ) { table .5 .4; }"), "row 1 of the table of 'a' sums to 0.9" },
        { NET(A "probability ( a ) { table .5 .5; table .5 .5; }"), "expected one table" },
        { NET(A "probability ( a ) { default .5 .5; default .5 .5; }"), "one default" },
        { NET(A B ONE_A "probability ( b | a ) { (x) 1 0 0; table 1 1 0 0 0 0; }"),
          "expected one table, rows" },
        { NET(A B ONE_A "probability ( b | a ) { (x) 1 0 0; (x) 1 0 0; }"),
          "a second row for the same states" },
        { NET(A B ONE_A "probability ( b | a ) { (z) 1 0 0; }"),
          "'z' is no state of variable 'a'" },
        { NET(A B ONE_A "probability ( b | a ) { (x, y) 1 0 0; }"), "more states than the 1 par" },
        { NET(A B ONE_A "probability ( b | a ) { () 1 0 0; }"), "0 states for 1 parents" },
        { NET(A B ONE_A "probability ( b | a ) { (x) 1 0 0; }"), "no row for some states" },
        { NET(A B ONE_A "probability ( b | a ) { (x) .5 .5 .5; (y) 1 0 0; }"), "sums to 1.5" },
        { NET(A B "probability ( a | b ) { default .5 .5; }"
                  "probability ( b | a ) { default 1 0 0; }"),
          "f: a cycle of parents leads to variable 'a'" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        sali_factor_graph g = { 0 };
        ck_fails(parse(cases[i].text, &g, &err), SAL_ERR_DATA, &err, cases[i].message);
        ck_assert_ptr_null(g.states);
    }
}
END_TEST

/* A default fills a table that the file does not list; 2^70 and 2^30 entries are refused before
 * anything is allocated for them. */
START_TEST(tables_far_larger_than_the_file_are_refused)
{
    static const char *const messages[] = { "over 2^63 entries", "far more than the file holds" };
    static const int parents[] = { 69, 29 };
    for (int k = 0; k < 2; k++) {
        char text[20000] = "network n {}";
        for (int v = 0; v <= parents[k]; v++) {
            sprintf(text + strlen(text), "variable v%d { type discrete[2] { a b }; }\n", v);
        }
        strcat(text, "probability ( v0 | v1");
        for (int v = 2; v <= parents[k]; v++) {
            sprintf(text + strlen(text), ", v%d", v);
        }
        strcat(text, ") { default 1 0; }");
        sal_error err = { 0 };
        sali_factor_graph g = { 0 };
        ck_fails(parse(text, &g, &err), SAL_ERR_DATA, &err, messages[k]);
    }
}
END_TEST

/* ---- writing */

START_TEST(a_network_is_written_as_bnlearn_reads_it)
{
    static const char expected[] =
        "network unknown {\n}\n"
        "variable rain {\n  type discrete [ 2 ] { no, yes };\n}\n"
        "variable wet {\n  type discrete [ 3 ] { dry, d&mp, soaked };\n}\n"
        "variable wind {\n  type discrete [ 2 ] { 0, 1 };\n}\n"
        "probability ( rain ) {\n  table 0.25, 0.75;\n}\n"
        "probability ( wet | wind, rain ) {\n  (0, no) 0.7";
    char bytes[sizeof expected] = "";
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    ck_ok(parse(bnlearn, &g, &err), &err);
    const char *path = temp_path("w.bif");
    ck_ok(bif_write(path, &g, &err), &err);
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fread(bytes, 1, sizeof expected - 1, file), sizeof expected - 1);
    fclose(file);
    ck_assert_str_eq(bytes, expected);
    sali_factor_graph_free(&g);
}
END_TEST

/* Names that need quotes, and some that do not, come back; so do the tables. */
START_TEST(names_and_tables_survive_writing)
{
    static const char *const names[] = { "a, b", "x (1)",  "http://x",          "1 to 3", "-5",
                                         "{",    "a|b;c]", "\xc3\xa9t\xc3\xa9", "/*",     NULL };
    for (int k = 0; names[k]; k++) {
        sal_error err = { 0 };
        sali_factor_graph g = { 0 };
        ck_ok(parse(bnlearn, &g, &err), &err);
        char *kept[] = { g.names[0], g.state_names[0][1] };
        g.names[0] = g.state_names[0][1] = (char *)names[k];
        const char *path = temp_path("w.bif");
        ck_ok(bif_write(path, &g, &err), &err);
        g.names[0] = kept[0];
        g.state_names[0][1] = kept[1];
        sali_factor_graph_free(&g);
        sali_content content = { 0 };
        const sali_format *format = NULL;
        ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NETWORK, &content, &format, &err), &err);
        ck_assert_str_eq(format->name, "bif");
        ck_assert_ptr_null(content.remark.text);
        ck_assert_str_eq(content.network.names[0], names[k]);
        ck_assert_str_eq(content.network.state_names[0][1], names[k]);
        weather_check_tables(&content.network);
        sali_content_free(&content);
    }
}
END_TEST

/* A variable of one state, whose name has a blank: its list has no comma. */
START_TEST(a_single_name_may_have_blanks)
{
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    const char *path = temp_path("one.bif");
    ck_ok(parse(NET(VARIABLE("the only one", "1", "so it is") A
                    "probability ( the only one ) { table 1; }"
                    "probability ( a | the only one ) { (so it is) 0, 1; }"),
                &g, &err),
          &err);
    ck_ok(bif_write(path, &g, &err), &err);
    sali_factor_graph_free(&g);
    sali_content content = { 0 };
    ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NONE, &content, NULL, &err), &err);
    ck_assert_str_eq(content.network.names[0], "the only one");
    ck_assert_str_eq(content.network.state_names[0][0], "so it is");
    ck_assert(content.network.log_table[1] == -INFINITY && content.network.log_table[2] == 0);
    sali_content_free(&content);
}
END_TEST

START_TEST(what_the_format_cannot_say_is_refused)
{
    static const char *const names[] = { "a\"b", "", " a", "a\nb", "\xff", NULL };
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    const char *path = temp_path("w.bif"), *markov = "MARKOV 1 2 1 1 0 2 .5 .5";
    ck_ok(weather_parse(&sali_format_uai, "u", markov, (int64_t)strlen(markov), &g, &err), &err);
    ck_fails(bif_write(path, &g, &err), SAL_ERR_ARGUMENT, &err, "BIF holds nothing else");
    sali_factor_graph_free(&g);
    ck_ok(parse(bnlearn, &g, &err), &err);
    char *kept = g.state_names[1][0];
    for (int k = 0; names[k]; k++) {
        g.state_names[1][0] = (char *)names[k];
        ck_fails(bif_write(path, &g, &err), SAL_ERR_ARGUMENT, &err, "is empty, is not UTF-8");
    }
    g.state_names[1][0] = kept;
    sali_factor_graph_free(&g);
    ck_assert_int_eq(temp_count(), 0);
}
END_TEST

/* A chain of copies of a fair bit, the last copy first: of 2^60 states two have a probability. A
 * run starts in one, whatever the format. */
START_TEST(a_deterministic_network_has_a_start)
{
    enum { COPIES = 60 };
    static const char *const files[] = { "d.bif", "d.net", "d.fg", "d.uai", "d.xmlbif" };
    static char text[20000];
    int at = sprintf(text, "network copies {\n}\n");
    for (int v = 0; v < COPIES; v++) {
        at += sprintf(text + at, "variable c%d { type discrete [ 2 ] { no, yes }; }\n", v);
    }
    for (int v = 0; v < COPIES - 1; v++) {
        at +=
            sprintf(text + at, "probability ( c%d | c%d ) { (no) 1, 0; (yes) 0, 1; }\n", v, v + 1);
    }
    at += sprintf(text + at, "probability ( c%d ) { table .5, .5; }\n", COPIES - 1);
    temp_write(files[0], text, (size_t)at);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        sal_error err = { 0 };
        sal_model *model = NULL;
        sal_run *run = NULL;
        ck_ok(sal_convert(temp_path(files[0]), temp_path(files[k]), NULL, NULL, &err), &err);
        ck_ok(sal_model_open(temp_path(files[k]), 0, &model, &err), &err);
        const sal_run_options options = { .sampler = "gibbs", .chains = 2, .draws = 5 };
        ck_ok(sal_sample(model, &options, &run, &err), &err);
        sal_run_destroy(run);
        sal_model_destroy(model);
    }
}
END_TEST

static sal_status parse_bytes(const void *data, int64_t size, sal_error *err)
{
    return weather_skim(&sali_format_bif, data, size, err);
}

START_TEST(truncated_and_damaged_files_are_survived)
{
    temp_sweep(parse_bytes, bnlearn, sizeof bnlearn - 1);
    temp_sweep(parse_bytes, javabayes, sizeof javabayes - 1);
    temp_sweep(parse_bytes, other, sizeof other - 1);
}
END_TEST

START_TEST(bif_survives_failing_allocations)
{
    weather_alloc_sweeps(&sali_format_bif, javabayes, other, temp_path("w.bif"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_bif");
    TCase *tcase = tcase_create("bif");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, network_is_read_in_every_dialect);
    tcase_add_test(tcase, the_order_of_lists_is_found_by_their_sums);
    tcase_add_test(tcase, rounded_rows_are_normalised_with_a_remark);
    tcase_add_test(tcase, bad_networks_are_refused);
    tcase_add_test(tcase, tables_far_larger_than_the_file_are_refused);
    tcase_add_test(tcase, a_network_is_written_as_bnlearn_reads_it);
    tcase_add_test(tcase, names_and_tables_survive_writing);
    tcase_add_test(tcase, a_single_name_may_have_blanks);
    tcase_add_test(tcase, what_the_format_cannot_say_is_refused);
    tcase_add_test(tcase, a_deterministic_network_has_a_start);
    tcase_add_test(tcase, truncated_and_damaged_files_are_survived);
    tcase_add_test(tcase, bif_survives_failing_allocations);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
