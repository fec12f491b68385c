/* SPDX-License-Identifier: MIT */
/* Marginals and log Z in the formats of the UAI competitions. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/io.h>

#include "alloc_fail.h"
#include "io/networks/marginals.h"
#include "io/networks/uai.h"
#include "io/networks/uai_results.h"

/* Variables of 2, 2 and 3 states. */
static sal_space *small_space(void)
{
    sal_space *space = sal_space_create();
    sal_error err;
    ck_ok(sal_space_add(space, &(sal_block){ .name = "b", .kind = SAL_BINARY, .count = 2 }, &err),
          &err);
    ck_ok(sal_space_add(
              space, &(sal_block){ .name = "c", .kind = SAL_CATEGORICAL, .count = 1, .states = 3 },
              &err),
          &err);
    return space;
}

static const double want[] = { .25, .75, 1, 0, .5, .3, .2 };

static sal_status parse_mar(const char *name, const void *data, int64_t size,
                            const sal_space *space, double *p, sal_error *err)
{
    sali_scan scan = sali_scan_of(name, data, size, SALI_UAI_COMMENTS, err);
    sali_uai_read_mar(&scan, space, p);
    return scan.status;
}

static sal_status parse(const char *text, double *p, sal_error *err)
{
    sal_space *space = small_space();
    sal_status status = parse_mar("m", text, (int64_t)strlen(text), space, p, err);
    sal_space_destroy(space);
    return status;
}

START_TEST(marginals_are_read_in_both_dialects)
{
    static const char *const texts[] = {
        "MAR\n3\n2 .25 .75\n2 1 0\n3 .5 .3 .2\n",
        "MAR 3 2 .25 .75 2 1.0 0.0 3 .5 3e-1 .2",
        "MAR\n1\n3 2 .25 .75 2 1 0 3 .5 .3 .2\n",
        "\xef\xbb\xbf/* by hand */\r\nmar\r\n1\r\n3 2 .25 .75 // a\r\n2 1 0 # b\r\n3 .5 .3 .2",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        sal_error err = { 0 };
        double p[7] = { 0 };
        ck_ok(parse(texts[i], p, &err), &err);
        ck_assert_mem_eq(p, want, sizeof want);
    }
}
END_TEST

/* One variable: "1" may be the count of samples or that of variables. */
START_TEST(marginals_of_one_variable_are_not_mistaken)
{
    static const char *const texts[] = { "MAR 1 2 .25 .75", "MAR 1 1 2 .25 .75" };
    sal_space *space = sal_space_create();
    sal_error err = { 0 };
    ck_ok(sal_space_add(space, &(sal_block){ .name = "b", .kind = SAL_BINARY, .count = 1 }, &err),
          &err);
    for (int k = 0; k < 2; k++) {
        double p[2] = { 0 };
        ck_ok(parse_mar("m", texts[k], (int64_t)strlen(texts[k]), space, p, &err), &err);
        ck_assert_mem_eq(p, want, sizeof p);
    }
    sal_space_destroy(space);
}
END_TEST

START_TEST(bad_marginals_are_refused)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        { "", "m:1: expected MAR, found the end of the file" },
        { "PR 1", "expected MAR, found 'PR'" },
        { "MAR", "expected the number of variables (3), found the end" },
        { "MAR 2 2 .5 .5 2 .5 .5", "expected the number of variables (3), found '2'" },
        { "MAR\n2 3 2 .25 .75 2 1 0 3 .5 .3 .2", "expected the number of samples (1), found '2'" },
        { "MAR\n3 2 .25 .75\n3 1 0 3 .5 .3 .2", "m:3: expected a variable's number of states (2)" },
        { "MAR 3 2 .25 .75 2 1 0 3 .5 .3", "expected a probability" },
        { "MAR 3 2 .25 .75 2 1 0 3 .5 .3 .2 7 8", "expected the end of the file, found '7'" },
        { "MAR 3 2 .25 .75 2 1 0\n3 .5 .3 .3", "m:2: the probabilities of variable 2 sum to 1.1" },
        { "MAR 3 2 -.25 1.25 2 1 0 3 .5 .3 .2", "variable 0, state 0: -0.25; expected a number" },
        { "MAR 3 2 1.25 -.25 2 1 0 3 .5 .3 .2", "variable 0, state 0: 1.25; expected a number" },
        { "MAR 3 2 nan .75 2 1 0 3 .5 .3 .2", "found 'nan'" },
        { "MAR 3 2 .25 .75 2 1 0 3 .5 .3 /* .2", "this comment has no end" },
        { "MAR 99999999999999999999 2", "expected the number of variables (3)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sal_error err = { 0 };
        double p[7];
        ck_fails(parse(cases[i].text, p, &err), SAL_ERR_DATA, &err, cases[i].message);
    }
}
END_TEST

