/* SPDX-License-Identifier: MIT */
/* Bayesian networks in the NET language of Hugin. */
#include "temp_dir.h"

#include <saltus/saltus.h>

#include "weather.h"

/* The network of weather.h as Hugin writes it; the label of a node is its name where the node is
 * called by that name as far as an identifier can be. */
static const char hugin[] =
    "% saved\nnet\n{\n    node_size = (150 50);\n    HR_Desc = \"a; b } %\nc\";\n}\n\n"
    "node rain\n{\n    label = \"Rain?\";\n    position = (168 428);\n"
    "    states = (\"no\" \"yes\");\n    HR_Group = \"0\";\n}\n"
    "discrete node wet\n{\n\tlabel = \"\";\n\tstates = (\"dry\"\n\t\t \"d&mp\"\n\t\t "
    "\"soaked\");\n}\n"
    "node wind\n{\n    states = (\"0\" \"1\");\n    subtype = number;\n"
    "    state_values = (0 1);\n}\n\n"
    "potential (rain)\n{\n    data = ( 0.25 0.75 );\n}\n\n"
    "potential (wet | wind rain)\n{\n"
    "    data = ((( 0.7 0.2 0.1 )\t%  wind=0  rain=no\n"
    "\t     ( 0.3 0.3 0.4 ))\t%  wind=0  rain=yes\n"
    "\t    (( 1 0 0 )\t%  wind=1  rain=no\n\t     ( 0.5 0.25 0.25 )));\t%  wind=1  rain=yes\n"
    "    experience = (( 10 10 ) ( 10 10 ));\n}\n\n"
    "potential (wind)\n{\n    data = ( 0.4 0.6 );\n}\n";

/* As pgmpy writes it: a bar without parents, points without decimals. */
static const char pgmpy[] = "net {\n}\n"
                            "node rain{\n    states = (\"no\"  \"yes\");\n    weight = None;\n}\n"
                            "node wet{\n    states = (\"dry\"  \"d&mp\"  \"soaked\");\n}\n"
                            "node wind{\n    states = (\"0\"  \"1\");\n}\n"
                            "potential (rain |){\n data = (0.25 0.75);\n}\n"
                            "potential (wet | wind rain){\n data = (((0.7  0.2  0.1 )\n"
                            "  (0.3  0.3  0.4 ))\n\n ((1.   0.   0.  )\n  (0.5  0.25 0.25)));\n}\n"
                            "potential (wind |){\n data = (0.4 0.6);\n}\n";

/* Flat lists, potentials before nodes, no net. */
static const char flat[] = "potential(wet|wind rain){data=(.7 .2 .1 .3 .3 .4 1 0 0 .5 .25 .25);}"
                           "potential(rain){data=(1 3);}potential(wind){data=(2e0 +3);}"
                           "node rain{states=(\"no\"\"yes\");}"
                           "node wet{states=(dry \"d&mp\" soaked);}node wind{states=(0 1);}";

static sal_status parse(const char *text, sali_factor_graph *g, sal_error *err)
{
    return weather_parse(&sali_format_hugin, "f", text, (int64_t)strlen(text), g, err);
}

static sal_status hugin_write(const char *path, const sali_factor_graph *g, sal_error *err)
{
    return weather_write(&sali_format_hugin, path, g, err);
}

START_TEST(network_is_read_in_every_dialect)
{
    static const char *const texts[] = { hugin, pgmpy, flat };
    weather_check_texts(&sali_format_hugin, texts, sizeof texts / sizeof *texts);
}
END_TEST

#define NET(parts) "net\n{\n}\n" parts
#define NODE(name) "node " name " { states = (\"x\" \"y\"); }\n"
#define ONE(data) NET(NODE("a") "potential (a) { " data " }")

