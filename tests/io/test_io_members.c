/* SPDX-License-Identifier: MIT */
/* Files of several arrays: which array a path names, how its numbers are arranged, and .npz. */
#include "temp_dir.h"

#include <math.h>

#include <saltus/data.h>
#include <saltus/io.h>
#include <saltus/program.h>
#include "alloc_fail.h"
#include "io/member.h"
#include "io/config.h"
#include "io/format.h"
#include "zip_file.h"

/* ---- paths */

START_TEST(a_path_has_a_file_a_name_and_settings)
{
    sal_error err = { 0 };
    sali_member m = { 0 };
    char path[300];
    temp_write("a", "x", 1);
    temp_write("b:c", "x", 1);
    snprintf(path, sizeof path, "%s:data,rows=last,ink=0,pixels=columns", temp_path("a"));
    ck_ok(sali_member_split(path, &m, &err), &err);
    ck_assert_str_eq(m.file, temp_path("a"));
    ck_assert_str_eq(m.name, "data");
    ck_assert(m.rows == SALI_MEMBER_ROWS_LAST && m.ink == SALI_MEMBER_INK_0 &&
              m.pixels == SALI_MEMBER_PIXELS_COLUMNS);
    sali_member_free(&m);
    ck_alloc_sweep(sali_member_split(path, &m, &err), sali_member_free(&m));
    snprintf(path, sizeof path, "%s:rows=first", temp_path("a"));
    ck_ok(sali_member_split(path, &m, &err), &err);
    ck_assert(!m.name && m.rows == SALI_MEMBER_ROWS_FIRST && m.ink == SALI_MEMBER_INK_FIND);
    sali_member_free(&m);
    snprintf(path, sizeof path, "%s:x:y/z", temp_path("b:c"));
    ck_ok(sali_member_split(path, &m, &err), &err);
    ck_assert_str_eq(m.file, temp_path("b:c"));
    ck_assert_str_eq(m.name, "x:y/z");
    sali_member_free(&m);
    static const char *const whole[] = { "b:c", "none:x", "a" };
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++) {
        ck_ok(sali_member_split(temp_path(whole[k]), &m, &err), &err);
        ck_assert_str_eq(m.file, temp_path(whole[k]));
        ck_assert(!m.text && !m.name);
        sali_member_free(&m);
    }
}
END_TEST

START_TEST(settings_that_there_are_not_are_refused)
{
    static const char *const cases[] = {
        "a:",         "a:,rows=last",       "a:x,",  "a:x,y",           "a:x,rows=lst",
        "a:rows=all", "a:x,rows=first,ink", "a:x=1", "a:x,ink=0,ink=1", "a:rows=last,x",
    };
    sal_error err = { 0 };
    temp_write("a", "x", 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sali_member m = { 0 };
        ck_fails(sali_member_split(temp_path(cases[k]), &m, &err), SAL_ERR_ARGUMENT, &err,
                 "expected the name of an array, or each once: rows=first|last");
        ck_assert_ptr_null(m.file);
    }
}
END_TEST

START_TEST(a_file_of_one_thing_has_no_names)
{
    sal_error err = { 0 };
    sal_array array = { 0 };
    sal_format_info info = { 0 };
    char path[300];
    snprintf(path, sizeof path, "%s:x", temp_write("a.csv", "1,2\n", 4));
    ck_fails(sal_array_read(path, SAL_COLUMNS_FIND, &array, &err), SAL_ERR_ARGUMENT, &err,
             "a.csv: of format table, whose files hold one thing");
    ck_ok(sal_format_find(path, &info, &err), &err);
    ck_assert_str_eq(info.name, "table");
    ck_fails(sal_array_read(temp_path("none.npz:x"), SAL_COLUMNS_FIND, &array, &err),
             SAL_ERR_NOT_FOUND, &err, "none.npz:x: cannot be opened");
}
END_TEST

/* ---- arrangement */

/* Arrange `values` of this shape as the path and the kind of data say. */
static sal_status arrange(const sali_member *member, bool pictures, int64_t columns, bool matlab,
                          const sal_array *from, sali_content *out, sal_error *err)
{
    const sali_reading reading = { .member = member, .pictures = pictures, .columns = columns };
    sali_scan scan = sali_scan_of("f", "", 0, SALI_BYTES, err);
    scan.reading = &reading;
    *out = (sali_content){ .kind = SALI_CONTENT_ARRAY, .array = *from };
    out->array.values = SALI_SCAN_ARRAY(&scan, double, from->count);
    if (out->array.values) {
        memcpy(out->array.values, from->values, (size_t)from->count * sizeof *from->values);
        sali_member_arrange(&scan, matlab, out);
    }
    if (scan.status != SAL_OK) {
        sali_content_free(out);
    }
    return scan.status;
}

