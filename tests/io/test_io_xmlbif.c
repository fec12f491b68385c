/* SPDX-License-Identifier: MIT */
/* Bayesian networks in XMLBIF 0.3. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "io/format.h"
#include "weather.h"

#define DOCTYPE                                                         \
    "<!DOCTYPE BIF [\n"                                                 \
    "\t<!ELEMENT BIF ( NETWORK )*>\n"                                   \
    "\t      <!ATTLIST BIF VERSION CDATA #REQUIRED>\n"                  \
    "\t<!-- > ]> & % -->\n"                                             \
    "\t<!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE )* )>\n"         \
    "\t<!ATTLIST VARIABLE TYPE (nature|decision|utility) \"nature\">\n" \
    "\t<!ATTLIST TABLE NOTE CDATA \"a > b ]> %x;\">\n"                  \
    "]>\n"

/* The network of weather.h; wet is defined first, and lists its parents against the order of the
 * variables. */
#define VARIABLES                                                                              \
    "<VARIABLE TYPE=\"nature\"><NAME> rain </NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME>" \
    "<PROPERTY>position = (1, 2)</PROPERTY></VARIABLE>\n"                                      \
    "<VARIABLE><NAME>wet</NAME><OUTCOME>dry</OUTCOME><OUTCOME>d&amp;mp</OUTCOME>"              \
    "<OUTCOME>soaked</OUTCOME></VARIABLE>\n"                                                   \
    "<VARIABLE "                                                                               \
    "TYPE=\"nature\"><NAME>wind</NAME><OUTCOME>0</OUTCOME><OUTCOME>1</OUTCOME></VARIABLE>"
#define WET                                                              \
    "<DEFINITION><FOR>wet</FOR><GIVEN>wind</GIVEN><GIVEN>rain</GIVEN>\n" \
    "<TABLE> .7 .2 .1 <!-- calm, no\n rain -->\n"                        \
    ".3 .3 .4 1 0 0\n .5 .25 .25</TABLE></DEFINITION>"
#define RAIN "<DEFINITION><FOR>rain</FOR><TABLE>0.25\t.75</TABLE></DEFINITION>"
#define WIND "<DEFINITION><TABLE>0.4 6e-1</TABLE><FOR> wind</FOR></DEFINITION>"
#define BIF(parts) "<BIF VERSION=\"0.3\"><NETWORK>" parts "</NETWORK></BIF>"

static const char weka[] = "<?xml version=\"1.0\"?>\n<!-- a DTD -->\n" DOCTYPE BIF(
    "<NAME>weather</NAME>" VARIABLES WET RAIN WIND);

static sal_status xmlbif_write(const char *path, const sali_factor_graph *g, sal_error *err)
{
    return weather_write(&sali_format_xmlbif, path, g, err);
}

static sal_status parse(const char *text, sali_factor_graph *g, sal_error *err)
{
    return weather_parse(&sali_format_xmlbif, "f", text, (int64_t)strlen(text), g, err);
}

START_TEST(network_is_read_in_every_dialect)
{
    static const char *const texts[] = {
        weka,
        /* without a DOCTYPE or a name, as pgmpy writes it */
        BIF(VARIABLES RAIN WET WIND),
        /* a byte order mark, an empty subset, carriage returns */
        "\xef\xbb\xbf<?xml version='1.0' encoding='US-ASCII'?>\r\n<!DOCTYPE BIF []>\r\n" BIF(
            VARIABLES RAIN WET WIND "<PROPERTY>author = me</PROPERTY>"),
        "<!DOCTYPE BIF>" BIF(WIND RAIN WET VARIABLES),
        /* in a namespace, with a schema's place, as AISpace writes it */
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<BIF VERSION=\"0.3\" "
        "xmlns=\"http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3\" "
        "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
        "xsi:schemaLocation=\"http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3 x.xsd\">"
        "<NETWORK><NAME>n</NAME>" VARIABLES WET RAIN WIND "</NETWORK></BIF>",
    };
    weather_check_texts(&sali_format_xmlbif, texts, sizeof texts / sizeof *texts);
}
END_TEST