START_TEST(written_marginals_read_back)
{
    sal_error err = { 0 };
    sal_space *space = small_space();
    const double third[] = { .1 + .2, .7, 1, 0, 1. / 3, 1. / 3, 1. / 3 };
    double p[7] = { 0 }, log_z = 0;
    int64_t evidence = 0;
    const char *path = temp_path("m.MAR");
    ck_ok(sali_uai_write_mar(path, space, third, &err), &err);
    ck_ok(sali_marginals_read(path, space, p, &log_z, &evidence, &err), &err);
    ck_assert_mem_eq(p, third, sizeof third);
    ck_assert(isnan(log_z) && evidence == -1);
    /* with log Z beside it */
    temp_write("m.PR", "PR\n-1.5\n", 8);
    ck_ok(sali_marginals_read(path, space, p, &log_z, &evidence, &err), &err);
    ck_assert_double_eq_tol(log_z, -1.5 * M_LN10, 1e-14);
    temp_write("m.PR", "PR x", 4);
    ck_fails(sali_marginals_read(path, space, p, &log_z, &evidence, &err), SAL_ERR_DATA, &err,
             "m.PR:1: expected log10 of Z");
    sal_block count = { .name = "n", .kind = SAL_COUNT, .count = 1 };
    ck_ok(sal_space_add(space, &count, &err), &err);
    ck_fails(sali_uai_write_mar(path, space, p, &err), SAL_ERR_UNSUPPORTED, &err,
             "variable 3 is a count without a cap");
    ck_fails(parse_mar("m", "MAR", 3, space, p, &err), SAL_ERR_UNSUPPORTED, &err,
             "variable 3 is a count without a cap");
    sal_space_destroy(space);
}
END_TEST

START_TEST(log_z_is_read_in_both_dialects)
{
    static const char *const texts[] = { "PR\n-2\n", "PR\n1\n-2.0", "pr -2e0 # log10", "PR 1 -2" };
    sal_error err = { 0 };
    double log_z = 0;
    for (int k = 0; k < 4; k++) {
        ck_ok(sali_uai_parse_pr("p", texts[k], (int64_t)strlen(texts[k]), &log_z, &err), &err);
        ck_assert_double_eq_tol(log_z, log(.01), 1e-14);
    }
    static const char *const bad[][2] = {
        { "", "expected PR" },       { "PR", "expected log10 of Z" }, { "PR 2 3", "found '2'" },
        { "PR 1 2 3", "found '2'" }, { "PR inf", "found 'inf'" },     { "MAR 1", "found 'MAR'" },
    };
    for (int k = 0; k < 6; k++) {
        log_z = 42;
        ck_fails(sali_uai_parse_pr("p", bad[k][0], (int64_t)strlen(bad[k][0]), &log_z, &err),
                 SAL_ERR_DATA, &err, bad[k][1]);
        ck_assert_double_eq(log_z, 42);
    }
}
END_TEST

static sal_status parse_mar_bytes(const void *data, int64_t size, sal_error *err)
{
    double p[7];
    sal_space *space = small_space();
    sal_status status = parse_mar("m", data, size, space, p, err);
    sal_space_destroy(space);
    return status;
}

static sal_status parse_pr_bytes(const void *data, int64_t size, sal_error *err)
{
    double log_z;
    return sali_uai_parse_pr("p", data, size, &log_z, err);
}

START_TEST(truncated_and_damaged_files_are_survived)
{
    static const char mar[] = "MAR\n1\n3 2 .25 .75\n2 1 0\n3 .5 .3 .2\n", pr[] = "PR\n1\n-2\n";
    temp_sweep(parse_mar_bytes, mar, sizeof mar - 1);
    temp_sweep(parse_pr_bytes, pr, sizeof pr - 1);
}
END_TEST

START_TEST(results_survive_failing_allocations)
{
    sal_error err = { 0 };
    sal_space *space = small_space();
    double p[7], log_z;
    int64_t evidence;
    const char *mar = temp_path("m.MAR");
    ck_alloc_sweep(sali_uai_write_mar(mar, space, want, &err), (void)0);
    temp_write("m.PR", "PR\n-1.5\n", 8);
    ck_alloc_sweep(sali_marginals_read(mar, space, p, &log_z, &evidence, &err), (void)0);
    sal_space_destroy(space);
    ck_assert_int_eq(temp_count(), 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_uai_results");
    TCase *tcase = tcase_create("results");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, marginals_are_read_in_both_dialects);
    tcase_add_test(tcase, marginals_of_one_variable_are_not_mistaken);
    tcase_add_test(tcase, bad_marginals_are_refused);
    tcase_add_test(tcase, written_marginals_read_back);
    tcase_add_test(tcase, log_z_is_read_in_both_dialects);
    tcase_add_test(tcase, truncated_and_damaged_files_are_survived);
    tcase_add_test(tcase, results_survive_failing_allocations);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