/* Numbers 0, 1, 2, .. in an array of this shape, whose element 1 tells how it was arranged. */
START_TEST(rows_and_pixels_are_where_the_path_says)
{
    static const struct {
        int64_t shape[3], columns;
        int ndim;
        bool matlab;
        sali_member member;
        int64_t rows;
        double second;
        const char *remark;
    } cases[] = {
        { { 4, 6 }, 0, 2, false, { 0 }, 4, 1, NULL },
        { { 4, 6 }, 0, 2, false, { .rows = SALI_MEMBER_ROWS_LAST }, 6, 6, NULL },
        { { 4, 6 }, 0, 2, true, { 0 }, 6, 6, "its last dimension, of 6, is taken" },
        { { 6, 4 }, 0, 2, true, { 0 }, 6, 1, "its first dimension, of 6, is taken" },
        { { 9, 5 }, 0, 2, true, { 0 }, 5, 5, "its last dimension, of 5" },
        { { 5, 9 }, 0, 2, true, { 0 }, 5, 1, "its first dimension, of 5" },
        { { 9, 16 }, 0, 2, true, { 0 }, 16, 16, "its last dimension, of 16" },
        { { 784, 1 }, 0, 2, true, { 0 }, 1, 1, "its last dimension, of 1" },
        { { 784, 4 }, 0, 2, true, { 0 }, 4, 4, "its last dimension, of 4" },
        { { 9, 16 }, 16, 2, true, { 0 }, 9, 1, "its first dimension, of 9" },
        { { 1, 9 }, 0, 2, true, { 0 }, 1, 1, "its first dimension, of 1" },
        { { 9, 5 }, 0, 2, true, { .rows = SALI_MEMBER_ROWS_FIRST }, 9, 1, NULL },
        { { 3, 3, 5 }, 0, 3, true, { 0 }, 5, 5, "its last dimension, of 5" },
        { { 5, 3, 3 }, 0, 3, true, { 0 }, 5, 1, "its first dimension, of 5" },
        { { 7 }, 0, 1, true, { .rows = SALI_MEMBER_ROWS_LAST }, 7, 1, NULL },
        { { 2, 9 }, 0, 2, false, { .pixels = SALI_MEMBER_PIXELS_COLUMNS }, 2, 3, NULL },
        { { 2, 3, 3 }, 0, 3, false, { .pixels = SALI_MEMBER_PIXELS_COLUMNS }, 2, 3, NULL },
        { { 5, 9 }, 0, 2, true, { .rows = SALI_MEMBER_ROWS_FIRST }, 5, 1, "pixels=columns if" },
        { { 5, 9 }, 0, 2, true, { .pixels = SALI_MEMBER_PIXELS_ROWS }, 5, 1, "its first" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_error err = { 0 };
        sali_content c = { 0 };
        double values[4 * 784];
        sal_array from = { .ndim = cases[k].ndim, .count = 1, .values = values };
        for (int d = 0; d < from.ndim; d++) {
            from.shape[d] = cases[k].shape[d];
            from.count *= from.shape[d];
        }
        for (int64_t i = 0; i < from.count; i++) {
            values[i] = (double)i;
        }
        ck_ok(arrange(&cases[k].member, false, cases[k].columns, cases[k].matlab, &from, &c, &err),
              &err);
        ck_assert_msg(c.array.shape[0] == cases[k].rows && c.array.count == from.count &&
                          c.array.values[1] == cases[k].second,
                      "case %zu: %lld rows, then %g", k, (long long)c.array.shape[0],
                      c.array.values[1]);
        ck_assert_double_eq(c.array.values[from.count - 1], (double)from.count - 1);
        const char *remark = cases[k].remark;
        ck_assert_msg(remark ? c.remark.text && strstr(c.remark.text, remark) : !c.remark.text,
                      "case %zu: %s", k, c.remark.text ? c.remark.text : "no remark");
        sali_content_free(&c);
        ck_alloc_sweep(
            arrange(&cases[k].member, false, cases[k].columns, cases[k].matlab, &from, &c, &err),
            sali_content_free(&c));
    }
}
END_TEST

START_TEST(ink_is_0_where_the_path_or_the_borders_say_so)
{
    static const double dark[] = { 1, 1, 1, 1, 0, 1, 1, 1, 1 },
                        light[] = { 0, 0, 0, 0, 1, 0, 0, 1, 0 },
                        greys[] = { 255, 255, 255, 255, 0, 255, 255, 255, 254 },
                        wide[] = { 0, 0, 0, 0, 0, 0, 0, 0, 256 };
    static const struct {
        const double *values;
        bool matlab, pictures;
        sali_member_ink ink;
        double first;
    } cases[] = {
        { dark, true, true, SALI_MEMBER_INK_FIND, 0 },
        { dark, true, false, SALI_MEMBER_INK_FIND, 1 },
        { dark, false, true, SALI_MEMBER_INK_FIND, 1 },
        { dark, true, true, SALI_MEMBER_INK_1, 1 },
        { dark, false, false, SALI_MEMBER_INK_0, 0 },
        { light, true, true, SALI_MEMBER_INK_FIND, 0 },
        { light, true, true, SALI_MEMBER_INK_0, 1 },
        { greys, true, true, SALI_MEMBER_INK_FIND, 255 },
        { greys, false, false, SALI_MEMBER_INK_0, 0 },
    };
    sal_error err = { 0 };
    sali_content c = { 0 };
    sal_array from = { .ndim = 3, .shape = { 1, 3, 3 }, .count = 9 };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sali_member member = { .ink = cases[k].ink };
        from.values = (double *)cases[k].values;
        ck_ok(arrange(&member, cases[k].pictures, 0, cases[k].matlab, &from, &c, &err), &err);
        ck_assert_msg(c.array.values[0] == cases[k].first, "case %zu", k);
        ck_assert_double_eq(fabs(c.array.values[4] - c.array.values[0]),
                            cases[k].values == greys ? 255 : 1);
        ck_assert_int_eq(k == 0, c.remark.text && strstr(c.remark.text, "ink is taken for 0"));
        sali_content_free(&c);
    }
    sali_member member = { .ink = SALI_MEMBER_INK_0 };
    from.values = (double *)wide;
    ck_fails(arrange(&member, true, 0, false, &from, &c, &err), SAL_ERR_DATA, &err,
             "f: has numbers from 0 to 256; ink=0 is for pictures of 0 and 1");
    member = (sali_member){ .pixels = SALI_MEMBER_PIXELS_COLUMNS };
    from = (sal_array){ .ndim = 2, .shape = { 3, 3 }, .count = 9, .values = from.values };
    ck_fails(arrange(&member, true, 0, false, &from, &c, &err), SAL_ERR_DATA, &err,
             "f: has no rows that are square pictures");
}
END_TEST