START_TEST(rounded_rows_are_normalised_and_exact_ones_left_alone)
{
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    ck_ok(parse(BIF("<VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME>"
                    "<OUTCOME>z</OUTCOME></VARIABLE><DEFINITION><FOR>a</FOR>"
                    "<TABLE>.33 .33 .33</TABLE></DEFINITION>"),
                &g, &err),
          &err);
    ck_assert_double_eq_tol(exp(g.log_table[0]), 1. / 3, 1e-15);
    sali_factor_graph_free(&g);
    ck_ok(parse(BIF("<VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>"
                    "<DEFINITION><FOR>a</FOR><TABLE>.1 .9</TABLE></DEFINITION>"),
                &g, &err),
          &err);
    ck_assert(g.log_table[0] == log(.1));
    sali_factor_graph_free(&g);
}
END_TEST

#define ENTITY(declaration) "<!DOCTYPE BIF [" declaration "]>" BIF(VARIABLES WET RAIN WIND)
#define ONE(type, definition) \
    BIF("<VARIABLE" type      \
        "><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>" definition)
#define TABLE(text) ONE("", "<DEFINITION><FOR>a</FOR>\n<TABLE>" text "</TABLE></DEFINITION>")

/* a, then b <-> c. */
#define CYCLE                                                                                   \
    BIF("<VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME></VARIABLE>"                               \
        "<VARIABLE><NAME>b</NAME><OUTCOME>x</OUTCOME></VARIABLE>"                               \
        "<VARIABLE><NAME>c</NAME><OUTCOME>x</OUTCOME></VARIABLE>"                               \
        "<DEFINITION><FOR>a</FOR><TABLE>1</TABLE></DEFINITION>"                                 \
        "<DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN><GIVEN>c</GIVEN><TABLE>1</TABLE></DEFINITION>" \
        "<DEFINITION><FOR>c</FOR><GIVEN>b</GIVEN><TABLE>1</TABLE></DEFINITION>")

