/* SPDX-License-Identifier: MIT */
/* What sal_data_read finds out of files: the range of greys, labels, channels, where columns begin,
 * which sequences it drops. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/saltus.h>
#include "alloc_fail.h"
#include "io/arrays/npy.h"

static const char *write_npy(const char *name, sali_dtype dtype, int ndim, const int64_t *shape,
                             const void *values)
{
    sal_error err = { 0 };
    const char *path = temp_path(name);
    ck_ok(sali_npy_write(path, dtype, ndim, shape, values, &err), &err);
    return path;
}

/* Greys whose range is that of the file itself, in two levels and in more. */
START_TEST(other_ranges_are_those_of_the_file)
{
    static const struct {
        double values[6];
        int64_t levels;
        uint8_t codes[6];
        double white;
        const char *remark;
    } cases[] = {
        { { 0, 16, 8, 9, 3, 12 }, 0, { 0, 1, 0, 1, 0, 1 }, 16, "greys from 0 to 16, the largest" },
        { { 0, 16, 8, 9, 3, 12 }, 4, { 0, 3, 2, 2, 0, 3 }, 16, "to 16, the largest value, in 4" },
        { { 0, 16, 8, 9, 3, 12 }, 17, { 0, 16, 8, 9, 3, 12 }, 16, "taken for codes of 17 grey" },
        { { 0, 3, 1, 2, 1, 0 }, 0, { 0, 1, 0, 1, 0, 0 }, 3, "white is above 1.5" },
        { { 0, 3, 1, 2, 1, 0 }, 4, { 0, 3, 1, 2, 1, 0 }, 3, "codes of 4 grey levels" },
        { { 0, 2, 1, 2, 1, 0 }, 4, { 0, 2, 1, 2, 1, 0 }, 3, "codes of 4 grey levels" },
        { { 0, 5.5, 1, 2, 4, 0 }, 0, { 0, 1, 0, 0, 1, 0 }, 5.5, "white is above 2.75" },
        { { 0, 4095, 1, 3000, 40, 0 }, 0, { 0, 1, 0, 1, 0, 0 }, 4095, "greys from 0 to 4095" },
        { { 0, 127, 1, 60, 40, 99 }, 0, { 0, 1, 0, 0, 0, 1 }, 127, "greys from 0 to 127" },
        { { 0, 128, 1, 60, 40, 99 }, 0, { 0, 1, 0, 0, 0, 0 }, 0, NULL },
        { { 0, 1, 1, 1, 0, 0 }, 4, { 0, 3, 3, 3, 0, 0 }, 0, NULL },
        { { 1, 4, 2, 3, 2, 1 }, 4, { 0, 3, 1, 2, 1, 0 }, 0, "from 1 to 4, as many as there are" },
        { { 6, 5, 4, 3, 2, 1 }, 6, { 5, 4, 3, 2, 1, 0 }, 0, "taken for labels, so 1 is code 0" },
        { { 1, 3, 2, 3, 2, 1 }, 3, { 0, 2, 1, 2, 1, 0 }, 0, "taken for labels" },
        /* One of the labels is missing, or there is another number. */
        { { 1, 4, 2, 4, 2, 1 }, 4, { 1, 3, 2, 3, 2, 1 }, 4, "greys from 0 to 4, the largest" },
        { { 1, 5, 2, 3, 4, 1 }, 4, { 0, 3, 1, 2, 3, 0 }, 5, "greys from 0 to 5, the largest" },
        { { 1, 4, 2, 3, 2.5, 1 }, 4, { 1, 3, 2, 3, 2, 1 }, 4, "greys from 0 to 4, the largest" },
        { { 2, 4, 2, 3, 2, 3 }, 4, { 2, 3, 2, 3, 2, 3 }, 4, "greys from 0 to 4, the largest" },
        { { 1, 2, 2, 1, 2, 1 }, 0, { 0, 1, 1, 0, 1, 0 }, 2, "greys from 0 to 2, the largest" },
    };
    sal_error err = { 0 };
    sal_data data = { 0 };
    temp_dir_make();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *path =
            write_npy("p.npy", SALI_DTYPE_F64, 3, (int64_t[]){ 1, 2, 3 }, cases[k].values);
        const sal_data_options o = { .levels = cases[k].levels };
        ck_ok(sal_data_read(path, &o, &data, &err), &err);
        ck_assert_msg(memcmp(data.codes, cases[k].codes, 6) == 0, "case %d", (int)k);
        ck_assert_double_eq(data.white, cases[k].white);
        const char *remark = cases[k].remark;
        ck_assert_msg(remark ? data.remark && strstr(data.remark, remark) : !data.remark,
                      "case %d: %s", (int)k, data.remark ? data.remark : "no remark");
        ck_assert(data.warns == (remark != NULL));
        /* The range goes for other files, whatever they hold. */
        const sal_data_options same = { .levels = o.levels,
                                        .grey = data.grey,
                                        .white = data.white };
        sal_data_destroy(&data);
        ck_ok(sal_data_read(path, &same, &data, &err), &err);
        ck_assert_mem_eq(data.codes, cases[k].codes, 6);
        ck_assert(!data.remark && !data.warns);
        sal_data_destroy(&data);
    }
    const sal_data_options grey = { .keep_intensity = true };
    const char *path =
        write_npy("p.npy", SALI_DTYPE_F64, 3, (int64_t[]){ 1, 2, 3 }, cases[0].values);
    ck_ok(sal_data_read(path, &grey, &data, &err), &err);
    ck_assert_float_eq(data.intensity[3], 9.F / 16);
    sal_data held = { 0 };
    sal_data_destroy(&data);
    ck_alloc_sweep(sal_data_read(path, NULL, &data, &err), sal_data_destroy(&data));
    temp_write("two.csv", "0,16,8,9\n9,8,16,0\n", 18);
    ck_ok(sal_data_read(temp_path("two.csv"), NULL, &data, &err), &err);
    ck_ok(sal_data_split(&data, 1, NULL, &held, &err), &err);
    ck_assert_ptr_null(held.remark);
    sal_data_destroy(&held);
    ck_assert_ptr_nonnull(strstr(data.remark, "two.csv: greys from 0 to 16"));
    sal_data_destroy(&data);
    ck_ok(sal_data_read(temp_path("two.csv"), NULL, &data, &err), &err);
    ck_ok(sal_data_split(&data, 1, &(uint64_t){ 1 }, &held, &err), &err);
    ck_assert(!held.remark && data.warns && strstr(data.remark, "two.csv: greys from 0 to 16"));
    sal_data_destroy(&held);
    sal_data_destroy(&data);
    temp_dir_remove();
}
END_TEST

