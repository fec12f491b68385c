/* SPDX-License-Identifier: MIT */
/* Runs in which no step moved a chain say so wherever they are looked at, whatever swaps between
 * replicas make of the draws. */
#include "cli_helpers.h"

#include <stdbool.h>

#include <saltus/io.h>
#include <saltus/stats.h>

/* Two variables that must agree: alone, none can change. */
static const char agree[] = "MARKOV\n2\n2 2\n1\n2 0 1\n4\n 1 0 0 1\n";

/* The same of three states, the last two of which may stand together. */
static const char partly[] = "MARKOV\n2\n3 3\n1\n2 0 1\n9\n 1 0 0  0 1 1  0 1 1\n";

static void write_model(const char *name, const char *text)
{
    temp_write(name, text, strlen(text));
}

static bool is_null(const json_t *object, const char *key)
{
    return json_is_null(json_object_get(object, key));
}

/* Whether an R-hat says that chains disagree: a number above 1.1, or "inf". */
static bool disagrees(const json_t *rhat)
{
    const char *text = json_string_value(rhat);
    return json_real_value(rhat) > SAL_RHAT_LIMIT || (text && strcmp(text, "inf") == 0);
}

/* The object on a run that claims nothing: where some chains moved, no more than that they
 * disagree.
 */
static void check_sample_json(int64_t unmoved, int64_t chains)
{
    json_t *object = json_out(), *ess = json_object_get(object, "ess");
    ck_assert_int_eq(json_integer_value(json_object_get(object, "unmoved_chains")), unmoved);
    ck_assert(is_null(ess, "min") && is_null(ess, "median") && is_null(ess, "max"));
    ck_assert(is_null(object, "ess_per_second"));
    ck_assert(is_null(object, "rhat_max")
                  ? is_null(object, "rhat_variable") && is_null(object, "disagreeing_variables")
                  : unmoved < chains && disagrees(json_object_get(object, "rhat_max")));
    ck_assert(json_is_false(json_object_get(object, "chains_agree")));
    json_decref(object);
}

START_TEST(json_claims_no_mixing)
{
    write_model("agree.uai", agree);
    write_model("partly.uai", partly);
    for (int replicas = 1; replicas <= 6; replicas += 5) {
        ck_run("sample agree.uai --sampler gibbs --tempering %d --draws 100 --json", replicas);
        check_sample_json(4, 4);
    }
    ck_run("sample partly.uai --sampler gibbs --chains 32 --draws 100 --json");
    json_t *object = json_out();
    int64_t unmoved = json_integer_value(json_object_get(object, "unmoved_chains"));
    ck_assert(unmoved > 0 && unmoved < 32);
    json_decref(object);
    check_sample_json(unmoved, 32);
    ck_run("sample partly.uai --sampler gibbs --chains 32 --draws 100");
    ck_assert_ptr_null(strstr(out, "ESS a chain"));
    ck_assert_ptr_nonnull(strstr(out, "of 32 chains never moved"));
    ck_run("compare agree.uai --samplers gibbs --draws 100 --json");
    object = json_out();
    json_t *row = json_array_get(json_object_get(object, "samplers"), 0);
    ck_assert(is_null(row, "rhat_max") && is_null(row, "autocorrelation_time"));
    json_decref(object);
}
END_TEST

/* One chain cannot agree; but its halves may disagree. */
START_TEST(one_chain_agrees_with_none)
{
    ck_run("sample ising:side=3,theta=0.1 --chains 1 --draws 500 --json");
    json_t *object = json_out();
    ck_assert(is_null(object, "chains_agree"));
    json_decref(object);
}
END_TEST

static void read_page(char *text, size_t room)
{
    read_all(temp_path("page.html"), text, room);
}

static void check_stats_json(int64_t unmoved)
{
    json_t *object = json_out(), *row = json_array_get(json_object_get(object, "variables"), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(object, "unmoved_chains")), unmoved);
    ck_assert(is_null(row, "rhat") && is_null(row, "ess_bulk") && is_null(row, "ess_tfp"));
    ck_assert(json_is_real(json_object_get(row, "mean")));
    json_decref(object);
}

/* The first line of the report of a run. */
static const char *first_line(char *page)
{
    const char *section = strstr(page, "<section");
    ck_assert_ptr_nonnull(section);
    const char *line = strstr(section, "<p>");
    ck_assert_ptr_nonnull(line);
    return line + 3;
}

START_TEST(files_tell_that_nothing_moved)
{
    static char page[1 << 20];
    write_model("agree.uai", agree);
    ck_run("sample agree.uai --sampler gibbs --tempering 6 --draws 100 --out st.nc");
    ck_run("stats st.nc");
    ck_assert_msg(strncmp(out, "Nothing moved: no step of any chain or replica", 46) == 0, "%s",
                  out);
    ck_run("stats st.nc --json");
    check_stats_json(4);
    ck_run("report st.nc --out page.html");
    read_page(page, sizeof page);
    const char *line = first_line(page);
    ck_assert_msg(strncmp(line, "Nothing moved: no step of any chain or replica", 46) == 0,
                  "%.200s", line);
    ck_assert_ptr_null(strstr(page, "chains agree"));
    ck_assert_ptr_null(strstr(page, "two standard errors"));
    ck_assert_ptr_null(strstr(page, "ESS of the variables"));
    /* A run that moved is read as it was. */
    ck_run("sample ising:side=2,theta=0.1 --draws 400 --out st.nc");
    ck_run("stats st.nc --json");
    json_t *object = json_out();
    ck_assert(is_null(object, "unmoved_chains"));
    json_t *row = json_array_get(json_object_get(object, "variables"), 0);
    ck_assert(json_is_real(json_object_get(row, "ess_bulk")));
    json_decref(object);
}
END_TEST

/* Of chains that stand still in different places R-hat is infinite, of constants there is none. */
START_TEST(stats_tell_stuck_chains_from_constants)
{
    enum { CHAINS = 4, DRAWS = 50, PLACES = 3 };
    double values[CHAINS * DRAWS * PLACES];
    for (int k = 0; k < CHAINS * DRAWS; k++) {
        const double chain = k / DRAWS, row[PLACES] = { chain, chain > 1, 0.5 };
        memcpy(values + PLACES * k, row, sizeof row);
    }
    const sal_array array = { .ndim = 3,
                              .shape = { CHAINS, DRAWS, PLACES },
                              .count = CHAINS * DRAWS * PLACES,
                              .values = values };
    sal_error err;
    ck_ok(sal_array_write(temp_path("stuck.npy"), &array, &err), &err);
    ck_run("stats stuck.npy --json");
    json_t *object = json_out(), *rows = json_object_get(object, "variables");
    for (size_t v = 0; v < 2; v++) {
        const json_t *rhat = json_object_get(json_array_get(rows, v), "rhat");
        ck_assert_str_eq(json_string_value(rhat), "inf");
    }
    ck_assert(is_null(json_array_get(rows, 2), "rhat"));
    json_decref(object);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unmoved_cli");
    TCase *tcase = tcase_create("unmoved_cli");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, json_claims_no_mixing);
    tcase_add_test(tcase, one_chain_agrees_with_none);
    tcase_add_test(tcase, files_tell_that_nothing_moved);
    tcase_add_test(tcase, stats_tell_stuck_chains_from_constants);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
