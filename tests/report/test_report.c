/* SPDX-License-Identifier: MIT */
/* Pages about runs, comparisons and trainings: their numbers, and failing allocations. How pages
 * look and what is refused is in report.sh. */
#include "temp_dir.h"

#include <math.h>

#include "alloc_fail.h"
#include "io/arrays/npy.h"
#include "report/report.h"
#include "xpath.h"

static void reread(const char *path)
{
    xmlFreeDoc(document);
    document = xmlReadFile(path, NULL, XML_PARSE_NONET);
    ck_assert_msg(document != NULL, "not well-formed");
}

static void forget(void)
{
    xmlFreeDoc(document);
    document = NULL;
    xmlCleanupParser();
    temp_dir_remove();
}

static sal_status report(const char *input, const char *exact, sal_error *err)
{
    sal_report_options options = { .exact = exact };
    return sal_report_write(1, &input, &options, temp_path("page.html"), err);
}

static void write_draws(const char *path, int64_t chains, int64_t draws, int64_t V,
                        const uint8_t *codes)
{
    sal_error err = { 0 };
    int64_t shape[3] = { chains, draws, V };
    ck_ok(sali_npy_write(path, SALI_DTYPE_U8, 3, shape, codes, &err), &err);
}

static void write_text(const char *name, const char *text)
{
    temp_write(name, text, strlen(text));
}

/* ---- */

START_TEST(numbers_are_written_for_people)
{
    static const struct {
        double value;
        int digits;
        const char *want, *brief;
    } cases[] = { { 0, 3, "0", "0" },
                  { -2, 3, "−2", "−2" },
                  { 1.04, 4, "1.040", "1.04" },
                  { 123.456, 4, "123.5", "123.5" },
                  { 1234567.25, 4, "1234567", "1234567" },
                  { 0.00012, 3, "0.000120", "0.00012" },
                  { 1e-8, 3, "1.00·10⁻⁸", "1·10⁻⁸" },
                  { -2.5e12 - 0.5, 4, "−2.500·10¹²", "−2.5·10¹²" },
                  { NAN, 3, "–", "–" },
                  { -INFINITY, 3, "−∞", "−∞" },
                  { 100, 2, "100", "100" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[SALI_PAGE_NUMBER];
        sali_page_format(cases[i].value, cases[i].digits, text);
        ck_assert_str_eq(text, cases[i].want);
        sali_page_short(cases[i].value, cases[i].digits, text);
        ck_assert_str_eq(text, cases[i].brief);
    }
}
END_TEST

/* Two chains that never agree: one has all the low ranks, the other all the high ones. */
START_TEST(ranks_show_chains_that_disagree)
{
    enum { N = 40 };
    uint8_t codes[2 * N];
    sal_error err = { 0 };
    for (int i = 0; i < 2 * N; i++) {
        codes[i] = (uint8_t)(i / N * 100 + i % N); /* each value once */
    }
    write_draws(temp_path("a.npy"), 2, N, 1, codes);
    ck_ok(report(temp_path("a.npy"), NULL, &err), &err);
    reread(temp_path("page.html"));
    const char *said = string("string((//h:section/h:p)[2])"); /* before anything else */
    ck_assert_msg(strstr(said, "The chains disagree: R-hat is") != NULL, "%s", said);
    const char *figure = "//h:figure[contains(h:figcaption, 'Ranks of')]";
    for (int chain = 0; chain < 2; chain++) {
        char expression[200];
        snprintf(expression, sizeof expression, "(%s//s:path[@class='bar'])[%d]/@d", figure,
                 chain + 1);
        const char *at = string(expression);
        for (int b = 0; b < 20; b++) { /* M x,foot V top .. */
            double x, foot, top;
            int read = 0;
            ck_assert_int_eq(sscanf(at, "M%lf,%lfV%lf%n", &x, &foot, &top, &read), 3);
            double height = foot - top;
            bool mine = (b < 10) == (chain == 0);
            ck_assert_msg(mine ? height > 60 : height == 0, "chain %d, bin %d: %g", chain, b,
                          height);
            at = strchr(at + read, 'Z') + 1;
        }
        ck_assert_int_eq(*at, '\0');
    }
}
END_TEST

START_TEST(the_first_line_is_the_verdict)
{
    enum { CHAINS = 4, N = 500 };
    static uint8_t codes[CHAINS * N];
    static const struct {
        int chains, draws;
        bool moves;
        const char *said;
    } cases[] = { { 4, N, true, "The chains agree: the largest R-hat is" },
                  { 1, N, true, "There is one chain, whose halves agree" },
                  { 4, N, false, "Nothing moved: " },
                  { 4, 3, false, "The draws do not tell" } };
    sal_error err = { 0 };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (uint32_t i = 0; i < CHAINS * N; i++) {
            codes[i] = cases[k].moves ? (uint8_t)(i * 2654435761u >> 25) : 7;
        }
        write_draws(temp_path("a.npy"), cases[k].chains, cases[k].draws, 1, codes);
        ck_ok(report(temp_path("a.npy"), NULL, &err), &err);
        reread(temp_path("page.html"));
        const char *said = string("string((//h:section/h:p)[2])");
        ck_assert_msg(strncmp(said, cases[k].said, strlen(cases[k].said)) == 0, "%s", said);
    }
}
END_TEST