/* What is decided or dropped is reported. */
START_TEST(remarks_say_what_was_decided)
{
    static const struct {
        const char *text, *remark;
        bool warns;
    } cases[] = {
        { ONE("data = (1 3);"), "1 rows of its tables do not sum to 1; they are taken for", true },
        { ONE("data = (.2501 .7498);"), "'a' is farthest from 1, 0.9999", false },
        { ONE("model_nodes = (); model_data = (Binomial (1, .75)); data = (.25 .75);"),
          "1 of its tables also have an expression", true },
        { NET("node a { states = (\"\" \"\"); } potential (a) { data = (.25 .75); }"),
          "the states of 1 of its nodes have no names, and are called s0, s1, ..", false },
        { ONE("data = (.25 .75);"), NULL, false },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_error err = { 0 };
        sali_content c = { 0 };
        ck_ok(sali_format_parse(&sali_format_hugin, "f", cases[k].text,
                                (int64_t)strlen(cases[k].text), &c, &err),
              &err);
        ck_assert_double_eq_tol(exp(c.network.log_table[0]), .25, 2e-4);
        ck_assert_int_eq(c.remark.text != NULL, cases[k].remark != NULL);
        ck_assert(!cases[k].remark || strstr(c.remark.text, cases[k].remark));
        ck_assert_int_eq(c.remark.warns, cases[k].warns);
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
        { "", "f: a network without variables" },
        { "net", "f:1: no '{' follows" },
        { "network a {}", "f:1: expected net, node or potential, found 'network'" },
        { "*Vertices 3\n", "f:1: a graph of Pajek" },
        { "class C { node a {} }", "f:1: a class of nodes (object-oriented)" },
        { NET("utility u { }"), "f:4: a utility node, which has no probability" },
        { NET("decision d { }"), "a decision node" },
        { NET("discrete decision d { }"), "a decision node" },
        { NET("continuous node c { }"), "a continuous node; sampled spaces are discrete" },
        { NET("function f { }"), "a function node" },
        { NET("node { }"), "expected the name of a node, found '{'" },
        { NET("node a"), "expected '{', found the end of the file" },
        { NET("node a { states"), "expected '=', found the end of the file" },
        { NET("node a { states = (\"x\" "), "expected a state in double quotes or ')'" },
        { NET("node a { states = (\"x\" \"x\"); }"), "a second state 'x'" },
        { NET("node a { states = (\"x\" \"\"); }"), "some states have names, and others" },
        { NET("node a { states = (\"\" \"x\"); }"), "some states have names, and others" },
        { NET("node a { states = (\"x\"); states = (\"x\"); }"), "a second list of states" },
        { NET("node a { label = \"a }"), "f:4: this text in quotes has no end" },
        { NET("node a { = 3; }"), "expected an attribute or '}' in a node, found '='" },
        { NET("node a { }"), "variable 'a' has no states" },
        { NET(NODE("a") NODE("a")), "f:5: a second node 'a'" },
        { NET(NODE("a")), "f: variable 'a' has no table of probabilities" },
        { NET(NODE("a") "potential a { }"), "expected '(', found 'a'" },
        { NET(NODE("a") "potential (b) { }"), "f:5: a potential names 'b', which is no variable" },
        { NET(NODE("a") "potential (a | b) { }"), "a parent names 'b', which is no variable" },
        { NET(NODE("a") "potential (a | a) { }"), "variable 'a' is twice in a table" },
        { NET(NODE("a") NODE("b") "potential (a b) { }"), "and no joint one, found 'b'" },
        { ONE(""), "f:5: a potential without data" },
        { ONE("model_data = (NoisyOR (a));"), "cannot be made of an expression" },
        { ONE("data = (.5 .5); data = (.5 .5);"), "a second data" },
        { ONE("data = (.5);"), "')' behind 1 numbers; each list has those of the 2 states" },
        { ONE("data = (.5 .5 .5 .5);"), "data of 4 numbers; the states ask for 2" },
        { ONE("data = ();"), "data of 0 numbers" },
        { ONE("data = .5 .5;"), "expected '(' or ';', found '.5'" },
        { ONE("data = normal (0, 1);"), "expected '(' or ';', found 'normal'" },
        { ONE("data = ((.5 .5);"), "expected a probability (a finite decimal number), '(' or ')'" },
        { ONE("data = (.5 .5));"), "expected '(' or ';', found ')'" },
        { ONE("data = (.5 nan);"), "found 'nan'" },
        { ONE("data = (.5 ... .5);"), "pgmpy leaves them out of tables" },
        { ONE("data = (-.5 1.5);"), "row 1 of the table of 'a' holds -0.5" },
        { ONE("data = (0 0);"), "row 1 of the table of 'a' sums to 0" },
        { ONE("data = (1e308 1e308);"), "sums to inf" },
        { NET(NODE("a") NODE("b") "potential (a | b) { data = ((1 0) (1 0)); }"
                                  "potential (b | a) { data = ((1 0) (1 0)); }"),
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

/* ---- writing */

START_TEST(a_network_is_written_as_hugin_reads_it)
{
    static const char expected[] =
        "net\n{\n}\n"
        "node rain\n{\n  states = (\"no\" \"yes\");\n}\n"
        "node wet\n{\n  states = (\"dry\" \"d&mp\" \"soaked\");\n}\n"
        "node wind\n{\n  states = (\"0\" \"1\");\n}\n"
        "potential ( rain )\n{\n  data = (0.25 0.75);\n}\n"
        "potential ( wet | wind rain )\n{\n  data = (((0.7 0.2 0.1)\n          (0.3 0.3 0.4))\n"
        "          ((1 0 0)\n          (0.5 0.25 0.25)));\n}\n"
        "potential ( wind )\n{\n  data = (0.4 0.6);\n}\n";
    char bytes[1024] = "";
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    ck_ok(parse(hugin, &g, &err), &err);
    const char *path = temp_path("w.net");
    ck_ok(hugin_write(path, &g, &err), &err);
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    bytes[fread(bytes, 1, sizeof bytes - 1, file)] = '\0';
    fclose(file);
    ck_assert_str_eq(bytes, expected);
    sali_factor_graph_free(&g);
}
END_TEST

/* Names that are no identifiers are labels, and come back; so do the tables. */
START_TEST(names_and_tables_survive_writing)
{
    static const char *const names[] = { "rain-fall",         "1 to 3", "_a",
                                         "a, b (c) { % }",    "=;|",    "//",
                                         "\xc3\xa9t\xc3\xa9", NULL };
    for (int k = 0; names[k]; k++) {
        sal_error err = { 0 };
        sali_factor_graph g = { 0 };
        ck_ok(parse(hugin, &g, &err), &err);
        char *kept[] = { g.names[0], g.state_names[0][1] };
        g.names[0] = g.state_names[0][1] = (char *)names[k];
        const char *path = temp_path("w.net");
        ck_ok(hugin_write(path, &g, &err), &err);
        g.names[0] = kept[0];
        g.state_names[0][1] = kept[1];
        sali_factor_graph_free(&g);
        sali_content content = { 0 };
        const sali_format *format = NULL;
        ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NETWORK, &content, &format, &err), &err);
        ck_assert_str_eq(format->name, "hugin");
        ck_assert_ptr_null(content.remark.text);
        ck_assert_str_eq(content.network.names[0], names[k]);
        ck_assert_str_eq(content.network.state_names[0][1], names[k]);
        weather_check_tables(&content.network);
        sali_content_free(&content);
    }
}
END_TEST

START_TEST(what_the_format_cannot_say_is_refused)
{
    static const char *const names[] = { "a\"b", "a\\b", "", " a", "a\nb", "\xff", NULL };
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    const char *path = temp_path("w.net"), *markov = "MARKOV 1 2 1 1 0 2 .5 .5";
    ck_ok(weather_parse(&sali_format_uai, "u", markov, (int64_t)strlen(markov), &g, &err), &err);
    ck_fails(hugin_write(path, &g, &err), SAL_ERR_ARGUMENT, &err, "NET holds nothing else");
    sali_factor_graph_free(&g);
    ck_ok(parse(hugin, &g, &err), &err);
    char *kept = g.state_names[1][0];
    for (int k = 0; names[k]; k++) {
        g.state_names[1][0] = (char *)names[k];
        ck_fails(hugin_write(path, &g, &err), SAL_ERR_ARGUMENT, &err, "is empty, is not UTF-8");
    }
    g.state_names[1][0] = kept;
    char *variables[] = { g.names[0], g.names[2] };
    g.names[0] = "a-b";
    g.names[2] = "a b";
    ck_fails(hugin_write(path, &g, &err), SAL_ERR_ARGUMENT, &err,
             "variables 'a-b' and 'a b' would both be node a_b");
    g.names[0] = variables[0];
    g.names[2] = variables[1];
    sali_factor_graph_free(&g);
    ck_assert_int_eq(temp_count(), 0);
}
END_TEST

static sal_status parse_bytes(const void *data, int64_t size, sal_error *err)
{
    return weather_skim(&sali_format_hugin, data, size, err);
}

START_TEST(truncated_and_damaged_files_are_survived)
{
    temp_sweep(parse_bytes, hugin, sizeof hugin - 1);
    temp_sweep(parse_bytes, pgmpy, sizeof pgmpy - 1);
    temp_sweep(parse_bytes, flat, sizeof flat - 1);
}
END_TEST

START_TEST(hugin_survives_failing_allocations)
{
    weather_alloc_sweeps(&sali_format_hugin,
                         NET("node a_b { label = \"a b\"; states = (\"\" \"\"); }"
                             "potential (a_b) { model_data = (); data = (1 3); }"),
                         hugin, temp_path("w.net"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_hugin");
    TCase *tcase = tcase_create("hugin");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, network_is_read_in_every_dialect);
    tcase_add_test(tcase, remarks_say_what_was_decided);
    tcase_add_test(tcase, bad_networks_are_refused);
    tcase_add_test(tcase, a_network_is_written_as_hugin_reads_it);
    tcase_add_test(tcase, names_and_tables_survive_writing);
    tcase_add_test(tcase, what_the_format_cannot_say_is_refused);
    tcase_add_test(tcase, truncated_and_damaged_files_are_survived);
    tcase_add_test(tcase, hugin_survives_failing_allocations);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
