/* SPDX-License-Identifier: MIT */
/* Files with parameters of Potts models: f of what is read against f written out; mistakes. */
#include "potts_files.h"

#include "alloc_fail.h"
#include "io/format.h"

/* ---- adabmDCA, bmDCA */

START_TEST(adabmdca_means_the_sum_of_its_numbers)
{
    static const char *const alphabets[] = { LETTERS, "-ACGU", "-ACGT" };
    for (int k = 0; k < 6; k++) {
        write_adabmdca("p.dat", alphabets[k / 2], 4, k % 2);
        sal_model *model = opened(temp_path("p.dat"));
        compare(model, alphabets[k / 2], 4);
        const char *remark = sal_model_remark(model, NULL);
        ck_assert_int_eq(remark && strstr(remark, "states are numbers"), k % 2);
        sal_model_destroy(model);
    }
}
END_TEST

/* Couplings that are not listed are 0; so are fields, with a warning. */
START_TEST(what_a_file_leaves_out_is_zero)
{
    static const char text[] = "J 0 2 A U 0.5\r\n\nh 1 C 2\nh 0 - -1\n";
    static const int32_t codes[][3] = { { 1, 2, 4 }, { 0, 2, 4 }, { 1, 0, 4 }, { 1, 0, 0 } };
    static const double f[] = { 2.5, 1, 0.5, 0 };
    bool warns = false;
    temp_write("p.dat", text, sizeof text - 1);
    sal_model *model = opened(temp_path("p.dat"));
    for (int k = 0; k < 4; k++) {
        ck_assert_double_eq(value(model, codes[k]), f[k]);
    }
    ck_assert_ptr_nonnull(strstr(sal_model_remark(model, &warns), "13 of 15 fields are not given"));
    ck_assert(warns);
    sal_model_destroy(model);
}
END_TEST

/* ---- CCMpred */

static const char ccmpred[] = "ARNDCQEGHILKMFPSTWYV-";

/* The numbers of proteins, as CCMpred writes them: the gap has no field. */
static void write_ccmpred(const char *name, int64_t sites, const char *after)
{
    FILE *file = fopen(temp_path(name), "w");
    for (int64_t i = 0; i < sites; i++) {
        for (int a = 0; a < 20; a++) {
            fprintf(file, "%.17g\t", field(i, ccmpred[a]) - field(i, '-'));
        }
        fprintf(file, "\n");
    }
    for (int64_t i = 0; i < sites; i++) {
        for (int64_t j = i + 1; j < sites; j++) {
            fprintf(file, "# %d %d\n", (int)i, (int)j);
            for (int k = 0; k < 21 * 21; k++) {
                fprintf(file, "%.17g\t%s", coupling(i, j, ccmpred[k / 21], ccmpred[k % 21]),
                        k % 21 == 20 ? "\n" : "");
            }
        }
    }
    fprintf(file, "%s", after);
    fclose(file);
}

START_TEST(ccmpred_means_the_sum_of_its_numbers)
{
    write_ccmpred("p.raw", 4, "#>META> {\"version\": \"0.3.2\"}");
    sal_model *model = opened(temp_path("p.raw"));
    compare(model, LETTERS, 4);
    sal_model_destroy(model);
}
END_TEST

/* ---- plmc */