/* Chains alike, of few values, which therefore share ranks: all bars reach the dotted line. */
START_TEST(equal_draws_share_their_ranks)
{
    enum { N = 36 };
    uint8_t codes[2 * N];
    sal_error err = { 0 };
    for (int i = 0; i < 2 * N; i++) {
        codes[i] = (uint8_t)(i % 3);
    }
    write_draws(temp_path("a.npy"), 2, N, 1, codes);
    ck_ok(report(temp_path("a.npy"), NULL, &err), &err);
    reread(temp_path("page.html"));
    const char *figure = "//h:figure[contains(h:figcaption, 'Ranks of')]";
    char expression[200];
    double x, foot, top, line;
    snprintf(expression, sizeof expression, "(%s//s:path[@class='pointer across'])[1]/@d", figure);
    ck_assert_int_eq(sscanf(string(expression), "M%lf,%lf", &x, &line), 2);
    snprintf(expression, sizeof expression, "(%s//s:path[@class='bar'])[1]/@d", figure);
    const char *at = string(expression);
    for (int b = 0; b < 20; b++) {
        ck_assert_int_eq(sscanf(at, "M%lf,%lfV%lf", &x, &foot, &top), 3);
        ck_assert(foot > top + 60);
        ck_assert_double_eq_tol(top, line, 0.011);
        at = strchr(at, 'Z') + 1;
    }
}
END_TEST

/* A variable that turns over at every draw: autocorrelation 1, -1, 1, .. of the biased kind. */
START_TEST(autocorrelation_is_that_of_the_draws)
{
    enum { N = 100 };
    uint8_t codes[N];
    sal_error err = { 0 };
    for (int i = 0; i < N; i++) {
        codes[i] = (uint8_t)(i % 2);
    }
    write_draws(temp_path("a.npy"), 1, N, 1, codes);
    ck_ok(report(temp_path("a.npy"), NULL, &err), &err);
    reread(temp_path("page.html"));
    const char *figure = "//h:figure[s:svg/s:title='Autocorrelation']";
    char expression[200];
    snprintf(expression, sizeof expression,
             "(%s//s:g[@class='s1'][s:path[@class='line']])[last()]/s:path/@d", figure);
    double y[4], x;
    const char *at = string(expression);
    for (int k = 0; k < 4; k++) {
        int read = 0;
        ck_assert_int_eq(sscanf(at + 1, "%lf,%lf%n", &x, &y[k], &read), 2);
        at += 1 + read;
    }
    /* Lags 0 to 3 are 1, -0.99, 0.98, -0.97. */
    double unit = (y[1] - y[0]) / 1.99;
    ck_assert(unit > 50);
    ck_assert_double_eq_tol(y[2], y[0] + 0.02 * unit, 0.02);
    ck_assert_double_eq_tol(y[3], y[0] + 1.97 * unit, 0.02);
}
END_TEST

