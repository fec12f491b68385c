/* SPDX-License-Identifier: MIT */
/* Factor graphs of libDAI. */
#include "temp_dir.h"

#include <saltus/saltus.h>

#include "weather.h"

/* The network of weather.h: rain 0, wet 1, wind 2. The first variable of a block changes fastest,
 * and zeros are not listed, but for one. */
static const char weather[] =
    "# weather\n3\n\n1\n0\n2\n2\n0 0.25\n1\t0.75\n\n"
    "# wet, rain, wind\n3\n1 0 2\n3 2 2\n11\n"
    "0 .7\n1 .2\n2 .1\n3 .3\n4 .3\n5 .4\n6 1\n8 0\n11 .25\n10 .25\n9 .5\n\n"
    "1\n2 \n2 \n2\n0   0.4\n1   6e-1\n";

static sal_status parse(const char *text, sali_factor_graph *g, sal_error *err)
{
    return weather_parse(&sali_format_fg, "f", text, (int64_t)strlen(text), g, err);
}

static sal_status fg_write(const char *path, const sali_factor_graph *g, sal_error *err)
{
    return weather_write(&sali_format_fg, path, g, err);
}

/* The text of a file. */
static const char *text_of(const char *path)
{
    static char bytes[4096];
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    bytes[fread(bytes, 1, sizeof bytes - 1, file)] = '\0';
    fclose(file);
    return bytes;
}

START_TEST(first_variables_change_fastest_and_zeros_are_left_out)
{
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    ck_ok(parse(weather, &g, &err), &err);
    ck_assert(g.kind == SALI_FACTOR_MARKOV && !g.names && !g.state_names);
    weather_check_tables(&g);
    const char *path = temp_path("w.fg");
    ck_ok(fg_write(path, &g, &err), &err);
    sali_factor_graph_free(&g);
    ck_assert(
        strstr(text_of(path), "3\n\n1\n0\n2\n2\n0 0.25\n1 0.75\n\n3\n1 0 2\n3 2 2\n10\n0 0.7"));
    sali_content content = { 0 };
    const sali_format *format = NULL;
    ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NONE, &content, &format, &err), &err);
    ck_assert_str_eq(format->name, "fg");
    weather_check_tables(&content.network);
    sali_content_free(&content);
}
END_TEST

/* Labels with gaps are names, and are written as labels again; a block without variables is a
 * constant. */
START_TEST(labels_are_kept)
{
    static const char text[] =
        "3\n\n2\n7 3\n2 3\n2\n1 0.5\n5 2\n\n1\n12\n2\n2\n0 1\n1 3\n\n0\n\n\n1\n"
        "0 2\n";
    static const char *const names[] = { "3", "7", "12" };
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    ck_ok(parse(text, &g, &err), &err);
    ck_assert(g.variables == 3 && g.states[0] == 3 && g.states[1] == 2 && g.states[2] == 2);
    for (int v = 0; v < 3; v++) {
        ck_assert_str_eq(g.names[v], names[v]);
    }
    const int x[] = { 2, 1, 1 }, y[] = { 0, 0, 1 };
    ck_assert_double_eq_tol(weather_log_prob(&g, x), log(2 * 3 * 2), 1e-14);
    ck_assert(weather_log_prob(&g, y) == -INFINITY);
    const char *path = temp_path("l.fg");
    ck_ok(fg_write(path, &g, &err), &err);
    ck_assert_str_eq(text_of(path), text);
    /* names that are no ascending labels are not written */
    static char *const others[] = { "a", "03", "9", "-1" };
    for (int k = 0; k < 4; k++) {
        char *kept = g.names[0];
        g.names[0] = others[k];
        ck_ok(fg_write(path, &g, &err), &err);
        g.names[0] = kept;
        ck_assert_ptr_nonnull(strstr(text_of(path), "3\n\n2\n1 0\n2 3\n"));
    }
    sali_factor_graph_free(&g);
}
END_TEST

