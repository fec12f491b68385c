/* SPDX-License-Identifier: MIT */
/* Options by their names. */
#include "test.h"

#include <string.h>

#include <saltus/program.h>
#include <saltus/saltus.h>
#include "core/specification.h"

static const sal_option_table *tables[4];

static void open_tables(void)
{
    tables[0] = sal_option_table_of(SAL_OPTIONS_RUN);
    tables[1] = sal_option_table_of(SAL_OPTIONS_TRAIN);
    tables[2] = sal_option_table_of(SAL_OPTIONS_AIS);
    tables[3] = sal_option_table_of(SAL_OPTIONS_INPAINT);
}

/* Room for any of the structs. */
typedef union any {
    sal_run_options run;
    sal_train_options train;
    sal_ais_options ais;
    sal_inpaint_options inpaint;
} any;

/* What is known of an option's value without setting it sets the same, and so does its last word.
 */
START_TEST(texts_set_what_they_say)
{
    sal_error err;
    sal_option_info info;
    char before[64], after[64];
    for (int64_t k = 0; sal_option_list(tables[_i], k, &info); k++) {
        any o = { 0 }, again = { 0 };
        ck_ok(sal_option_resolve(tables[_i], &o, &err), &err);
        ck_ok(sal_option_get(tables[_i], &o, info.name, before, sizeof before, &err), &err);
        if (before[0]) {
            ck_ok(sal_option_set(tables[_i], &again, info.name, before, &err), &err);
        }
        const char *word = info.values ? strrchr(info.values, '|') : NULL;
        if (word && info.kind == SAL_OPTION_WORD) {
            snprintf(before, sizeof before, "%s", word + 1);
            before[strcspn(before, "]")] = '\0'; /* of a word that may be left out */
            ck_ok(sal_option_set(tables[_i], &again, info.name, before, &err), &err);
        }
        ck_ok(sal_option_get(tables[_i], &again, info.name, after, sizeof after, &err), &err);
        ck_assert_str_eq(before, after);
        ck_assert(info.doc == NULL || strlen(info.doc) > 0);
        ck_assert(!info.doc || info.kind == SAL_OPTION_FLAG || info.values);
    }
}
END_TEST

/* Two options of one name are never in a table, but for readings of one. */
START_TEST(names_differ)
{
    sal_option_info a, b;
    for (int64_t i = 0; sal_option_list(tables[_i], i, &a); i++) {
        for (int64_t k = 0; k < i && sal_option_list(tables[_i], k, &b); k++) {
            ck_assert(!a.doc || strcmp(a.name, b.name) != 0);
            ck_assert_str_ne(a.field, b.field);
        }
    }
}
END_TEST

START_TEST(values_are_checked)
{
    const sal_option_table *run = tables[0], *train = tables[1];
    sal_run_options o = { 0 };
    sal_train_options t = { 0 };
    sal_error err;
    const struct {
        const char *name, *text, *expected;
    } bad[] = {
        { "chains", "0", "chains 0: expected an integer from 1 to 2147483647" },
        { "chains", "4.5", "chains 4.5: expected an integer" },
        { "warmup", "-1", "warmup -1: expected an integer from 0" },
        { "anneal", "maybe", "expected yes|no" },
        { "step_size", "0", "step-size 0: expected adapt|auto|X" },
        { "seed", "-1", "expected an integer of 0 or more" },
        { "seed", "18446744073709551616", "seed" },
        { "threads", "4294967297", "from 0 to 4096" },
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        ck_fails(sal_option_set(run, &o, bad[k].name, bad[k].text, &err), SAL_ERR_ARGUMENT, &err,
                 bad[k].expected);
    }
    ck_assert(o.chains == 0 && o.warmup == 0 && o.step_size == 0 && o.seed == 0);
    ck_fails(sal_option_set(run, &o, "chain", "4", &err), SAL_ERR_NOT_FOUND, &err, "'chain'");
    ck_fails(sal_option_set(train, &t, "momentum", "1", &err), SAL_ERR_ARGUMENT, &err,
             "to below 1");
    t.rate.warmup = -1;
    ck_fails(sal_option_resolve(train, &t, &err), SAL_ERR_ARGUMENT, &err,
             "train: rate.warmup is -1; expected an integer of 0 or more");
}
END_TEST