/* How many lags are shown, of draws of which every `same` in a row are equal. */
static int lags_shown(int same)
{
    enum { N = 800 };
    uint8_t codes[N];
    uint32_t state = 7;
    sal_error err = { 0 };
    for (int i = 0; i < N; i++) {
        state = i % same ? state : state * 1664525 + 1013904223;
        codes[i] = (uint8_t)(state >> 31);
    }
    write_draws(temp_path("a.npy"), 1, N, 1, codes);
    ck_ok(report(temp_path("a.npy"), NULL, &err), &err);
    reread(temp_path("page.html"));
    int lags = 0;
    for (const char *c = string("(//h:figure[s:svg/s:title='Autocorrelation']//s:g[@class='s1']"
                                "[s:path[@class='line']])[last()]/s:path/@d");
         *c; c++) {
        lags += *c == ',';
    }
    return lags;
}

/* However long the run: 10 lags where the draws are independent, more where they are not. */
START_TEST(lags_end_where_the_autocorrelation_has_died_down)
{
    ck_assert_int_eq(lags_shown(1), 10);
    int same = lags_shown(20);
    ck_assert_msg(same > 20 && same <= 60, "%d", same);
}
END_TEST

START_TEST(marginals_are_compared_with_exact_ones)
{
    /* Shares of code 1: 0.25 and 0.5. */
    uint8_t codes[] = { 0, 0, 0, 1, 0, 1, 1, 0 };
    sal_error err = { 0 };
    write_draws(temp_path("a.npy"), 1, 4, 2, codes);
    write_text("exact.json", "{\"marginals\": [[0.5, 0.5], [0.45, 0.55]]}");
    ck_ok(report(temp_path("a.npy"), temp_path("exact.json"), &err), &err);
    reread(temp_path("page.html"));
    /* Differences 0.25 twice and 0.05 twice. */
    ck_assert_ptr_nonnull(strstr(string("//h:figcaption[contains(., 'Mean difference')]"),
                                 "Mean difference 0.150, largest 0.250."));
    ck_assert_ptr_nonnull(strstr(string("//h:figcaption[contains(., 'Mean difference')]"),
                                 "with two standard errors"));
}
END_TEST

START_TEST(tables_have_what_the_statistics_say)
{
    enum { C = 4, N = 200 };
    uint8_t codes[C * N];
    double series[C * N];
    char want[SALI_PAGE_NUMBER];
    uint32_t state = 7;
    sal_error err = { 0 };
    for (int i = 0; i < C * N; i++) {
        state = state * 1664525 + 1013904223;
        codes[i] = (uint8_t)(state >> 24);
        series[i] = codes[i];
    }
    write_draws(temp_path("a.npy"), C, N, 1, codes);
    ck_ok(report(temp_path("a.npy"), NULL, &err), &err);
    reread(temp_path("page.html"));
    sal_diagnostics d;
    ck_ok(sal_stats_diagnose(C, N, series, &d, &err), &err);
    const double values[] = { d.rhat,    d.ess_bulk,  d.mean,
                              d.sd,      d.mcse_mean, d.autocorrelation_time,
                              d.ess_tail };
    const int digits[] = { 4, 4, 5, 4, 2, 3, 4 };
    for (int k = 0; k < 7; k++) {
        char expression[64];
        snprintf(expression, sizeof expression, "//h:tbody/h:tr[1]/h:td[%d]", k + 2);
        sali_page_format(values[k], digits[k], want);
        ck_assert_str_eq(string(expression), want);
    }
    ck_assert_str_eq(string("//h:tbody/h:tr[1]/h:td[1]"), "variable 0");
    ck_assert_double_eq(number("count(//h:thead//h:th[@class='n'])"), 7);
}
END_TEST