/* The option says that labels are labels, also where one of them is missing. */
START_TEST(labels_from_1_can_be_asked_for)
{
    const double values[] = { 1, 4, 2, 4 }, halves[] = { 1, 4, 2, 3.5 };
    sal_data_options o = { .grey = SAL_GREY_LABELS, .levels = 4 };
    sal_error err = { 0 };
    sal_data data = { 0 };
    temp_dir_make();
    const char *path = write_npy("p.npy", SALI_DTYPE_F64, 3, (int64_t[]){ 1, 2, 2 }, values);
    ck_ok(sal_data_read(path, &o, &data, &err), &err);
    ck_assert_mem_eq(data.codes, ((uint8_t[]){ 0, 3, 1, 3 }), 4);
    ck_assert(data.grey == SAL_GREY_LABELS && data.white == 0 && !data.remark);
    sal_data_destroy(&data);
    o.levels = 3;
    ck_fails(sal_data_read(path, &o, &data, &err), SAL_ERR_DATA, &err,
             "values from 1 to 4; expected whole numbers from 1 to 3");
    o.levels = 4;
    path = write_npy("p.npy", SALI_DTYPE_F64, 3, (int64_t[]){ 1, 2, 2 }, halves);
    ck_fails(sal_data_read(path, &o, &data, &err), SAL_ERR_DATA, &err,
             "expected whole numbers from 1 to 4");
    /* All values of 256 levels, and all of 200, which are bytes as well. */
    for (int levels = 256; levels >= 200; levels -= 56) {
        double all[256];
        for (int i = 0; i < 256; i++) {
            all[i] = 1 + i % levels;
        }
        o = (sal_data_options){ .levels = levels };
        path = write_npy("p.npy", SALI_DTYPE_F64, 3, (int64_t[]){ 1, 16, 16 }, all);
        ck_ok(sal_data_read(path, &o, &data, &err), &err);
        for (int i = 0; i < 256; i++) {
            ck_assert_int_eq(data.codes[i], i % levels);
        }
        sal_data_destroy(&data);
    }
    temp_dir_remove();
}
END_TEST

