/* SPDX-License-Identifier: MIT */
/* IDX arrays. */
#include "temp_dir.h"

#include "alloc_fail.h"
#include "io/config.h"
#include "io/arrays/idx.h"
#include "npy_file.h"

static const unsigned char small[] = { 0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255 };

static sal_status read_idx(const char *path, sali_npy *out, sal_error *err)
{
    return npy_open(sali_idx_view, path, out, err);
}

static sal_status idx_parse(const void *data, int64_t size, sali_npy *out, sal_error *err)
{
    return npy_view(sali_idx_view, "mem", data, size, out, err);
}

static sal_status parse_idx(const void *data, int64_t size, sal_error *err)
{
    sali_npy a = { 0 };
    sal_status status = idx_parse(data, size, &a, err);
    if (status == SAL_OK) {
        double *x = malloc((size_t)a.count * sizeof *x + 1);
        sali_npy_doubles(&a, x);
        free(x);
    }
    return status;
}

START_TEST(bytes_are_read)
{
    sal_error err = { 0 };
    sali_npy a = { 0 };
    double x[6];
    ck_ok(read_idx(temp_write("a", small, sizeof small), &a, &err), &err);
    ck_assert(a.ndim == 2 && a.shape[0] == 2 && a.shape[1] == 3 && a.count == 6);
    ck_assert(a.dtype == SALI_DTYPE_U8 && a.data[0] == 1 && a.data[5] == 255);
    sali_npy_doubles(&a, x);
    ck_assert(x[0] == 1 && x[5] == 255);
    npy_free(&a);
}
END_TEST

START_TEST(every_type_is_read)
{
    static const struct {
        int code, size;
        const char *data;
        double value;
    } cases[] = {
        { 0x08, 1, "\xfe", 254 },
        { 0x09, 1, "\xfe", -2 },
        { 0x0b, 2, "\xff\x00", -256 },
        { 0x0c, 4, "\x00\x01\x00\x00", 65536 },
        { 0x0d, 4, "\xbf\x40\x00\x00", -0.75 },
        { 0x0e, 8, "\xbf\xe8\x00\x00\x00\x00\x00\x00", -0.75 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char file[32] = {
            0, 0, (unsigned char)cases[i].code, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1
        };
        memcpy(file + 20, cases[i].data, (size_t)cases[i].size);
        sal_error err = { 0 };
        sali_npy a = { 0 };
        double x = 42;
        ck_ok(idx_parse(file, 20 + cases[i].size, &a, &err), &err);
        ck_assert_int_eq(a.ndim, 4);
        sali_npy_doubles(&a, &x);
        ck_assert(x == cases[i].value);
    }
}
END_TEST

START_TEST(bad_files_are_refused)
{
    static const struct {
        const char *bytes;
        int64_t size;
        const char *message;
    } cases[] = {
        { "", 0, "not an IDX file" },
        { "\0\0\x08", 3, "not an IDX file" },
        { "\x89PNG....", 8, "not an IDX file" },
        { "\0\0\x0a\1\0\0\0\0", 8, "IDX type 0x0a" },
        { "\0\0\x08\0", 4, "0 dimensions" },
        { "\0\0\x08\5", 4, "5 dimensions" },
        { "\0\0\x08\2\0\0\0\1\0\0\0", 11, "header ends too early" },
        { "\0\0\x08\1\0\0\0\2x", 9, "1 bytes follow" },
        { "\0\0\x08\1\0\0\0\2xyz", 11, "3 bytes follow" },
        { "\0\0\x0e\1\xff\xff\xff\xffxyz", 11, "3 bytes follow" },
        { "\0\0\x08\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16, "0 bytes follow" },
    };
    sal_error err = { 0 };
    sali_npy a = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = temp_write("bad", cases[i].bytes, (size_t)cases[i].size);
        ck_fails(read_idx(path, &a, &err), SAL_ERR_DATA, &err, cases[i].message);
        ck_assert_ptr_null(a.data);
    }
    ck_fails(read_idx(temp_path("none"), &a, &err), SAL_ERR_NOT_FOUND, &err, "none");
    ck_fails(read_idx(temp_dir, &a, &err), SAL_ERR_NOT_FOUND, &err, "a directory");
}
END_TEST

START_TEST(truncated_and_damaged_files_are_survived)
{
    temp_sweep(parse_idx, small, sizeof small);
}
END_TEST

START_TEST(idx_survives_failing_allocations)
{
    sal_error err = { 0 };
    sali_npy a = { 0 };
    const char *path = temp_write("a", small, sizeof small);
    ck_alloc_sweep(read_idx(path, &a, &err), npy_free(&a));
}
END_TEST

START_TEST(digits_are_read)
{
    static const struct {
        const char *name;
        int64_t n, side;
    } sets[] = { { "usps-train", 7291, 16 },
                 { "usps-test", 2007, 16 },
                 { "mnist-t10k", 10000, 28 } };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        sal_error err = { 0 };
        sali_npy a = { 0 };
        char name[100];
        snprintf(name, sizeof name, "data/%s-images-idx3-ubyte.gz", sets[i].name);
        const char *path = test_data(name);
        if (!path) {
            return;
        }
#ifdef SALI_HAVE_ZLIB
        ck_ok(read_idx(path, &a, &err), &err);
        ck_assert(a.ndim == 3 && a.shape[0] == sets[i].n);
        ck_assert(a.shape[1] == sets[i].side && a.shape[2] == sets[i].side);
        npy_free(&a);
        snprintf(name, sizeof name, "data/%s-labels-idx1-ubyte.gz", sets[i].name);
        ck_ok(read_idx(test_data(name), &a, &err), &err);
        ck_assert(a.ndim == 1 && a.shape[0] == sets[i].n);
        for (int64_t k = 0; k < a.count; k++) {
            ck_assert_int_le(a.data[k], 9);
        }
        npy_free(&a);
#else
        ck_fails(read_idx(path, &a, &err), SAL_ERR_UNSUPPORTED, &err, "zlib");
#endif
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_idx");
    TCase *tcase = tcase_create("idx");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, bytes_are_read);
    tcase_add_test(tcase, every_type_is_read);
    tcase_add_test(tcase, bad_files_are_refused);
    tcase_add_test(tcase, truncated_and_damaged_files_are_survived);
    tcase_add_test(tcase, idx_survives_failing_allocations);
    tcase_add_test(tcase, digits_are_read);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