/* Variables that change at every draw, at one of 20, never, and at one of 5. */
START_TEST(tables_begin_with_the_smallest_ess)
{
    enum { C = 4, N = 3000, V = 4 };
    static const uint32_t change[V] = { 1, 20, 0, 5 };
    static const char *const order[V] = { "variable 1", "variable 3", "variable 0", "variable 2" };
    static uint8_t codes[C * N * V];
    uint32_t state = 7;
    sal_error err = { 0 };
    for (int i = 0; i < C * N * V; i++) {
        uint32_t every = change[i % V];
        state = state * 1664525 + 1013904223;
        bool changes = every > 0 && ((state >> 8) % every == 0 || i < V || i / V % N == 0);
        codes[i] = changes ? (uint8_t)(state >> 24) : i < V ? 0 : codes[i - V];
    }
    write_draws(temp_path("a.npy"), C, N, V, codes);
    ck_ok(report(temp_path("a.npy"), NULL, &err), &err);
    reread(temp_path("page.html"));
    for (int k = 0; k < V; k++) {
        char expression[64];
        snprintf(expression, sizeof expression, "//h:tbody/h:tr[%d]/h:td[1]", k + 1);
        ck_assert_str_eq(string(expression), order[k]);
    }
    const char *said = strstr(string("string((//h:section/h:p)[2])"), "smallest effective");
    ck_assert_ptr_nonnull(said);
    ck_assert_ptr_nonnull(strstr(said, "(variable 1)"));
}
END_TEST

/* Constant draws, one draw, codes that are none: a page all the same. */
START_TEST(poor_draws_make_a_page)
{
    sal_error err = { 0 };
    uint8_t constant[20] = { 0 };
    write_draws(temp_path("a.npy"), 2, 10, 1, constant);
    ck_ok(report(temp_path("a.npy"), NULL, &err), &err);
    write_draws(temp_path("a.npy"), 1, 1, 20, constant);
    ck_ok(report(temp_path("a.npy"), NULL, &err), &err);
    double reals[] = { 0.5, -1e300, 1e300, 3 };
    int64_t shape[2] = { 2, 2 };
    ck_ok(sali_npy_write(temp_path("a.npy"), SALI_DTYPE_F64, 2, shape, reals, &err), &err);
    ck_ok(report(temp_path("a.npy"), NULL, &err), &err);
    reread(temp_path("page.html"));
    ck_assert_double_eq(number("count(//h:h3[.='Marginals'])"), 0);
    ck_assert_double_eq(number("count(//@*[contains(., 'nan') or contains(., 'inf')])"), 0);
}
END_TEST

START_TEST(comparisons_of_others_make_a_page)
{
    sal_error err = { 0 };
    write_text("a.json", "{\"model\": \"<m>\", \"samplers\": [{\"sampler\": \"a & b\", "
                         "\"ess_per_second\": 3, \"error_trace\": {\"seconds\": [1, 2], "
                         "\"marginal_error\": [0.5, \"x\"]}}, {\"sampler\": \"c\", \"reason\": "
                         "\"cannot; see\"}]}");
    ck_ok(report(temp_path("a.json"), NULL, &err), &err);
    reread(temp_path("page.html"));
    ck_assert_str_eq(string("//h:tbody/h:tr[1]/h:td[1]"), "a & b");
    ck_assert_str_eq(string("//h:td[.='c']/following-sibling::h:td"), "cannot");
    write_text("a.json", "{\"model\": \"m\", \"samplers\": []}");
    ck_ok(report(temp_path("a.json"), NULL, &err), &err);
}
END_TEST

/* The first line of the page on a comparison of these samplers. */
static const char *compared(const char *rows)
{
    char text[1024];
    sal_error err = { 0 };
    snprintf(text, sizeof text, "{\"model\": \"m\", \"chains\": 4, \"samplers\": [%s]}", rows);
    write_text("a.json", text);
    ck_ok(report(temp_path("a.json"), NULL, &err), &err);
    reread(temp_path("page.html"));
    return string("string((//h:section/h:p)[2])");
}

