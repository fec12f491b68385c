/* SPDX-License-Identifier: MIT */
/* HDF5 files. (arrays_of_others reads those of h5py, and what is refused.) */
#include "temp_dir.h"

#include <stdlib.h>

#include <saltus/io.h>
#include <saltus/program.h>
#include "alloc_fail.h"
#include "io/config.h"
#include "io/file.h"
#include "io/format.h"

static sal_status read_set(const char *name, sal_array *array, sal_error *err)
{
    char path[300];
    snprintf(path, sizeof path, "%s%s", temp_path("a.h5"), name);
    return sal_array_read(path, SAL_COLUMNS_FIND, array, err);
}

#ifdef SALI_HAVE_HDF5

#include <hdf5.h>

/* A file with train/data (3, 2) of 0 to 5, and train/target (3). */
static void make_file(void)
{
    static const short data[] = { 0, 1, 2, 3, 4, 5 };
    hid_t file = H5Fcreate(temp_path("a.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group = H5Gcreate2(file, "train", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int k = 0; k < 2; k++) {
        hid_t space = H5Screate_simple(2 - k, (hsize_t[]){ 3, 2 }, NULL);
        hid_t set = H5Dcreate2(group, k == 0 ? "data" : "target", H5T_STD_I16BE, space, H5P_DEFAULT,
                               H5P_DEFAULT, H5P_DEFAULT);
        ck_assert_int_ge(H5Dwrite(set, H5T_NATIVE_SHORT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), 0);
        H5Dclose(set);
        H5Sclose(space);
    }
    H5Gclose(group);
    ck_assert_int_ge(H5Fclose(file), 0);
}

START_TEST(the_data_set_that_the_path_names_is_read)
{
    sal_error err = { 0 };
    sal_array a = { 0 };
    make_file();
    ck_ok(read_set(":train/data", &a, &err), &err);
    ck_assert(a.ndim == 2 && a.shape[0] == 3 && a.shape[1] == 2 && !a.remark);
    ck_assert(a.values[1] == 1 && a.values[5] == 5);
    sal_array_free(&a);
    ck_alloc_sweep(read_set(":train/data", &a, &err), sal_array_free(&a));
    ck_ok(read_set(":/train/target", &a, &err), &err);
    ck_assert(a.ndim == 1 && a.count == 3 && a.values[2] == 2);
    sal_array_free(&a);
    ck_ok(read_set("", &a, &err), &err);
    ck_assert(a.count == 6 && strstr(a.remark, "'train/data' is read, the largest of 2 arrays"));
    sal_array_free(&a);
    ck_fails(read_set(":test/data", &a, &err), SAL_ERR_NOT_FOUND, &err,
             "holds no array of numbers 'test/data'; there are: train/data, train/target");
}
END_TEST

static sal_status parse(const void *data, int64_t size, sal_error *err)
{
    sali_content content = { 0 };
    const sali_format *hdf5 = NULL;
    ck_ok(sali_format_named("hdf5", &hdf5, NULL), err);
    sal_status status = sali_format_parse(hdf5, "f", data, size, &content, err);
    sali_content_free(&content);
    return status;
}

/* Every byte of metadata is turned once, and the file is cut at every 97th: libhdf5 may crash of
 * it, in a process of its own. */
START_TEST(damaged_files_are_survived)
{
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    make_file();
    ck_ok(sali_file_read(temp_path("a.h5"), &bytes, &err), &err);
    ck_ok(parse(bytes.data, bytes.size, &err), &err);
    for (int64_t n = 0; n < bytes.size; n += 97) {
        ck_fails(parse(bytes.data, n, &err), SAL_ERR_DATA, &err, "f: is no HDF5 file");
    }
    for (int64_t i = 0; i < bytes.size; i++) {
        if (bytes.data[i] != 0) {
            bytes.data[i] ^= (unsigned char)(1 << i % 8);
            temp_parse_copy(parse, bytes.data, bytes.size);
            bytes.data[i] ^= (unsigned char)(1 << i % 8);
        }
    }
    sali_bytes_free(&bytes);
}
END_TEST

START_TEST(libhdf5_prints_no_errors)
{
    sal_error err = { 0 };
    sal_array a = { 0 };
    H5E_auto2_t print;
    void *data;
    make_file();
    ck_ok(read_set(":train/data", &a, &err), &err);
    sal_array_free(&a);
    H5Eget_auto2(H5E_DEFAULT, &print, &data);
    ck_assert(!print);
}
END_TEST

#else

START_TEST(hdf5_is_unsupported_without_libhdf5)
{
    sal_error err = { 0 };
    sal_array a = { 0 };
    temp_write("a.h5", "\x89HDF\r\n\x1a\n", 8);
    ck_fails(read_set("", &a, &err), SAL_ERR_UNSUPPORTED, &err, "built without libhdf5");
}
END_TEST

#endif

/* For the leak sanitizer: after a damaged file libhdf5 1.10 does not tidy up at exit, and what it
 * made for the files that this test writes stays. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5\n";
}

int main(void)
{
    Suite *suite = suite_create("io_hdf5");
    TCase *tcase = tcase_create("hdf5");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
#ifdef SALI_HAVE_HDF5
    tcase_add_test(tcase, the_data_set_that_the_path_names_is_read);
    tcase_add_test(tcase, damaged_files_are_survived);
    tcase_add_test(tcase, libhdf5_prints_no_errors);
#else
    tcase_add_test(tcase, hdf5_is_unsupported_without_libhdf5);
#endif
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