/* 0 says none where 0 in the struct asks for the usual value; the last of two readings counts. */
START_TEST(zeros_and_readings)
{
    const sal_option_table *run = tables[0];
    sal_run_options o = { 0 };
    sal_error err;
    char text[32];
    ck_ok(sal_option_set(run, &o, "warmup", "0", &err), &err);
    ck_assert_int_eq(o.warmup, -1);
    ck_ok(sal_option_get(run, &o, "warmup", text, sizeof text, &err), &err);
    ck_assert_str_eq(text, "0");
    ck_ok(sal_option_set(run, &o, "step-size", "auto", &err), &err);
    ck_assert_int_eq(o.step_size_rule, SAL_STEP_SIZE_SEARCH);
    ck_ok(sal_option_set(run, &o, "step_size", "0.25", &err), &err);
    ck_assert(o.step_size == 0.25 && o.step_size_rule == SAL_STEP_SIZE_USUAL);
    ck_ok(sal_option_set(run, &o, "seed", "18446744073709551615", &err), &err);
    ck_assert(o.seed == UINT64_MAX);
    ck_ok(sal_option_get(run, &o, "seed", text, sizeof text, &err), &err);
    ck_assert_str_eq(text, "18446744073709551615");
    ck_ok(sal_option_set(run, &o, "swap-every", "7", &err), &err);
    ck_assert_int_eq(o.tempering.swap_every, 7);
    ck_ok(sal_option_resolve(run, &o, &err), &err);
    ck_assert(o.chains == 4 && o.draws == 1000 && o.warmup == -1 && o.thin == 0);
}
END_TEST

START_TEST(whole_numbers_keep_all_digits)
{
    const sal_option_table *train = tables[1];
    sal_train_options o = { 0 };
    sal_error err;
    char text[32];
    static const char *const numbers[] = { "9223372036854775807", "9007199254740993" };
    for (int k = 0; k < 2; k++) {
        ck_ok(sal_option_set(train, &o, "iterations", numbers[k], &err), &err);
        ck_ok(sal_option_get(train, &o, "iterations", text, sizeof text, &err), &err);
        ck_assert_str_eq(text, numbers[k]);
    }
}
END_TEST

START_TEST(operations_tell_whether_they_follow_changes)
{
    static const struct {
        const char *name;
        bool changes;
    } known[] = {
        { "state", false }, { "add", true },  { "sum", true },
        { "conv2d", true }, { "max", false }, { "masked_logdet", false },
    };
    sal_op_info info;
    int found = 0;
    for (int64_t k = 0; sal_op_list(k, &info); k++) {
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            if (strcmp(info.name, known[i].name) == 0) {
                ck_assert_int_eq(info.changes, known[i].changes);
                found++;
            }
        }
    }
    ck_assert_int_eq(found, sizeof known / sizeof *known);
}
END_TEST