/* ---- .npz */

#define HEADER(shape) \
    "\x93NUMPY\x01\x00\x3b\x00{'descr': '|u1', 'fortran_order': False, 'shape': (" shape "), }\n"
static const char large[] = HEADER("2,3") "abcdef", small[] = HEADER("1,4") "wxyz";

static zip_bytes two_arrays(void)
{
    const zip_member members[] = {
        { .name = "y.npy", .data = small, .size = sizeof small - 1 },
        { .name = "x.npy", .data = large, .size = sizeof large - 1 },
        { .name = "notes.txt", .data = "hello", .size = 5 },
    };
    return zip_of(members, 3);
}

static sal_status read_member(const char *name, sal_array *array, sal_error *err)
{
    char path[300];
    snprintf(path, sizeof path, "%s%s", temp_path("a.npz"), name);
    return sal_array_read(path, SAL_COLUMNS_FIND, array, err);
}

#ifdef SALI_HAVE_ZIP

START_TEST(the_array_that_the_path_names_is_read)
{
    sal_error err = { 0 };
    sal_array a = { 0 };
    const zip_bytes z = two_arrays();
    temp_write("a.npz", z.data, z.size);
    ck_ok(read_member(":y", &a, &err), &err);
    ck_assert(a.ndim == 2 && a.shape[0] == 1 && a.shape[1] == 4 && a.values[3] == 'z');
    ck_assert_ptr_null(a.remark);
    sal_array_free(&a);
    ck_alloc_sweep(read_member(":y", &a, &err), sal_array_free(&a));
    ck_ok(read_member("", &a, &err), &err);
    ck_assert(a.shape[0] == 2 && a.shape[1] == 3 && a.values[5] == 'f');
    ck_assert(a.warns && strstr(a.remark, "'x' is read, the largest of 2 arrays: y, x (FILE:NAME"));
    sal_array_free(&a);
    ck_ok(read_member(":x,rows=last", &a, &err), &err);
    ck_assert(a.shape[0] == 3 && a.shape[1] == 2 && a.values[1] == 'd');
    sal_array_free(&a);
    ck_fails(read_member(":z", &a, &err), SAL_ERR_NOT_FOUND, &err,
             "a.npz: holds no array of numbers 'z'; there are: y, x");
    ck_fails(read_member(":notes.txt", &a, &err), SAL_ERR_NOT_FOUND, &err, "there are: y, x");
}
END_TEST