START_TEST(bad_networks_are_refused)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        { "", "f:1: " },
        { "<A/>", "f:1: the root element is not BIF" },
        { "<BIF/>", "expected <BIF VERSION=\"0.3\">" },
        { "<BIF VERSION='0.2'><NETWORK/></BIF>", "expected <BIF VERSION=\"0.3\">" },
        { "<BIF VERSION='0.3'/>", "BIF without a NETWORK" },
        { "<BIF VERSION='0.3'><NETWORK/><NETWORK/></BIF>", "a second NETWORK in a BIF" },
        { BIF(""), "a NETWORK without a VARIABLE" },
        { BIF("<UTILITY/>"), "unexpected element UTILITY in NETWORK" },
        { BIF(VARIABLES RAIN WET), "3 VARIABLE and 2 DEFINITION elements" },
        { BIF(VARIABLES RAIN WET RAIN), "a second table for variable 'rain'" },
        { BIF(VARIABLES VARIABLES), "elements; expected one DEFINITION for each VARIABLE" },
        { ONE(" TYPE='decision'", "<DEFINITION/>"), "a VARIABLE of type 'decision'; only" },
        { ONE(" TYPE='utility'", "<DEFINITION/>"), "a decision or utility has no probability" },
        { ONE("", "<DEFINITION/>"), "DEFINITION without a FOR" },
        { ONE("", "<DEFINITION><FOR>b</FOR></DEFINITION>"), "FOR names 'b', which is no variable" },
        { ONE("", "<DEFINITION><FOR>a</FOR><FOR>a</FOR></DEFINITION>"), "a second FOR in a" },
        { ONE("", "<DEFINITION><FOR>a</FOR><GIVEN>a</GIVEN></DEFINITION>"), "is twice in a" },
        { ONE("", "<DEFINITION><FOR>a</FOR></DEFINITION>"), "DEFINITION without a TABLE" },
        { ONE("", "<DEFINITION><FOR> </FOR></DEFINITION>"), "FOR names '', which is no" },
        { ONE("", "<DEFINITION><DET/></DEFINITION>"), "unexpected element DET in DEFINITION" },
        { BIF("<VARIABLE><NAME>a</NAME><NAME>b</NAME><OUTCOME>x</OUTCOME></VARIABLE><DEFINITION/>"),
          "a second NAME in a VARIABLE" },
        { BIF("<VARIABLE><OUTCOME>x</OUTCOME></VARIABLE><DEFINITION/>"),
          "VARIABLE without a NAME" },
        { BIF("<VARIABLE><NAME>a</NAME></VARIABLE><DEFINITION/>"), "variable 'a' has no states" },
        { BIF("<VARIABLE><NAME>a</NAME><VALUE>x</VALUE></VARIABLE><DEFINITION/>"),
          "unexpected element VALUE in VARIABLE" },
        { BIF("<VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>x</OUTCOME></VARIABLE>"
              "<DEFINITION/>"),
          "a second OUTCOME 'x'" },
        { BIF("<VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME></VARIABLE>"
              "<VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME></VARIABLE><DEFINITION/><DEFINITION/>"),
          "a second NAME 'a'" },
        { CYCLE, "f: a cycle of parents leads to variable 'b'" },
        { TABLE(""), "f:2: a TABLE of 0 entries; FOR and GIVEN ask for 2" },
        { TABLE(".5"), "a TABLE of 1 entries" },
        { TABLE(".5 .5 0"), "a TABLE of 3 entries" },
        { TABLE("\n.5 x"), "f:3: expected an entry of a TABLE (a finite decimal number), found" },
        { TABLE("nan 1"), "found 'nan'" },
        { TABLE("1 inf"), "found 'inf'" },
        { TABLE("1 1e999"), "found '1e999'" },
        { TABLE("-.5 1.5"), "f:2: row 1 of the table of 'a' holds -0.5" },
        { TABLE(".5 .4"), "f:2: row 1 of the table of 'a' sums to 0.9; expected 1" },
        { TABLE("0 0"), "sums to 0;" },
        { TABLE("1e308 1e308"), "sums to inf;" },
        { TABLE("&amp; 1"), "found '&'" },
        { "<BIF VERSION='0.3'><NETWORK>", "f:1: " },
        { DOCTYPE "<BIF/>", "f:9: expected <BIF VERSION" }, /* lines of the DOCTYPE count */
        /* what a DOCTYPE may not be */
        { "\n<!DOCTYPE BIF SYSTEM \"x.dtd\">\n<BIF/>", "f:2: a DOCTYPE that names another file" },
        { "<!DOCTYPE BIF PUBLIC \"-//x\" \"x.dtd\" []><BIF/>", "names another file" },
        { ENTITY("<!ENTITY a \"b\">"), "no entities" },
        { ENTITY("<!ELEMENT a ANY><!ENTITY x SYSTEM \"file:///etc/passwd\">"), "no entities" },
        { ENTITY("<!ENTITY % p \"<!ENTITY a 'b'>\"> %p;"), "no entities" },
        { ENTITY("%p;"), "no entities" },
        { ENTITY("<!ELEMENT a %p;>"), "is not well-formed" },
        { ENTITY("<!NOTATION n SYSTEM \"x\">"), "elements and attributes only" },
        { ENTITY("<?pi x?>"), "elements and attributes only" },
        { ENTITY("<!ELEMENT a (<!ENTITY b 'c'>)>"), "is not well-formed" },
        { ENTITY("<!ELEMENTA ANY"), "is not well-formed" },
        { "<!DOCTYPE BIF [<!-- ]><BIF/>", "has no end" },
        { ENTITY("<!ATTLIST a b CDATA \""), "is not well-formed" },
        { "<!DOCTYPE BIF [] x><BIF/>", "the DOCTYPE is not well-formed" },
        { "<!DOCTYPE BIF [", "elements and attributes only" },
        { "<!DOCTYPE BIF", "the DOCTYPE is not well-formed" },
        /* a second one, and one that this scanner does not see as such */
        { "<!DOCTYPE BIF []><!DOCTYPE BIF [<!ENTITY a 'b'>]>" BIF(""), "f:1: " },
        { "x<!DOCTYPE BIF [<!ENTITY a 'b'>]>" BIF(""), "f:1: " },
        { BIF("<!DOCTYPE BIF [<!ENTITY a 'b'>]>"), "f:1: " },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        sali_factor_graph g = { 0 };
        ck_fails(parse(cases[i].text, &g, &err), SAL_ERR_DATA, &err, cases[i].message);
        ck_assert_ptr_null(g.states);
    }
}
END_TEST