#define ROW(name, speed, rhat, total)                                           \
    "{\"sampler\": \"" name "\", \"exact\": false, \"ess_per_second\": " #speed \
    ", \"rhat_max\": " #rhat ", \"ess_total\": " #total "}"

START_TEST(comparisons_begin_with_the_best_that_agrees)
{
    static const struct {
        const char *rows, *said;
    } cases[] = {
        { ROW("fast", 900, 1.4, 500) "," ROW("good", 90, 1.02, 500) "," ROW("slow", 9, 1, 500),
          "good is the best by effective draws a second, 90, of 2 samplers whose chains agree "
          "(R-hat up to 1.1), out of 3 that ran. It is not exact" },
        { ROW("a", 90, 1, 500) "," ROW("b", 95, 1, 500), "b is the best" },
        { ROW("a", 90, 1.02, 8) "," ROW("b", null, 1, 500), "Draws are too few, or timings" },
        { ROW("a", 90, 1.2, 500) "," ROW("b", 90, null, 500), "Of no sampler it is known" },
        { "{\"sampler\": \"a\", \"reason\": \"cannot\"}", "No sampler was run." },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *said = compared(cases[k].rows);
        ck_assert_msg(strncmp(said, cases[k].said, strlen(cases[k].said)) == 0, "%s", said);
        ck_assert((strstr(said, " a is as good within 10%.") != NULL) == (k == 1));
    }
}
END_TEST

static sal_status make_pages(sal_error *err)
{
    static char paths[3][512];
    const char *list[3] = { paths[0], paths[1], paths[2] };
    snprintf(paths[0], sizeof paths[0], "%s", temp_path("a.npy"));
    snprintf(paths[1], sizeof paths[1], "%s", temp_path("a.json"));
    snprintf(paths[2], sizeof paths[2], "%s", temp_path("dir"));
    sal_report_options options = { 0 };
    return sal_report_write(3, list, &options, temp_path("page.html"), err);
}

START_TEST(failing_allocations_are_reported)
{
    sal_error err = { 0 };
    uint8_t codes[16] = { 0, 1, 1, 0, 1, 1, 0, 2 };
    write_draws(temp_path("a.npy"), 2, 4, 2, codes);
    write_text("a.json", "{\"model\": \"m\", \"samplers\": [{\"sampler\": \"s\", "
                         "\"ess_per_second\": 3, \"error_trace\": {\"seconds\": [1], "
                         "\"marginal_error\": [0.5]}}]}");
    ck_assert_int_eq(mkdir(temp_path("dir"), 0777), 0);
    write_text("dir/log.csv", "iteration,log_prob_data,mmd\n1,2.5,nan\n2,-inf,0.5\n");
    ck_alloc_sweep(make_pages(&err), (void)0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *tcase = tcase_create("report");
    tcase_add_checked_fixture(tcase, temp_dir_make, forget);
    tcase_add_test(tcase, numbers_are_written_for_people);
    tcase_add_test(tcase, ranks_show_chains_that_disagree);
    tcase_add_test(tcase, the_first_line_is_the_verdict);
    tcase_add_test(tcase, equal_draws_share_their_ranks);
    tcase_add_test(tcase, autocorrelation_is_that_of_the_draws);
    tcase_add_test(tcase, lags_end_where_the_autocorrelation_has_died_down);
    tcase_add_test(tcase, marginals_are_compared_with_exact_ones);
    tcase_add_test(tcase, tables_have_what_the_statistics_say);
    tcase_add_test(tcase, tables_begin_with_the_smallest_ess);
    tcase_add_test(tcase, poor_draws_make_a_page);
    tcase_add_test(tcase, comparisons_of_others_make_a_page);
    tcase_add_test(tcase, comparisons_begin_with_the_best_that_agrees);
    tcase_add_test(tcase, failing_allocations_are_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