/* With 64 bits to all digits; the letters in another order than ours, with and without the gap. */
START_TEST(plmc_means_the_sum_of_its_numbers)
{
    static const struct {
        const char *file, *order;
    } cases[] = { { LETTERS, LETTERS },
                  { "ACDEFGHIKLMNPQRSTVWY", "ACDEFGHIKLMNPQRSTVWY" },
                  { "-UGCA", "-ACGU" },
                  { ".ACGU", "-ACGU" },
                  { "TGCA", "ACGT" } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        write_plmc("p.model", cases[k].file, 4, true);
        sal_model *model = opened(temp_path("p.model"));
        compare(model, cases[k].order, 4);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(plmc_has_numbers_of_32_bits_too)
{
    int32_t codes[4];
    write_plmc("p.model", "-ACGU", 4, false);
    sal_model *model = opened(temp_path("p.model"));
    for (int k = 0; k < 20; k++) {
        fill_state(k, 4, 5, codes);
        ck_assert_double_eq_tol(value(model, codes), written_out("-ACGU", 4, codes), 1e-5);
    }
    sal_model_destroy(model);
}
END_TEST

/* ---- mistakes */

#define H5 "h 0 - 1\n"
#define FIELDS "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20\n"

START_TEST(mistakes_are_told_with_their_place)
{
    static const struct {
        const char *format, *text, *message;
    } cases[] = {
        { "adabmdca", "", "no lines" },
        { "adabmdca", H5 "J 0 1 A C\n", "mem:2: " },
        { "adabmdca", H5 "J 0 1 A C x\n",
          "mem:2: expected a value (a finite decimal number), found 'x'" },
        { "adabmdca", H5 "J 0 1 A C nan\n", "mem:2: expected a value (a finite decimal number)" },
        { "adabmdca", H5 "J 0 1 A C 1 2\n", "mem:2: " },
        { "adabmdca", H5 "J 1 0 A C 1\n",
          "mem:2: a coupling of sites 1 and 0; expected the lower" },
        { "adabmdca", H5 "J 1 1 A C 1\n", "mem:2: a coupling of sites 1 and 1" },
        { "adabmdca", H5 "J 0 -1 A C 1\n", "mem:2: expected a site, from 0" },
        { "adabmdca", H5 "J 0 99999999999 A C 1\n", "mem:2: expected a site, from 0" },
        { "adabmdca", H5 "J 0 1 a C 1\n", "mem:2: expected a state" },
        { "adabmdca", H5 "J 0 1 A 2 1\n", "some states are letters, others are numbers" },
        { "adabmdca", H5 "J 0 1 A B 1\n", "the letters are those of no alphabet with a name" },
        { "adabmdca", H5 H5, "mem:2: this field is given twice" },
        { "adabmdca", "J 0 1 A C 1\n" H5 "J 0 1 A C 1\n", "mem:3: this coupling is given twice" },
        { "adabmdca", H5 "K 0 1\n",
          "mem:2: expected 'J i j a b value' or 'h i a value', found 'K'" },
        { "adabmdca", "h 0 0 1\n", "1 sites of 1 states" },
        { "adabmdca", "h 19999 1 1\n", "20000 sites of 2 states" },
        { "adabmdca", "J 0 951 A C 1\nh 0 A 1\nh 951 Y 1\n",
          "3 lines, the last site 951 of 21 states: the couplings would take 3.2 GB, for 19992 "
          "fields. Is the number of a site wrong?" },
        { "adabmdca", "h 0 19999 1\n", "1 lines, the last site 0 of 20000 states" },
        { "ccmpred", "", "0 sites of 21 states" },
        { "ccmpred", "1 2 3\n", "mem:1: " },
        { "ccmpred", FIELDS "# 0 0\n", "mem:2: sites 0 and 0; expected the lower one first" },
        { "ccmpred", FIELDS FIELDS "# 0 1\n1 2\n", "mem:4: " },
        { "ccmpred", FIELDS FIELDS "# 0 2\n", "mem:3: expected a site" },
        { "ccmpred", FIELDS FIELDS, "0 pairs of 2 sites; expected all 1: the file is cut" },
        { "ccmpred", FIELDS FIELDS "# 0 1\n", "expected 21 couplings, found the end of the file" },
        { "ccmpred", FIELDS "#>META> {}\n" FIELDS,
          "mem:3: expected '# i j' before more couplings" },
        { "plmc", "", "its size is not that of parameters by plmc" },
        { "plmc", "aaaaaaaaaaaaaaaaaaaaaaaaaaa", "its size is not that of parameters by plmc" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sali_format *format;
        sali_content content = { 0 };
        sal_error err = { 0 };
        ck_ok(sali_format_named(cases[k].format, &format, &err), &err);
        ck_fails(sali_format_parse(format, "mem", cases[k].text, (int64_t)strlen(cases[k].text),
                                   &content, &err),
                 SAL_ERR_DATA, &err, cases[k].message);
        ck_assert_int_eq(content.kind, SALI_CONTENT_NONE);
    }
}
END_TEST

/* 900 sites of proteins would take 2.9 GB. */
START_TEST(a_cut_file_takes_no_memory_for_all_its_couplings)
{
    static char text[900 * 40 + 40];
    sali_content content = { 0 };
    sal_error err = { 0 };
    for (int64_t i = 0; i < 900; i++) {
        for (int a = 0; a < 20; a++) {
            memcpy(text + i * 40 + 2 * a, a < 19 ? "0 " : "0\n", 2);
        }
    }
    strcpy(text + sizeof text - 40, "# 0 1\n0 0\n");
    ck_fails(
        sali_format_parse(&sali_format_ccmpred, "mem", text, (int64_t)strlen(text), &content, &err),
        SAL_ERR_DATA, &err,
        "36010 bytes are too few for the couplings of all pairs of its 900 sites");
}
END_TEST

START_TEST(letters_of_plmc_are_those_of_an_alphabet)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    write_plmc("p.model", "AC\tG", 3, false);
    ck_fails(sal_model_open(temp_path("p.model"), SAL_F64, &model, &err), SAL_ERR_DATA, &err,
             "expected each letter once, in any order");
    write_plmc("p.model", "ACGA", 3, false);
    ck_fails(sal_model_open(temp_path("p.model"), SAL_F64, &model, &err), SAL_ERR_DATA, &err,
             "the letters 'ACGA'");
}
END_TEST

START_TEST(memory_that_runs_out_is_told)
{
    static const char text[] = "J 0 1 0 1 0.5\nh 0 1 2\nh 1 2 -1\n";
    sal_model *model = NULL;
    sali_content content = { 0 };
    sal_error err = { 0 };
    ck_alloc_sweep(
        sali_format_parse(&sali_format_adabmdca, "mem", text, sizeof text - 1, &content, &err),
        sali_content_free(&content));
    write_plmc("p.model", "-ACGU", 3, false);
    ck_alloc_sweep(sal_model_open(temp_path("p.model"), SAL_F64, &model, &err),
                   sal_model_destroy(model));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_potts");
    TCase *tcase = tcase_create("io_potts");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, adabmdca_means_the_sum_of_its_numbers);
    tcase_add_test(tcase, what_a_file_leaves_out_is_zero);
    tcase_add_test(tcase, ccmpred_means_the_sum_of_its_numbers);
    tcase_add_test(tcase, plmc_means_the_sum_of_its_numbers);
    tcase_add_test(tcase, plmc_has_numbers_of_32_bits_too);
    tcase_add_test(tcase, mistakes_are_told_with_their_place);
    tcase_add_test(tcase, a_cut_file_takes_no_memory_for_all_its_couplings);
    tcase_add_test(tcase, letters_of_plmc_are_those_of_an_alphabet);
    tcase_add_test(tcase, memory_that_runs_out_is_told);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