/* Entities that grow tenfold nine times are refused before anything grows. */
START_TEST(entities_are_never_expanded)
{
    char text[2000] = "<!DOCTYPE BIF [<!ELEMENT BIF ANY><!ENTITY l0 \"lol\">";
    for (int k = 1; k < 10; k++) {
        char line[100];
        snprintf(line, sizeof line, "<!ENTITY l%d \"&l%d;&l%d;&l%d;&l%d;&l%d;&l%d;&l%d;&l%d;\">", k,
                 k - 1, k - 1, k - 1, k - 1, k - 1, k - 1, k - 1, k - 1);
        strcat(text, line);
    }
    strcat(text, "]>" ONE("", "<DEFINITION><FOR>&l9;</FOR></DEFINITION>"));
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    ck_fails(parse(text, &g, &err), SAL_ERR_DATA, &err, "no entities");
    /* In UTF-16 the scanner sees no DOCTYPE; the parser does not take the text for UTF-16 either.
     */
    char wide[1024] = "\xff\xfe";
    const char *narrow = "<!DOCTYPE BIF [<!ENTITY a 'b'>]><BIF>&a;</BIF>";
    size_t n = strlen(narrow);
    for (size_t k = 0; k < n; k++) {
        wide[2 + 2 * k] = narrow[k];
    }
    ck_fails(weather_parse(&sali_format_xmlbif, "f", wide, (int64_t)(2 + 2 * n), &g, &err),
             SAL_ERR_DATA, &err, "f:1: ");
}
END_TEST

START_TEST(scopes_too_large_for_their_tables_are_refused)
{
    char text[20000] = "<BIF VERSION='0.3'><NETWORK>";
    for (int v = 0; v < 70; v++) {
        sprintf(text + strlen(text),
                "<VARIABLE><NAME>v%d</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME></VARIABLE>", v);
    }
    strcat(text, "<DEFINITION><FOR>v0</FOR>");
    for (int v = 1; v < 70; v++) {
        sprintf(text + strlen(text), "<GIVEN>v%d</GIVEN>", v);
    }
    strcat(text, "<TABLE>1</TABLE></DEFINITION>");
    for (int v = 1; v < 70; v++) {
        strcat(text, "<DEFINITION/>");
    }
    strcat(text, "</NETWORK></BIF>");
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    ck_fails(parse(text, &g, &err), SAL_ERR_DATA, &err, "over 2^63 entries");
}
END_TEST

/* ---- files */