/* What is missing is an error, not a crash. */
START_TEST(null_arguments_are_refused)
{
    const sal_option_table *run = tables[0];
    sal_run_options o = { 0 };
    sal_option_info info;
    sal_error err;
    char text[8];
    ck_assert(!sal_option_list(NULL, 0, &info) && !sal_option_list(run, 0, NULL));
    ck_assert(!sal_op_list(0, NULL));
    ck_fails(sal_option_set(NULL, &o, "draws", "1", &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_option_set(run, NULL, "draws", "1", &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_option_set(run, &o, NULL, "1", &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_option_set(run, &o, "draws", NULL, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_option_get(run, &o, "draws", NULL, 8, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_option_get(run, NULL, "draws", text, 8, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_option_get(NULL, &o, "draws", text, 8, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_option_get(run, &o, NULL, text, 8, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_option_resolve(run, NULL, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_sampler_find(NULL, NULL, 0, NULL, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_marginals_read("x", NULL, NULL, NULL, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_marginals_write("x", NULL, NULL, 0, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_model_check(NULL, NULL, 0, NULL, &err), SAL_ERR_ARGUMENT, &err, "NULL");
    ck_fails(sal_data_binarise(NULL, 0, 0, &err), SAL_ERR_ARGUMENT, &err, "none");
    ck_assert_ptr_null(sal_option_table_of((sal_options)17));
}
END_TEST

/* Words stand for the smallest values, and numbers are values where there are more. */
START_TEST(settings_have_words_and_numbers)
{
    static const char *const few[] = { "search", "adapt", NULL };
    static const sal_setting settings[] = { { "n", 3, -1, 9, true, NULL, few },
                                            { "w", 0, 0, 1, true, NULL, few },
                                            { "x", 0.5, 0, 1, false, NULL, NULL },
                                            { 0 } };
    static const struct {
        const char *text, *word;
        double value;
    } cases[] = { { "m:n=search", "search", -1 },
                  { "m:n=adapt", "adapt", 0 },
                  { "m:n=1", NULL, 1 },
                  { "m:n=9", NULL, 9 },
                  { "m", NULL, 3 } };
    double values[SAL_SETTINGS];
    char keys[64];
    sal_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ck_ok(sali_specification_values(cases[k].text, settings, values, &err), &err);
        ck_assert_double_eq(values[0], cases[k].value);
        ck_assert_pstr_eq(sali_setting_word(&settings[0], values[0]), cases[k].word);
    }
    ck_ok(sali_specification_values("m:w=adapt", settings, values, &err), &err);
    ck_assert_double_eq(values[1], 1);
    ck_fails(sali_specification_values("m:n=10", settings, values, &err), SAL_ERR_ARGUMENT, &err,
             "m: n=10; expected search or adapt or an integer from 1 to 9");
    /* a word's number is no value */
    ck_fails(sali_specification_values("m:n=0", settings, values, &err), SAL_ERR_ARGUMENT, &err,
             "m: n=0; expected search or adapt or an integer from 1 to 9");
    ck_fails(sali_specification_values("m:n=-1", settings, values, &err), SAL_ERR_ARGUMENT, &err,
             "m: n=-1; expected");
    ck_fails(sali_specification_values("m:w=1", settings, values, &err), SAL_ERR_ARGUMENT, &err,
             "m: w=1; expected search or adapt");
    ck_fails(sali_specification_values("m:x=adapt", settings, values, &err), SAL_ERR_ARGUMENT, &err,
             "m: x=adapt; expected a number from 0 to 1");
    ck_assert_ptr_null(sali_setting_word(&settings[0], -0.5));
    ck_assert_ptr_null(sali_setting_word(&settings[2], 0));
    sali_specification_keys(settings, keys, sizeof keys);
    ck_assert_str_eq(keys, "n=3, w=search, x=0.5");
}
END_TEST

int main(void)
{
    open_tables();
    Suite *suite = suite_create("options");
    TCase *tcase = tcase_create("options");
    tcase_add_loop_test(tcase, texts_set_what_they_say, 0, 4);
    tcase_add_loop_test(tcase, names_differ, 0, 4);
    tcase_add_test(tcase, values_are_checked);
    tcase_add_test(tcase, zeros_and_readings);
    tcase_add_test(tcase, whole_numbers_keep_all_digits);
    tcase_add_test(tcase, operations_tell_whether_they_follow_changes);
    tcase_add_test(tcase, null_arguments_are_refused);
    tcase_add_test(tcase, settings_have_words_and_numbers);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