/* Pictures that would all be of one code. */
START_TEST(pictures_of_one_grey_are_refused)
{
    const double black[4] = { 0, 0, 0, 0 }, sevens[4] = { 7, 7, 7, 7 }, dark[4] = { 0, .3, .1, .2 };
    const double *const values[] = { black, sevens, dark };
    static const char *const texts[] = { "p.npy: every value is 0;", "p.npy: every value is 7;",
                                         ("p.npy: every pixel would have code 0: the values are 0 "
                                          "to 0.3, and greys of 0 to 1 were expected") };
    sal_error err = { 0 };
    sal_data data = { 0 };
    temp_dir_make();
    const char *path = NULL;
    for (int k = 0; k < 3; k++) {
        path = write_npy("p.npy", SALI_DTYPE_F64, 3, (int64_t[]){ 1, 2, 2 }, values[k]);
        ck_fails(sal_data_read(path, NULL, &data, &err), SAL_ERR_DATA, &err, texts[k]);
    }
    /* Darkness is no matter where greys are kept, or white is said. */
    ck_ok(sal_data_read(path, &(sal_data_options){ .keep_intensity = true }, &data, &err), &err);
    ck_assert_float_eq(data.intensity[1], .3F);
    sal_data_destroy(&data);
    ck_ok(sal_data_read(path, &(sal_data_options){ .white = .3 }, &data, &err), &err);
    ck_assert_mem_eq(data.codes, ((uint8_t[]){ 0, 1, 0, 1 }), 4);
    sal_data_destroy(&data);
    const sal_data_options bad[] = { { .white = -1 },
                                     { .white = NAN },
                                     { .white = INFINITY },
                                     { .white = 1, .grey = SAL_GREY_UNIT } };
    for (int k = 0; k < 4; k++) {
        ck_fails(sal_data_read(path, &bad[k], &data, &err), SAL_ERR_ARGUMENT, &err, "data: white");
    }
    temp_dir_remove();
}
END_TEST

