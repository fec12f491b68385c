/* SPDX-License-Identifier: MIT */
/* Files of exact marginals: what is read, and what is refused. */
#include "temp_dir.h"

#include <math.h>

#include "io/networks/marginals.h"

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

static const char good[] =
    "{\"log_z\": -2.5, \"log10_z\": 1, \"marginals\": [[0.25, 0.75], [1, 0.0], [0.3333, 0.3333, "
    "0.3334]], \"evidence\": 1}";

START_TEST(marginals_log_z_and_evidence_are_read)
{
    sal_space *space = small_space();
    double p[7], log_z = 0;
    const double want[] = { 0.25, 0.75, 1, 0, 0.3333, 0.3333, 0.3334 };
    int64_t evidence = 0;
    sal_error err = { 0 };
    const char *path = temp_write("m.json", good, sizeof good - 1);
    ck_ok(sali_marginals_read(path, space, p, &log_z, &evidence, &err), &err);
    ck_assert_mem_eq(p, want, sizeof want);
    ck_assert_double_eq(log_z, -2.5);
    ck_assert_int_eq(evidence, 1);
    const char bare[] = "{\"marginals\": [[0.5, 0.5], [1, 0], [1, 0, 0]]}";
    ck_ok(sali_marginals_parse("bare", bare, sizeof bare - 1, space, p, &log_z, &evidence, &err),
          &err);
    ck_assert(isnan(log_z));
    ck_assert_int_eq(evidence, -1);
    sal_space_destroy(space);
}
END_TEST

START_TEST(other_content_is_refused_with_file_and_place)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "bad.json:1" },
        { "[1, 2]", "\"marginals\"" },
        { "{\"marginals\": 3}", "\"marginals\"" },
        { "{\"marginals\": [[0.5, 0.5], [1, 0]]}", "2 variables; the model has 3" },
        { "{\"marginals\": [[0.5, 0.5], [1, 0, 0], [1, 0, 0]]}", "variable 1 has 3" },
        { "{\"marginals\": [[0.5, 0.5], 7, [1, 0, 0]]}", "variable 1" },
        { "{\"marginals\": [[0.5, 0.5], [1, 0], [0.5, 0.6, 0.2]]}", "variable 2 sum to 1.3" },
        { "{\"marginals\": [[0.5, 0.5], [1.5, -0.5], [1, 0, 0]]}", "variable 1, state 0" },
        { "{\"marginals\": [[0.5, \"a\"], [1, 0], [1, 0, 0]]}", "variable 0, state 1" },
        { "{\"marginals\": [[0.5, 0.5], [1, 0], [1, 0, 0]], \"log_z\": \"x\"}", "log_z" },
        { "{\"marginals\": [[0.5, 0.5], [1, 0], [1, 0, 0]], \"evidence\": -1}", "evidence" },
        { "{\"marginals\": [[0.5, 0.5], [1, 0], [1, 0, 0]], \"evidence\": 1.5}", "evidence" },
        { "{\"marginals\": [], \"marginals\": []}", "duplicate" },
        { "{\"marginals\": [[1e999, 0], [1, 0], [1, 0, 0]]}", "bad.json:1" },
        { "{\"marginals\": [[0.5, 0.5], [1, 0], [1, 0, 0]]} x", "bad.json:1" },
    };
    sal_space *space = small_space();
    double p[7], log_z;
    int64_t evidence;
    sal_error err = { 0 };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ck_fails(sali_marginals_parse("bad.json", cases[k].text, (int64_t)strlen(cases[k].text),
                                      space, p, &log_z, &evidence, &err),
                 SAL_ERR_DATA, &err, cases[k].message);
        ck_assert_ptr_nonnull(strstr(err.message, "bad.json"));
    }
    ck_fails(sali_marginals_read(temp_path("none.json"), space, p, &log_z, &evidence, &err),
             SAL_ERR_NOT_FOUND, &err, "none.json");
    sal_space_destroy(space);
}
END_TEST

static sal_status parse_small(const void *bytes, int64_t size, sal_error *err)
{
    sal_space *space = small_space();
    double p[7], log_z;
    int64_t evidence;
    sal_status status =
        sali_marginals_parse("sweep", bytes, size, space, p, &log_z, &evidence, err);
    sal_space_destroy(space);
    return status;
}

START_TEST(damaged_files_are_refused_or_read)
{
    temp_sweep(parse_small, good, sizeof good - 1);
    char deep[20000];
    memset(deep, '[', sizeof deep);
    sal_error err = { 0 };
    ck_assert_int_eq(parse_small(deep, sizeof deep, &err), SAL_ERR_DATA);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_marginals");
    TCase *tcase = tcase_create("io_marginals");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, marginals_log_z_and_evidence_are_read);
    tcase_add_test(tcase, other_content_is_refused_with_file_and_place);
    tcase_add_test(tcase, damaged_files_are_refused_or_read);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
