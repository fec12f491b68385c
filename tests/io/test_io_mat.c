/* SPDX-License-Identifier: MIT */
/* MATLAB's .mat files, made in memory. (arrays_of_others reads those of SciPy.) */
#include "temp_dir.h"

#include <saltus/io.h>
#include <saltus/program.h>
#include "alloc_fail.h"
#include "io/config.h"
#include "io/format.h"
#ifdef SALI_HAVE_ZLIB
#include <zlib.h>
#endif

#define HEADER_SIZE 128

typedef struct mat_bytes {
    unsigned char data[2048];
    size_t size;
} mat_bytes;

static void put(mat_bytes *m, const void *data, size_t size)
{
    memcpy(m->data + m->size, data, size);
    m->size += size;
}

/* An element of a type, padded to a multiple of 8 bytes. */
static void put_element(mat_bytes *m, uint32_t type, const void *data, uint32_t size)
{
    put(m, &type, 4);
    put(m, &size, 4);
    put(m, data, size);
    while (m->size % 8 != 0) {
        m->data[m->size++] = 0;
    }
}

static mat_bytes header(void)
{
    mat_bytes m = { .size = 0 };
    put(&m, "MATLAB 5.0 MAT-file, made by a test", 35);
    memset(m.data + m.size, ' ', 124 - m.size);
    m.size = 124;
    put(&m, (uint16_t[]){ 0x0100, 'M' << 8 | 'I' }, 4);
    return m;
}

enum { CLASS_STRUCT = 2, CLASS_SPARSE = 5, CLASS_DOUBLE = 6, CLASS_U8 = 9, COMPLEX = 0x0800 };

/* A matrix of bytes. */
static void put_matrix(mat_bytes *m, uint32_t class, const char *name, int32_t rows,
                       int32_t columns, const char *bytes)
{
    const uint32_t type = 14;
    uint32_t size = 0;
    put(m, &type, 4);
    const size_t at = m->size;
    put(m, &size, 4);
    put_element(m, 6, (uint32_t[]){ class, 0 }, 8);
    put_element(m, 5, (int32_t[]){ rows, columns }, 8);
    put_element(m, 1, name, (uint32_t)strlen(name));
    put_element(m, 2, bytes, (uint32_t)strlen(bytes));
    size = (uint32_t)(m->size - at - 4);
    memcpy(m->data + at, &size, 4);
}

static sal_status read_variable(const char *name, sal_array *array, sal_error *err)
{
    char path[300];
    snprintf(path, sizeof path, "%s%s", temp_path("a.mat"), name);
    return sal_array_read(path, SAL_COLUMNS_FIND, array, err);
}

START_TEST(the_file_is_told_by_its_header)
{
    sal_error err = { 0 };
    sal_format_info info = { 0 };
    mat_bytes m = header();
    put_matrix(&m, CLASS_U8, "data", 2, 3, "adbecf");
    ck_ok(sal_format_find(temp_write("nameless", m.data, m.size), &info, &err), &err);
    ck_assert_str_eq(info.name, "mat");
}
END_TEST

START_TEST(the_variable_that_the_path_names_is_read)
{
    sal_error err = { 0 };
    sal_array a = { 0 };
    mat_bytes m = header();
    put_matrix(&m, CLASS_STRUCT, "s", 1, 1, "");
    put_matrix(&m, CLASS_DOUBLE, "target", 1, 2, "xy"); /* doubles may be stored as bytes */
    put_matrix(&m, CLASS_U8, "data", 3, 2, "abcdef");
    temp_write("a.mat", m.data, m.size);
    ck_ok(read_variable(":target,rows=first", &a, &err), &err);
    ck_assert(a.shape[0] == 1 && a.shape[1] == 2 && a.values[0] == 'x' && a.values[1] == 'y');
    sal_array_free(&a);
    ck_ok(read_variable("", &a, &err), &err);
    ck_assert(a.shape[0] == 3 && a.shape[1] == 2 && a.values[0] == 'a' && a.values[1] == 'd');
    ck_assert_ptr_nonnull(
        strstr(a.remark, "'data' is read, the largest of 2 arrays: target, data"));
    ck_assert_ptr_nonnull(strstr(a.remark, "its first dimension, of 3, is taken for that of the "));
    sal_array_free(&a);
    ck_ok(read_variable(":data,rows=last", &a, &err), &err);
    ck_assert(a.shape[0] == 2 && a.shape[1] == 3 && a.values[1] == 'b' && !a.remark);
    sal_array_free(&a);
    ck_alloc_sweep(read_variable("", &a, &err), sal_array_free(&a));
    ck_fails(read_variable(":s", &a, &err), SAL_ERR_NOT_FOUND, &err,
             "a.mat: holds no array of numbers 's'; there are: target, data");
}
END_TEST