START_TEST(a_single_array_needs_no_name)
{
    sal_error err = { 0 };
    sal_array a = { 0 };
    const zip_member one = { .name = "arr_0.npy", .data = large, .size = sizeof large - 1 };
    const zip_bytes z = zip_of(&one, 1);
    sal_format_info info = { 0 };
    ck_ok(sal_format_find(temp_write("nameless", z.data, z.size), &info, &err), &err);
    ck_assert_str_eq(info.name, "npz");
    ck_ok(sal_array_read(temp_path("nameless"), SAL_COLUMNS_FIND, &a, &err), &err);
    ck_assert(a.shape[0] == 2 && a.values[0] == 'a' && !a.remark);
    sal_array_free(&a);
}
END_TEST

static sal_status parse_npz(const void *data, int64_t size, sal_error *err)
{
    sali_content content = { 0 };
    const sali_format *npz = NULL;
    ck_ok(sali_format_named("npz", &npz, NULL), err);
    sal_status status = sali_format_parse(npz, "f", data, size, &content, err);
    sali_content_free(&content);
    return status;
}

START_TEST(bad_npz_files_are_refused)
{
    static const struct {
        zip_member member;
        const char *message;
    } cases[] = {
        { { .name = "notes.txt", .data = "hello", .size = 5 }, "f: holds no array of numbers" },
        { { .name = "x.npy", .data = "hello", .size = 5 }, "f:x: is not a .npy file" },
        { { .name = "x.npy", .data = large, .size = sizeof large - 3 },
          "f:x: the array needs 6 bytes after the header, but 4 are there" },
        { { .name = "x.npy", .data = large, .size = sizeof large - 1, .claimed = 50 }, "damaged" },
        { { .name = "x.npy", .data = large, .size = sizeof large - 1, .claimed = 90 }, "damaged" },
        { { .name = "x.npy", .data = large, .size = 60, .claimed = 1 << 20 },
          "f: claims more bytes than it can hold" },
        { { .name = "x.npy", .data = large, .size = 60, .claimed = 0x50000000 },
          "f: decompresses to more than 1073741824 bytes" },
        { { .name = "x.npy", .data = large, .size = 60, .method = 12 },
          "f: its arrays are compressed by method 12; expected stored or deflated ones" },
        { { .name = "x.npy", .data = large, .size = 60, .method = 8 }, "damaged" },
    };
    sal_error err = { 0 };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const zip_bytes z = zip_of(&cases[k].member, 1);
        ck_fails(parse_npz(z.data, (int64_t)z.size, &err), SAL_ERR_DATA, &err, cases[k].message);
    }
    zip_bytes z = two_arrays();
    ck_fails(parse_npz(z.data, (int64_t)z.size - 9, &err), SAL_ERR_DATA, &err,
             "f: is no zip file, or a damaged one");
    unsigned char *f = memmem(z.data, z.size, "abcdef", 6);
    f[5] = 'g';
    ck_fails(parse_npz(z.data, (int64_t)z.size, &err), SAL_ERR_DATA, &err, "f: is damaged: CRC");
    f[5] = 'f';
    temp_sweep(parse_npz, z.data, (int64_t)z.size);
}
END_TEST

#else

START_TEST(npz_is_unsupported_without_libzip)
{
    sal_error err = { 0 };
    sal_array a = { 0 };
    const zip_bytes z = two_arrays();
    temp_write("a.npz", z.data, z.size);
    ck_fails(read_member(":y", &a, &err), SAL_ERR_UNSUPPORTED, &err, "built without libzip");
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("io_members");
    TCase *tcase = tcase_create("members");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, a_path_has_a_file_a_name_and_settings);
    tcase_add_test(tcase, settings_that_there_are_not_are_refused);
    tcase_add_test(tcase, a_file_of_one_thing_has_no_names);
    tcase_add_test(tcase, rows_and_pixels_are_where_the_path_says);
    tcase_add_test(tcase, ink_is_0_where_the_path_or_the_borders_say_so);
    suite_add_tcase(suite, tcase);
    TCase *npz = tcase_create("npz");
    tcase_add_checked_fixture(npz, temp_dir_make, temp_dir_remove);
#ifdef SALI_HAVE_ZIP
    tcase_add_test(npz, the_array_that_the_path_names_is_read);
    tcase_add_test(npz, a_single_array_needs_no_name);
    tcase_add_test(npz, bad_npz_files_are_refused);
#else
    tcase_add_test(npz, npz_is_unsupported_without_libzip);
#endif
    suite_add_tcase(suite, npz);
    return test_main(suite);
}