/* Kaggle's tables of MNIST, and arrays with a dimension for the channel. */
START_TEST(labels_and_channels_are_told_from_pixels)
{
    const uint8_t pixels[8] = { 0, 255, 7, 200, 255, 0, 0, 130 },
                  codes[8] = { 0, 1, 0, 1, 1, 0, 0, 1 };
    const int64_t shapes[3][4] = { { 2, 1, 2, 2 }, { 2, 2, 2, 1 }, { 2, 2, 1, 2 } };
    static const char text[] = "label,pixel0,pixel1,pixel2,pixel3\n5,0,255,7,200\n0,255,0,0,130\n";
    static const char *const fault[] = { "label,a,b,c,d\n.5,0,255,7,200\n", "5,0,255,7,200\n",
                                         "label,a\n3000000000,255\n" };
    sal_error err = { 0 };
    sal_data data = { 0 };
    temp_dir_make();
    for (int k = 0; k < 4; k++) { /* two channels are refused */
        const char *path = k < 3 ? write_npy("c.npy", SALI_DTYPE_U8, 4, shapes[k], pixels)
                                 : temp_write("k.csv", text, sizeof text - 1);
        if (k == 2) {
            ck_fails(sal_data_read(path, NULL, &data, &err), SAL_ERR_DATA, &err,
                     "c.npy: four dimensions, 2 x 2 x 1 x 2; expected pictures of one channel");
            continue;
        }
        ck_ok(sal_data_read(path, NULL, &data, &err), &err);
        ck_assert(data.rows == 2 && data.height == 2 && data.width == 2);
        ck_assert_mem_eq(data.codes, codes, 8);
        ck_assert(k < 3 ? !data.labels && !data.remark
                        : data.labels[0] == 5 && data.labels[1] == 0);
        sal_data_destroy(&data);
    }
    ck_alloc_sweep(sal_data_read(temp_path("k.csv"), NULL, &data, &err), sal_data_destroy(&data));
    sal_array array = { 0 };
    static const char amat[] = " 0 1 0.0 .7 5\n1 0 0 1 0\n", plain[] = "0 1 0 1\n0 0 1 1\n";
    ck_ok(sal_data_read(temp_write("k.amat", amat, sizeof amat - 1), NULL, &data, &err), &err);
    ck_assert(data.variables == 4 && data.labels[0] == 5 && data.labels[1] == 0);
    ck_assert_mem_eq(data.codes, ((uint8_t[]){ 0, 1, 0, 1, 1, 0, 0, 1 }), 8);
    ck_assert(data.warns && strstr(data.remark, "the last column has whole numbers"));
    sal_data_destroy(&data);
    ck_alloc_sweep(sal_data_read(temp_path("k.amat"), NULL, &data, &err), sal_data_destroy(&data));
    ck_ok(sal_array_read(temp_path("k.amat"), SAL_COLUMNS_FIND, &array, &err), &err);
    ck_assert(array.shape[1] == 5 && array.values[4] == 5);
    sal_array_free(&array);
    ck_ok(sal_data_read(temp_write("k.amat", plain, sizeof plain - 1), NULL, &data, &err), &err);
    ck_assert(data.variables == 4 && !data.labels && !data.remark);
    sal_data_destroy(&data);
    static const char *const not_labels[] = { "0 1 0 1 .5\n", "0 1 0 1 -1\n" };
    for (int k = 0; k < 2; k++) {
        temp_write("k.amat", not_labels[k], strlen(not_labels[k]));
        ck_fails(sal_data_read(temp_path("k.amat"), NULL, &data, &err), SAL_ERR_DATA, &err,
                 "one more than pictures of 2 x 2");
    }
    const sal_data_options as_codes = { .kind = SAL_DATA_CODES };
    ck_ok(sal_data_read(temp_path("k.csv"), &as_codes, &data, &err), &err);
    ck_assert(data.variables == 4 && data.codes[2] == 7 && data.labels[0] == 5);
    ck_assert_ptr_nonnull(strstr(data.remark, "; the first column has the labels"));
    sal_data_destroy(&data);
    static const char *const said[] = { "row 0 has the label 0.5",
                                        "one more than pictures of 2 x 2",
                                        "row 0 has the label 3e+09" };
    for (int k = 0; k < 3; k++) {
        temp_write("k.csv", fault[k], strlen(fault[k]));
        ck_fails(sal_data_read(temp_path("k.csv"), NULL, &data, &err), SAL_ERR_DATA, &err, said[k]);
    }
    temp_dir_remove();
}
END_TEST