static sal_status parse(const void *data, int64_t size, sal_error *err)
{
    sali_content content = { 0 };
    const sali_format *mat = NULL;
    ck_ok(sali_format_named("mat", &mat, NULL), err);
    sal_status status = sali_format_parse(mat, "f", data, size, &content, err);
    sali_content_free(&content);
    return status;
}

/* The same for damaged bytes, of which some call a variable compressed. */
static sal_status survive(const void *data, int64_t size, sal_error *err)
{
    sal_status status = parse(data, size, err);
#ifndef SALI_HAVE_ZLIB
    if (status == SAL_ERR_UNSUPPORTED) {
        err->status = status = SAL_ERR_DATA;
    }
#endif
    return status;
}

START_TEST(bad_files_are_refused)
{
    static const struct {
        uint32_t class;
        int32_t rows, columns;
        const char *bytes, *message;
    } cases[] = {
        { CLASS_STRUCT, 2, 3, "abcdef", "f: holds no array of numbers" },
        { CLASS_SPARSE, 2, 3, "abcdef", "f: holds no array of numbers" },
        { CLASS_U8 | COMPLEX, 2, 3, "abcdef", "f: holds no array of numbers" },
        { CLASS_U8, 0, 3, "", "f: holds no array of numbers" },
        { CLASS_U8, -2, 3, "abcdef", "f: holds no array of numbers" },
        { CLASS_U8, 2, 3, "abc", "variable 'x' has not the numbers that its dimensions ask for" },
        { CLASS_U8, 2, 3, "abcdefg", "variable 'x' has not the numbers" },
        { CLASS_DOUBLE, 1 << 30, 1 << 30, "abcdef", "f: holds no array of numbers" },
    };
    sal_error err = { 0 };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mat_bytes m = header();
        put_matrix(&m, cases[k].class, "x", cases[k].rows, cases[k].columns, cases[k].bytes);
        ck_fails(parse(m.data, (int64_t)m.size, &err), SAL_ERR_DATA, &err, cases[k].message);
    }
    mat_bytes m = header();
    ck_fails(parse(m.data, (int64_t)m.size, &err), SAL_ERR_DATA, &err, "holds no array of numbers");
    ck_fails(parse("x", 1, &err), SAL_ERR_DATA, &err,
             "is no MAT-file, ends too early, or is damaged");
    ck_fails(parse("", 0, &err), SAL_ERR_DATA, &err, "f: is empty");
    m.data[125] = 2; /* version 7.3 */
#ifdef SALI_HAVE_HDF5
    ck_fails(parse(m.data, (int64_t)m.size, &err), SAL_ERR_DATA, &err, "f: is no HDF5 file");
#else
    ck_fails(parse(m.data, (int64_t)m.size, &err), SAL_ERR_UNSUPPORTED, &err, "without libhdf5");
#endif
}
END_TEST

/* A file of version 4, with a matrix of doubles or bytes. */
static mat_bytes version_4(int big_endian, uint32_t type, uint32_t rows, uint32_t columns,
                           uint32_t complex, const void *numbers, size_t size)
{
    mat_bytes m = { .size = 0 };
    const uint32_t words[] = { type, rows, columns, complex, 3 };
    for (int k = 0; k < 5; k++) {
        for (int b = 0; b < 4; b++) {
            m.data[m.size++] = (unsigned char)(words[k] >> 8 * (big_endian ? 3 - b : b));
        }
    }
    put(&m, "ff", 3);
    put(&m, numbers, size);
    return m;
}