/* f of all states of two files, which must agree. */
static void check_same_f(const char *a, const char *b)
{
    const char *paths[] = { a, b };
    int32_t codes[12][3];
    double f[2][12];
    for (int s = 0; s < 12; s++) {
        codes[s][0] = s / 6;
        codes[s][1] = s / 2 % 3;
        codes[s][2] = s % 2;
    }
    for (int k = 0; k < 2; k++) {
        sal_error err = { 0 };
        sal_model *model = NULL;
        ck_ok(sal_model_open(paths[k], SAL_F64, &model, &err), &err);
        ck_assert_int_eq(sal_space_variables(sal_model_space(model)), 3);
        ck_ok(sal_model_evaluate(model, 12, codes[0], f[k], NULL, NULL, &err), &err);
        sal_model_destroy(model);
    }
    for (int s = 0; s < 12; s++) {
        const double p = weather_probability(codes[s][0], codes[s][1], codes[s][2]);
        ck_assert(f[0][s] == f[1][s] || fabs(f[0][s] - f[1][s]) < 1e-14);
        ck_assert_double_eq_tol(exp(f[0][s]), p, 1e-15);
    }
}

static void convert(const char *from, const char *to)
{
    sal_error err = { 0 };
    sali_content content = { 0 };
    ck_ok(sali_content_read(from, NULL, SALI_CONTENT_NONE, &content, NULL, &err), &err);
    ck_ok(sali_content_write(to, NULL, &content, &err), &err);
    sali_content_free(&content);
}

START_TEST(converted_networks_have_the_same_f)
{
    static const char *const suffixes[] = { "w.xml", "w.xmlbif", "w.bif.xml", "w.other", NULL };
    char original[512], uai[512], back[512], again[512];
    snprintf(uai, sizeof uai, "%s", temp_path("w.uai"));
    snprintf(back, sizeof back, "%s", temp_path("back.bif.xml"));
    snprintf(again, sizeof again, "%s", temp_path("again.uai"));
    for (int k = 0; suffixes[k]; k++) {
        snprintf(original, sizeof original, "%s", temp_write(suffixes[k], weka, sizeof weka - 1));
        convert(original, uai);
        check_same_f(original, uai);
        convert(uai, back);
        check_same_f(uai, back);
        convert(back, again);
        check_same_f(back, again);
    }
}
END_TEST

START_TEST(names_survive_writing)
{
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    ck_ok(parse(weka, &g, &err), &err);
    const char *path = temp_path("w.xmlbif");
    ck_ok(xmlbif_write(path, &g, &err), &err);
    sali_content content = { 0 };
    const sali_format *format = NULL;
    ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NETWORK, &content, &format, &err), &err);
    ck_assert_str_eq(format->name, "xmlbif");
    weather_check(&content.network);
    sali_content_free(&content);
    sali_factor_graph_free(&g);
}
END_TEST

START_TEST(what_the_format_cannot_say_is_refused)
{
    static const struct {
        sali_factor_kind kind;
        const char *uai; /* but for its kind: the reader refuses most of these */
        const char *message;
    } cases[] = {
        { SALI_FACTOR_MARKOV, "MARKOV 1 2 1 1 0 2 .5 .5",
          "not a Bayesian network with a table for each variable" },
        { SALI_FACTOR_BAYES, "MARKOV 1 2 0",
          "not a Bayesian network with a table for each variable" },
        { SALI_FACTOR_BAYES, "MARKOV 1 2 1 0 1 1",
          "factor 0 is not the distribution of its last variable: it has" },
        { SALI_FACTOR_BAYES, "MARKOV 2 2 2 2 1 0 2 1 0 2 .5 .5 4 .5 .5 .5 .5",
          "another factor is" },
        { SALI_FACTOR_BAYES, "MARKOV 2 1 1 2 2 1 0 2 0 1 1 1 1 1",
          "a cycle of parents leads to variable 0" },
    };
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    const char *path = temp_path("w.xml");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_ok(weather_parse(&sali_format_uai, "u", cases[i].uai, (int64_t)strlen(cases[i].uai), &g,
                            &err),
              &err);
        g.kind = cases[i].kind;
        ck_fails(xmlbif_write(path, &g, &err), SAL_ERR_ARGUMENT, &err, cases[i].message);
        sali_factor_graph_free(&g);
    }
    ck_ok(parse(weka, &g, &err), &err);
    double entry = g.log_table[0];
    g.log_table[0] += 0.1;
    ck_fails(xmlbif_write(path, &g, &err), SAL_ERR_ARGUMENT, &err, "a row does not sum to 1");
    g.log_table[0] = entry;
    static const char *const names[] = { "", "a\nb", " a", "\xff", NULL };
    char *kept = g.state_names[1][0];
    for (int k = 0; names[k]; k++) {
        g.state_names[1][0] = (char *)names[k];
        ck_fails(xmlbif_write(path, &g, &err), SAL_ERR_ARGUMENT, &err, "is empty, is not UTF-8");
    }
    g.state_names[1][0] = kept;
    sali_factor_graph_free(&g);
    ck_assert_int_eq(temp_count(), 0);
}
END_TEST

