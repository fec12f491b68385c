/* SPDX-License-Identifier: MIT */
/* Of saltus compare: when its timings agree, and what its table shows where they do not. The rates
 * are made up, so that nothing depends on this machine. */
#include <math.h>

#include "cli/compare.h"
#include "cli/compare_timing.h"
#include "temp_dir.h"

/* What else the printer's files need: nothing fails here. */
int cli_fail(sal_status status, const sal_error *err)
{
    ck_abort_msg("%s: %s", sal_status_string(status), err->message);
    return CLI_FAULT;
}

/* The timing that comes of these rates, and how many of them were wanted. */
static compare_timing timing_of(int n, const double *rates, int *wanted)
{
    compare_timing t = { 0 };
    for (*wanted = 0; *wanted < n && compare_timing_wants(&t); ++*wanted) {
        compare_timing_add(&t, rates[*wanted]);
    }
    return t;
}

START_TEST(the_fastest_of_two_that_agree_is_the_rate)
{
    const struct {
        double rates[8], rate;
        int wanted;
    } cases[] = {
        { { 100, 100 }, 100, 2 },
        { { 100, 90 }, 100, 2 },
        { { 90, 100 }, 100, 2 },
        { { 100, 89, 91 }, 100, 3 },
        { { 50, 100, 60, 95 }, 100, 4 },       /* the slow ones do not count */
        { { 90, 10, 10, 10, 10, 82 }, 90, 6 }, /* the last that is tried */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int wanted;
        const compare_timing t = timing_of(8, cases[k].rates, &wanted);
        ck_assert_double_eq(t.fastest, cases[k].rate);
        ck_assert(compare_timing_agrees(&t));
        ck_assert_int_eq(wanted, cases[k].wanted);
    }
}
END_TEST

START_TEST(timings_that_never_agree_are_told)
{
    const double rates[] = { 10, 20, 40, 80, 160, 320, 320, 320 };
    int wanted;
    compare_timing t = timing_of(8, rates, &wanted);
    ck_assert(!compare_timing_agrees(&t) && t.fastest == 320);
    ck_assert_int_eq(wanted, 6);
    t = timing_of(1, rates, &wanted);
    ck_assert(!compare_timing_agrees(&t) && t.fastest == 10);
}
END_TEST

/* A trial takes at least 0.05 s if steps take as long as before; from what takes no time that is
 * not known, and it has no more than 1000 times the steps. */
START_TEST(runs_are_made_long_enough_to_time)
{
    ck_assert_int_eq(compare_timing_thin(1, 0.05), 1);
    ck_assert_int_eq(compare_timing_thin(3, 0.04), 6);
    ck_assert_int_eq(compare_timing_thin(2, 0.001), 100);
    ck_assert_int_eq(compare_timing_thin(2, 1e-9), 2000);
    ck_assert_int_eq(compare_timing_thin(2, 0), 2000);
}
END_TEST

static compare_row row(const char *sampler, double steps_per_second)
{
    compare_row row = { .errors = { NAN, NAN, NAN, NAN, NAN }, .variation = { NAN, NAN, NAN } };
    snprintf(row.sampler, sizeof row.sampler, "%s", sampler);
    row.exact = true;
    row.summary = (sal_run_summary){ .draws = 9,
                                     .acceptance_rate = 0.5,
                                     .ess_per_second = steps_per_second / 8,
                                     .steps_per_second = steps_per_second };
    return row;
}

/* The table of two samplers as it is printed. */
static const char *table(const compare_row rows[2])
{
    static char text[4096];
    const compare_reference reference = { .log_z = NAN };
    const sal_run_options options = { .chains = 4, .draws = 9, .thin = 1 };
    const compare_report report = { .model = "toy",
                                    .variables = 3,
                                    .n = 2,
                                    .rows = rows,
                                    .reference = &reference,
                                    .options = &options };
    ck_assert_ptr_nonnull(freopen(temp_path("table.txt"), "w+", stdout));
    ck_assert_int_eq(compare_print_table(&report), CLI_OK);
    rewind(stdout);
    text[fread(text, 1, sizeof text - 1, stdout)] = '\0';
    return text;
}

START_TEST(the_table_says_what_is_wrong_with_rates)
{
    compare_row rows[] = { row("steady", 800), row("shaky", 400) };
    rows[1].unsteady = true;
    const char *text = table(rows);
    ck_assert_msg(strstr(text, "       100 ") && strstr(text, "        50 "), "%s", text);
    ck_assert_msg(strstr(text, "\nshaky: other work on this machine") != NULL, "%s", text);
    ck_assert_ptr_null(strstr(text, "\nsteady:"));
    rows[1] = row("stuck", NAN);
    rows[1].summary.unmoved = 1;
    text = table(rows);
    const char *stuck = strstr(text, "stuck ");
    ck_assert_msg(stuck != NULL && strstr(stuck, " - ") != NULL, "%s", text);
    ck_assert_ptr_null(strstr(text, "nan"));
    ck_assert_msg(strstr(text, "\nstuck: no ESS: a chain never moved") != NULL, "%s", text);
    const compare_row good[] = { row("steady", 800), row("other", 8) };
    text = table(good);
    ck_assert(!strstr(text, "\nsteady:") && !strstr(text, "\nother:"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compare_timing");
    TCase *tcase = tcase_create("compare_timing");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, the_fastest_of_two_that_agree_is_the_rate);
    tcase_add_test(tcase, timings_that_never_agree_are_told);
    tcase_add_test(tcase, runs_are_made_long_enough_to_time);
    tcase_add_test(tcase, the_table_says_what_is_wrong_with_rates);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