START_TEST(version_4_is_read_in_both_byte_orders)
{
    static const unsigned char shorts[2][12] = { "\1\0\2\0\3\0\4\0\5\0\6",
                                                 "\0\1\0\2\0\3\0\4\0\5\0\6" };
    sal_error err = { 0 };
    sal_array a = { 0 };
    for (int big = 0; big < 2; big++) {
        mat_bytes m = version_4(big, 1000U * (uint32_t)big + 30, 3, 2, 0, shorts[big], 12);
        temp_write("a.mat", m.data, m.size);
        ck_ok(read_variable(":ff,rows=first", &a, &err), &err);
        ck_assert(a.shape[0] == 3 && a.shape[1] == 2 && a.values[1] == 4 && a.values[4] == 3);
        sal_array_free(&a);
        for (int64_t n = 0; n < (int64_t)m.size; n++) {
            ck_assert_int_eq(parse(m.data, n, &err), SAL_ERR_DATA);
        }
        temp_sweep(survive, m.data, (int64_t)m.size);
    }
    static const struct {
        uint32_t type, rows, complex;
        const char *message;
    } cases[] = {
        { 50, 12, 1, "f: is no MAT-file, ends too early" },
        { 50, 6, 1, "f: holds no array of numbers" },
        { 51, 12, 0, "f: holds no array of numbers" },
        { 52, 12, 0, "f: holds no array of numbers" },
        { 60, 12, 0, "f: is no MAT-file" },
        { 150, 12, 0, "f: is no MAT-file" },
        { 2050, 12, 0, "f: is no MAT-file" },
        { 50, 13, 0, "f: is no MAT-file, ends too early" },
        { 50, 11, 0, "f: is no MAT-file, ends too early" },
        { 0, UINT32_MAX, 0, "f: is no MAT-file, ends too early" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mat_bytes m =
            version_4(0, cases[k].type, cases[k].rows, 1, cases[k].complex, shorts[0], 12);
        ck_fails(parse(m.data, (int64_t)m.size, &err), SAL_ERR_DATA, &err, cases[k].message);
    }
}
END_TEST

/* A variable that is compressed as MATLAB compresses it. */
START_TEST(compressed_variables_are_read)
{
    sal_error err = { 0 };
    mat_bytes plain = { .size = 0 }, m = header();
    put_matrix(&plain, CLASS_U8, "x", 2, 3, "abcdef");
#ifdef SALI_HAVE_ZLIB
    sal_array a = { 0 };
    unsigned char packed[500];
    uLongf size = sizeof packed;
    ck_assert_int_eq(compress(packed, &size, plain.data, plain.size), Z_OK);
    put(&m, (uint32_t[]){ 15, (uint32_t)size }, 8);
    put(&m, packed, size);
    temp_write("a.mat", m.data, m.size);
    ck_ok(read_variable(":x,rows=first", &a, &err), &err);
    ck_assert(a.shape[0] == 2 && a.shape[1] == 3 && a.values[1] == 'c');
    sal_array_free(&a);
    for (int64_t n = HEADER_SIZE + 1; n < (int64_t)m.size; n++) {
        ck_fails(parse(m.data, n, &err), SAL_ERR_DATA, &err, "ends too early, or is damaged");
    }
    m.data[m.size - 1] ^= 1;
    ck_fails(parse(m.data, (int64_t)m.size, &err), SAL_ERR_DATA, &err, "incorrect data check");
    m.data[m.size - 1] ^= 1;
    temp_sweep(survive, m.data, (int64_t)m.size);
#else
    put(&m, (uint32_t[]){ 15, (uint32_t)plain.size }, 8);
    put(&m, plain.data, plain.size);
    ck_fails(parse(m.data, (int64_t)m.size, &err), SAL_ERR_UNSUPPORTED, &err, "without zlib");
#endif
}
END_TEST

/* A file that was cut is never read as if it were whole. */
START_TEST(damaged_files_are_survived)
{
    sal_error err = { 0 };
    mat_bytes m = header();
    put_matrix(&m, CLASS_U8, "x", 2, 4, "abcdefgh");
    ck_ok(parse(m.data, (int64_t)m.size, &err), &err);
    for (int64_t n = 0; n < (int64_t)m.size; n++) {
        ck_assert_int_eq(parse(m.data, n, &err), SAL_ERR_DATA);
    }
    temp_sweep(survive, m.data, (int64_t)m.size);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_mat");
    TCase *tcase = tcase_create("mat");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, the_file_is_told_by_its_header);
    tcase_add_test(tcase, the_variable_that_the_path_names_is_read);
    tcase_add_test(tcase, bad_files_are_refused);
    tcase_add_test(tcase, version_4_is_read_in_both_byte_orders);
    tcase_add_test(tcase, compressed_variables_are_read);
    tcase_add_test(tcase, damaged_files_are_survived);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