/* A variable that no factor has is written with a factor that is 1. */
START_TEST(variables_without_factors_are_kept)
{
    sal_error err = { 0 };
    sali_factor_graph g = { 0 };
    const char *markov = "MARKOV 3 2 3 2 1 1 0 2 1 2", *path = temp_path("m.fg");
    ck_ok(weather_parse(&sali_format_uai, "u", markov, (int64_t)strlen(markov), &g, &err), &err);
    ck_ok(fg_write(path, &g, &err), &err);
    ck_assert_str_eq(text_of(path), "3\n\n1\n0\n2\n2\n0 1\n1 2\n\n1\n1\n3\n3\n0 1\n1 1\n2 1\n"
                                    "\n1\n2\n2\n2\n0 1\n1 1\n");
    sali_factor_graph_free(&g);
}
END_TEST

START_TEST(bad_graphs_are_refused)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        { "", "f:1: expected the number of factors (an integer, at least 0), found the end" },
        { "0\n", "f: a factor graph without variables" },
        { "1\n\n0\n\n\n1\n0 1\n", "f: a factor graph without variables" },
        { "9999999\n", "the number of factors is 9999999, more than the rest" },
        { "1\n", "expected the number of variables of a factor" },
        { "1\n\n99\n", "is 99, more than the rest" },
        { "1\n\n1\n-1\n2\n0\n", "f:4: expected the label of a variable (an integer, at least 0)" },
        { "1\n\n1\n0\n0\n0\n", "f:5: expected a variable's number of states" },
        { "1\n\n2\n0 0\n2 2\n0\n", "f: variable 0 is twice in factor 1" },
        { "2\n\n1\n4\n2\n0\n\n1\n4\n3\n0\n",
          "f: variable 4 has 2 states in factor 1 and 3 in factor 2" },
        { "1\n\n1\n0\n2\n3\n0 1\n1 1\n1 1\n", "f:6: expected the number of listed entries" },
        { "1\n\n1\n0\n2\n1\n2 1\n", "f:7: expected the index of an entry (an integer, 0 to 1)" },
        { "1\n\n1\n0\n2\n1\n0 x\n", "f:7: expected an entry (a finite decimal number), found 'x'" },
        { "1\n\n1\n0\n2\n1\n0 inf\n", "found 'inf'" },
        { "1\n\n1\n0\n2\n1\n0 -1\n", "f:7: entry 0 of factor 1 is -1" },
        { "1\n\n1\n0\n2\n2\n0 1\n0 1\n", "f:8: a second entry 0 of factor 1" },
        { "1\n\n1\n0\n2\n2\n0 1\n", "expected the index of an entry" },
        { "1\n\n1\n0\n2\n1\n0 1\n3\n", "f:8: expected the end of the file, found '3'" },
        /* 2^93 and 2^31 entries, before anything is allocated for them */
        { "1\n\n3\n0 1 2\n2147483647 2147483647 2147483647\n0\n",
          "far more entries than the file" },
        { "1\n\n1\n0\n2147483647\n0\n", "far more entries than the file lists" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        sali_factor_graph g = { 0 };
        ck_fails(parse(cases[i].text, &g, &err), SAL_ERR_DATA, &err, cases[i].message);
        ck_assert_ptr_null(g.states);
    }
}
END_TEST

static sal_status parse_bytes(const void *data, int64_t size, sal_error *err)
{
    return weather_skim(&sali_format_fg, data, size, err);
}

START_TEST(truncated_and_damaged_files_are_survived)
{
    temp_sweep(parse_bytes, weather, sizeof weather - 1);
}
END_TEST

START_TEST(fg_survives_failing_allocations)
{
    weather_alloc_sweeps(&sali_format_fg, "1\n\n2\n3 9\n2 2\n1\n0 1\n", weather, temp_path("w.fg"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_fg");
    TCase *tcase = tcase_create("fg");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, first_variables_change_fastest_and_zeros_are_left_out);
    tcase_add_test(tcase, labels_are_kept);
    tcase_add_test(tcase, variables_without_factors_are_kept);
    tcase_add_test(tcase, bad_graphs_are_refused);
    tcase_add_test(tcase, truncated_and_damaged_files_are_survived);
    tcase_add_test(tcase, fg_survives_failing_allocations);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