/* Files of scikit-learn, with and without what tells that they count from 0. */
START_TEST(columns_are_counted_as_the_other_file_or_the_options_say)
{
    static const uint8_t from_0[4] = { 0, 1, 0, 1 }, from_1[4] = { 1, 0, 1, 0 };
    sal_error err = { 0 };
    sal_data data = { 0 };
    temp_dir_make();
    temp_write("a.svm", "0 1:1 3:1\n", 10);
    temp_write("zero.svm", "0 1:1 3:1\n1 0:1\n", 16);
    temp_write("four.csv", "1,0,0,1\n", 8);
    char zero[512], four[512], path[512];
    snprintf(zero, sizeof zero, "%s", temp_path("zero.svm"));
    snprintf(four, sizeof four, "%s", temp_path("four.csv"));
    snprintf(path, sizeof path, "%s", temp_path("a.svm"));
    const struct {
        sal_data_options o;
        const uint8_t *codes;
    } cases[] = {
        { { .companion = zero }, from_0 },
        { { .companion = four }, from_0 },
        { { .companion = path, .columns = 6 }, from_1 },
        { { .columns_from = SAL_COLUMNS_FROM_0 }, from_0 },
        { { .columns_from = SAL_COLUMNS_FROM_1, .columns = 4 }, from_1 },
        { { .columns = 9 }, from_1 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_data_options o = cases[k].o;
        o.kind = SAL_DATA_CODES;
        ck_ok(sal_data_read(path, &o, &data, &err), &err);
        ck_assert_msg(memcmp(data.codes, cases[k].codes, 4) == 0, "case %d", (int)k);
        ck_assert_int_eq(data.columns_from,
                         cases[k].codes == from_0 ? SAL_COLUMNS_FROM_0 : SAL_COLUMNS_FROM_1);
        ck_assert_int_eq(data.variables, o.columns > 4 ? o.columns : 4);
        sal_data_destroy(&data);
    }
    const sal_data_options lost = { .companion = "none.svm" };
    ck_fails(sal_data_read(path, &lost, &data, &err), SAL_ERR_NOT_FOUND, &err, "none.svm");
    const sal_data_options bad = { .columns_from = 3 };
    ck_fails(sal_data_read(path, &bad, &data, &err), SAL_ERR_ARGUMENT, &err, "columns_from 3");
    const sal_data_options beside = { .kind = SAL_DATA_CODES, .companion = zero };
    ck_alloc_sweep(sal_data_read(path, &beside, &data, &err), sal_data_destroy(&data));
    temp_dir_remove();
}
END_TEST

START_TEST(sequences_are_dropped_with_a_remark)
{
    sal_error err = { 0 };
    sal_data data = { 0 }, held = { 0 };
    temp_dir_make();
    const char *path = temp_write("a.aln", "MKVA\nMKVX\nMKVA\nMKV-\n", 20);
    sal_data_options options = { .kind = SAL_DATA_ALIGNMENT, .identity = 0.75 };
    ck_ok(sal_data_read(path, &options, &data, &err), &err);
    ck_assert_int_eq(data.rows, 4);
    ck_assert(strncmp(data.remark, path, strlen(path)) == 0 && data.warns);
    ck_assert_ptr_nonnull(
        strstr(data.remark, ": 4 sequences of 4 sites (protein); 1 letters in 1"));
    ck_ok(sal_data_split(&data, 1, NULL, &held, &err), &err);
    ck_assert_ptr_null(held.remark);
    sal_data_destroy(&held);
    sal_data_destroy(&data);
    options.unknown = SAL_UNKNOWN_DROP;
    options.duplicates = SAL_DUPLICATES_DROP;
    ck_ok(sal_data_read(path, &options, &data, &err), &err);
    ck_assert_int_eq(data.rows, 2);
    ck_assert_mem_eq(data.codes, ((uint8_t[]){ 11, 9, 18, 1, 11, 9, 18, 0 }), 8);
    ck_assert_double_eq(data.weight[0], 0.5);
    sal_data_destroy(&data);
    options.first = 2; /* counted among those that are left */
    ck_fails(sal_data_read(path, &options, &data, &err), SAL_ERR_ARGUMENT, &err, "there are 2");
    temp_write("b.aln", "MKX\n", 4);
    options.first = 0;
    ck_fails(sal_data_read(temp_path("b.aln"), &options, &data, &err), SAL_ERR_DATA, &err,
             "b.aln: all 1 sequences");
    temp_dir_remove();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("data_read");
    TCase *tcase = tcase_create("data_read");
    tcase_add_test(tcase, other_ranges_are_those_of_the_file);
    tcase_add_test(tcase, labels_from_1_can_be_asked_for);
    tcase_add_test(tcase, pictures_of_one_grey_are_refused);
    tcase_add_test(tcase, labels_and_channels_are_told_from_pixels);
    tcase_add_test(tcase, columns_are_counted_as_the_other_file_or_the_options_say);
    tcase_add_test(tcase, sequences_are_dropped_with_a_remark);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