static sal_status parse_bytes(const void *data, int64_t size, sal_error *err)
{
    return weather_skim(&sali_format_xmlbif, data, size, err);
}

START_TEST(truncated_and_damaged_files_are_survived)
{
    temp_sweep(parse_bytes, weka, sizeof weka - 1);
}
END_TEST

START_TEST(xmlbif_survives_failing_allocations)
{
    weather_alloc_sweeps(&sali_format_xmlbif, weka, weka, temp_path("w.xml"));
}
END_TEST

/* 2^19 rows of two. */
START_TEST(a_table_of_a_million_entries_is_read)
{
    const int64_t parents = 19, rows = (int64_t)1 << parents;
    char *text = malloc((size_t)rows * 40 + 10000), *at = text;
    ck_assert_ptr_nonnull(text);
    at += sprintf(at, "<BIF VERSION='0.3'><NETWORK>");
    for (int v = 0; v <= parents; v++) {
        at += sprintf(at,
                      "<VARIABLE><NAME>v%d</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME>"
                      "</VARIABLE>",
                      v);
    }
    for (int v = 1; v <= parents; v++) {
        at += sprintf(at, "<DEFINITION><FOR>v%d</FOR><TABLE>.5 .5</TABLE></DEFINITION>", v);
    }
    at += sprintf(at, "<DEFINITION><FOR>v0</FOR>");
    for (int v = 1; v <= parents; v++) {
        at += sprintf(at, "<GIVEN>v%d</GIVEN>", v);
    }
    at += sprintf(at, "<TABLE>");
    for (int64_t k = 0; k < rows; k++) {
        double p = (double)(k % 997 + 1) / 1000;
        at += sprintf(at, "%.15f %.15f\n", p, 1 - p);
    }
    at += sprintf(at, "</TABLE></DEFINITION></NETWORK></BIF>");
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    ck_ok(weather_parse(&sali_format_xmlbif, "f", text, at - text, &g, &err), &err);
    ck_assert_int_eq(g.table_begin[g.factors], 2 * parents + 2 * rows);
    ck_assert_double_eq_tol(exp(g.log_table[2 * parents + 2 * 996]), .997, 1e-12);
    sali_factor_graph_free(&g);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_xmlbif");
    TCase *tcase = tcase_create("xmlbif");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, network_is_read_in_every_dialect);
    tcase_add_test(tcase, rounded_rows_are_normalised_and_exact_ones_left_alone);
    tcase_add_test(tcase, bad_networks_are_refused);
    tcase_add_test(tcase, entities_are_never_expanded);
    tcase_add_test(tcase, scopes_too_large_for_their_tables_are_refused);
    tcase_add_test(tcase, converted_networks_have_the_same_f);
    tcase_add_test(tcase, names_survive_writing);
    tcase_add_test(tcase, what_the_format_cannot_say_is_refused);
    tcase_add_test(tcase, truncated_and_damaged_files_are_survived);
    tcase_add_test(tcase, xmlbif_survives_failing_allocations);
    tcase_add_test(tcase, a_table_of_a_million_entries_is_read);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
