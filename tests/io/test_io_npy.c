/* SPDX-License-Identifier: MIT */
/* NumPy arrays. */
#include "temp_dir.h"

#include <math.h>

#include "alloc_fail.h"
#include "npy_file.h"

/* Files are made by make_npy: preamble of a version, dict, data. */
typedef struct npy_bytes {
    unsigned char data[512];
    int64_t size;
} npy_bytes;

static npy_bytes make_npy(int version, const char *dict, const void *data, size_t size)
{
    npy_bytes b = { "\x93NUMPY", 10 };
    size_t length = strlen(dict);
    b.data[6] = (unsigned char)version;
    b.data[8] = (unsigned char)length;
    b.data[9] = (unsigned char)(length >> 8);
    b.size += version > 1 ? 2 : 0;
    memcpy(b.data + b.size, dict, length);
    memcpy(b.data + b.size + length, data, size);
    b.size += (int64_t)(length + size);
    return b;
}

static sal_status npy_parse(const char *name, const void *data, int64_t size, sali_npy *a,
                            sal_error *err)
{
    return npy_view(sali_npy_view, name, data, size, a, err);
}

static sal_status parse_npy(const void *data, int64_t size, sal_error *err)
{
    sali_npy a = { 0 };
    sal_status status = npy_parse("mem", data, size, &a, err);
    if (status == SAL_OK) {
        double *x = malloc((size_t)a.count * sizeof *x + 1);
        sali_npy_doubles(&a, x);
        free(x);
    }
    return status;
}

/* What numpy 1.24 wrote for np.asfortranarray(np.arange(6, dtype='<i2').reshape(2, 3)), ... */
static const char numpy_fortran[] =
    "\x93NUMPY\x01\x00v\x00{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }"
    "                             "
    "                              \n"
    "\x00\x00\x03\x00\x01\x00\x04\x00\x02\x00\x05\x00";
/* ... and for np.array([1.5, -2.25], dtype='>f8') in version 2.0. */
static const char numpy_big_endian[] =
    "\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }"
    "                             "
    "                             \n"
    "\x3f\xf8\x00\x00\x00\x00\x00\x00\xc0\x02\x00\x00\x00\x00\x00\x00";

START_TEST(files_of_numpy_are_read)
{
    sal_error err = { 0 };
    sali_npy a = { 0 };
    double x[6];
    ck_ok(npy_read(temp_write("f.npy", numpy_fortran, sizeof numpy_fortran - 1), &a, &err), &err);
    ck_assert(a.ndim == 2 && a.shape[0] == 2 && a.shape[1] == 3 && a.count == 6);
    sali_npy_doubles(&a, x);
    for (int i = 0; i < 6; i++) {
        ck_assert(x[i] == i);
    }
    npy_free(&a);
    ck_ok(npy_read(temp_write("b.npy", numpy_big_endian, sizeof numpy_big_endian - 1), &a, &err),
          &err);
    sali_npy_doubles(&a, x);
    ck_assert(a.ndim == 1 && x[0] == 1.5 && x[1] == -2.25);
    npy_free(&a);
}
END_TEST

START_TEST(every_type_and_version_is_read)
{
    static const struct {
        const char *descr;
        const char *data;
        size_t size;
        double value;
    } cases[] = {
        { "|b1", "\x01", 1, 1 },
        { "|i1", "\xfe", 1, -2 },
        { "|u1", "\xfe", 1, 254 },
        { "<i2", "\xfe\xff", 2, -2 },
        { ">u2", "\x01\x02", 2, 258 },
        { "<i4", "\xff\xff\xff\xff", 4, -1 },
        { ">u4", "\xff\xff\xff\xff", 4, 4294967295.0 },
        { ">i8", "\xff\xff\xff\xff\xff\xff\xff\xfd", 8, -3 },
        { "<u8", "\x00\x00\x00\x00\x00\x00\x00\x80", 8, 0x1p63 },
        { "<f2", "\x66\x2e", 2, 0.0999755859375 },
        { "<f2", "\x01\x00", 2, 0x1p-24 },
        { ">f2", "\xfb\xff", 2, -65504 },
        { ">f4", "\xbf\x40\x00\x00", 4, -0.75 },
        { "<f8", "\x00\x00\x00\x00\x00\x00\xe8\xbf", 8, -0.75 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int version = 1; version <= 3; version++) {
            sal_error err = { 0 };
            sali_npy a = { 0 };
            char dict[100];
            double x = 42;
            snprintf(dict, sizeof dict, "{'descr':'%s','fortran_order':False,'shape':()}\n",
                     cases[i].descr);
            npy_bytes b = make_npy(version, dict, cases[i].data, cases[i].size);
            ck_ok(npy_parse("mem", b.data, b.size, &a, &err), &err);
            ck_assert_int_eq(a.ndim, 0);
            sali_npy_doubles(&a, &x);
            ck_assert_msg(x == cases[i].value, "%s: %g", cases[i].descr, x);
        }
    }
    ck_assert(isnan(sali_dtype_load(SALI_DTYPE_F16, (const unsigned char *)"\x01\x7c", 0)));
    ck_assert(sali_dtype_load(SALI_DTYPE_F16, (const unsigned char *)"\x00\xfc", 0) == -INFINITY);
}
END_TEST

START_TEST(dict_may_be_written_in_other_ways)
{
    static const char *const dicts[] = {
        "{\"shape\": (2L, 1L), \"fortran_order\": False, \"descr\": \"|u1\"}",
        "{'shape':(2 ,1,),'descr':'<u1' , 'fortran_order':True,} \n",
        " { 'descr' : '=u1', 'fortran_order' : False, 'shape' : ( 2,1 ) , } ",
    };
    for (size_t i = 0; i < sizeof dicts / sizeof *dicts; i++) {
        sal_error err = { 0 };
        sali_npy a = { 0 };
        npy_bytes b = make_npy(1, dicts[i], "\x05\x06", 2);
        double x[2];
        ck_ok(npy_parse("mem", b.data, b.size, &a, &err), &err);
        ck_assert(a.ndim == 2 && a.shape[0] == 2 && a.shape[1] == 1);
        sali_npy_doubles(&a, x);
        ck_assert(x[0] == 5 && x[1] == 6);
    }
}
END_TEST

START_TEST(bad_files_are_refused)
{
    static const struct {
        const char *dict;
        const char *message;
    } cases[] = {
        { "", "expected '{'" },
        { "{", "expected the key" },
        { "{}", "one is missing" },
        { "{'descr': '|u1', 'shape': (2,)}", "one is missing" },
        { "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", "type of a plain number" },
        { "{'descr': '|i4', 'fortran_order': False, 'shape': (2,)}", "type of a plain number" },
        { "{'descr': '<f16', 'fortran_order': False, 'shape': (2,)}", "type of a plain number" },
        { "{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", "found ''<c8'" },
        { "{'descr': '', 'fortran_order': False, 'shape': (2,)}", "type of a plain number" },
        { "{'descr': [('a', '<f4')], 'fortran_order': False}", "type of a plain number" },
        { "{'descr': '|u1', 'descr': '|u1'}", "each once" },
        { "{'descr': '|u1', 'other': 1}", "found ''other': 1" },
        { "{'descr' '|u1'}", "expected ':'" },
        { "{'descr': '|u1' 'shape': (2,)}", "expected ',' or '}'" },
        { "{'fortran_order': 0}", "True or False" },
        { "{'shape': 2}", "a tuple" },
        { "{'shape': (2)}", "expected ','" },
        { "{'shape': (2 3)}", "expected ','" },
        { "{'shape': (-2,)}", "a dimension" },
        { "{'shape': (2.0,)}", "expected ','" },
        { "{'shape': (,)}", "a dimension" },
        { "{'shape': (2,", "a dimension" },
        { "{'shape': (99999999999999999999,)}", "a dimension" },
        { "{'shape': (1,1,1,1,1)}", "at most 4" },
        { "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)} x", "nothing after" },
        { "{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}", "needs 3 bytes" },
        { "{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}", "needs 1 bytes" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,)}",
          "overflows" },
        { "{'descr': '|u1', 'fortran_order': False, 'shape': (0,4294967296,4294967296,4294967296)}",
          "overflows" },
    };
    sal_error err = { 0 };
    sali_npy a = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        npy_bytes b = make_npy(1, cases[i].dict, "ab", 2);
        ck_fails(npy_parse("mem", b.data, b.size, &a, &err), SAL_ERR_DATA, &err, cases[i].message);
        ck_assert_ptr_null(a.data);
    }
    npy_bytes b = make_npy(4, "{}", "", 0);
    ck_fails(npy_parse("mem", b.data, b.size, &a, &err), SAL_ERR_DATA, &err, "version 4.0");
    ck_fails(npy_parse("mem", "GIF89a and more", 15, &a, &err), SAL_ERR_DATA, &err,
             "not a .npy file");
    b = make_npy(1, "{}", "", 0);
    b.data[9] = 0xff;
    ck_fails(npy_parse("mem", b.data, b.size, &a, &err), SAL_ERR_DATA, &err,
             "should have 65282 bytes, but 2 are left");
    ck_fails(npy_read(temp_path("none.npy"), &a, &err), SAL_ERR_NOT_FOUND, &err, "none.npy");
    ck_fails(npy_read(temp_write("bad.npy", "x", 1), &a, &err), SAL_ERR_DATA, &err,
             "bad.npy: is not");
}
END_TEST

START_TEST(fortran_order_of_three_dimensions_is_turned)
{
    unsigned char data[24];
    for (int i = 0; i < 24; i++) { /* index (a, b, c) of (2, 3, 4) is at a + 2 b + 6 c */
        data[i] = (unsigned char)(100 * (i % 2) + 10 * (i / 2 % 3) + i / 6);
    }
    npy_bytes b =
        make_npy(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }", data, 24);
    sal_error err = { 0 };
    sali_npy array = { 0 };
    double x[24];
    ck_ok(npy_parse("mem", b.data, b.size, &array, &err), &err);
    sali_npy_doubles(&array, x);
    for (int i = 0; i < 24; i++) {
        ck_assert(x[i] == 100 * (i / 12) + 10 * (i / 4 % 3) + i % 4);
    }
}
END_TEST

START_TEST(written_arrays_read_back)
{
    static const double f8[6] = { 1, -2.5, 1e300, INFINITY, 0, 5e-324 };
    static const float f4[6] = { 1, -2.5f, 1e30f, -INFINITY, 0, 1e-45f };
    static const unsigned char u1[6] = { 0, 1, 2, 253, 254, 255 };
    static const int32_t i4[6] = { 0, 1, -1, INT32_MAX, INT32_MIN, 7 };
    static const struct {
        sali_dtype dtype;
        const void *data;
    } types[] = { { SALI_DTYPE_F64, f8 },
                  { SALI_DTYPE_F32, f4 },
                  { SALI_DTYPE_U8, u1 },
                  { SALI_DTYPE_I32, i4 } };
    static const int64_t shapes[][4] = { { 6 }, { 2, 3 }, { 1, 6, 1 }, { 3, 1, 2, 1 } };
    for (size_t t = 0; t < 4; t++) {
        for (int ndim = 1; ndim <= 4; ndim++) {
            sal_error err = { 0 };
            sali_npy a = { 0 };
            double x[6];
            const char *path = temp_path("a.npy");
            size_t bytes = 6 * (size_t)sali_dtype_bytes(types[t].dtype);
            ck_ok(sali_npy_write(path, types[t].dtype, ndim, shapes[ndim - 1], types[t].data, &err),
                  &err);
            sali_bytes file = { 0 };
            ck_ok(sali_file_read(path, &file, &err), &err);
            ck_ok(npy_parse(path, file.data, file.size, &a, &err), &err);
            ck_assert(a.dtype == types[t].dtype && a.ndim == ndim && a.count == 6);
            ck_assert_mem_eq(a.shape, shapes[ndim - 1], (size_t)ndim * sizeof *a.shape);
            ck_assert_int_eq((a.data - file.data) % 64, 0);
            ck_assert_int_eq(a.data[-1], '\n');
            ck_assert_mem_eq(a.data, types[t].data, bytes);
            sali_npy_doubles(&a, x);
            ck_assert(t != 0 || memcmp(x, f8, sizeof f8) == 0);
            sali_bytes_free(&file);
        }
    }
}
END_TEST

START_TEST(header_is_that_of_numpy)
{
    sal_error err = { 0 };
    sali_bytes file = { 0 };
    static const double x[2] = { 1, 2 };
    static const char want[] = "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, "
                               "'shape': (1, 2), }  ";
    ck_ok(sali_npy_write(temp_path("a.npy"), SALI_DTYPE_F64, 2, (const int64_t[]){ 1, 2 }, x, &err),
          &err);
    ck_ok(sali_file_read(temp_path("a.npy"), &file, &err), &err);
    ck_assert_int_eq(file.size, 128 + 16);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        ck_assert_mem_eq(file.data, want, sizeof want - 1);
    }
    sali_bytes_free(&file);
    ck_ok(sali_npy_write(temp_path("c.npy"), SALI_DTYPE_F64, 0, NULL, x, &err), &err);
    ck_ok(sali_file_read(temp_path("c.npy"), &file, &err), &err);
    ck_assert_ptr_nonnull(strstr((char *)file.data + 10, "'shape': (), }"));
    sali_bytes_free(&file);
}
END_TEST

START_TEST(unacceptable_arrays_are_not_written)
{
    sal_error err = { 0 };
    static const struct {
        sali_dtype dtype;
        int ndim;
        int64_t shape[2];
        const char *text;
    } cases[] = { { SALI_DTYPE_U8, 2, { 2, -1 }, "not a shape" },
                  { SALI_DTYPE_U8, 2, { INT64_MAX, 2 }, "not a shape" },
                  { SALI_DTYPE_U8, 5, { 1 }, "not a shape" },
                  { SALI_DTYPE_BF16, 1, { 1 }, "no type BF16" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_fails(sali_npy_write(temp_path("a.npy"), cases[i].dtype, cases[i].ndim, cases[i].shape,
                                "abc", &err),
                 SAL_ERR_ARGUMENT, &err, cases[i].text);
    }
    ck_fails(sali_npy_write(temp_path("no/a.npy"), SALI_DTYPE_U8, 0, NULL, "a", &err), SAL_ERR_IO,
             &err, "no/a.npy");
    ck_assert_int_eq(temp_count(), 0);
}
END_TEST

START_TEST(truncated_and_damaged_files_are_survived)
{
    temp_sweep(parse_npy, numpy_fortran, sizeof numpy_fortran - 1);
    temp_sweep(parse_npy, numpy_big_endian, sizeof numpy_big_endian - 1);
}
END_TEST

START_TEST(npy_survives_failing_allocations)
{
    sal_error err = { 0 };
    sali_npy a = { 0 };
    static const int64_t shape[1] = { 3 };
    ck_alloc_sweep(sali_npy_write(temp_path("a.npy"), SALI_DTYPE_U8, 1, shape, "abc", &err),
                   (void)0);
    ck_alloc_sweep(npy_read(temp_path("a.npy"), &a, &err), npy_free(&a));
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

START_TEST(reference_arrays_are_read)
{
    const char *path = test_data("reference/usps_conv_grad.npy");
    if (!path) {
        return;
    }
    sal_error err = { 0 };
    sali_npy a = { 0 };
    ck_ok(npy_read(path, &a, &err), &err);
    ck_assert(a.ndim == 2 && a.shape[0] == 8 && a.shape[1] == 256 && a.dtype == SALI_DTYPE_F64);
    npy_free(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_npy");
    TCase *tcase = tcase_create("npy");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, files_of_numpy_are_read);
    tcase_add_test(tcase, every_type_and_version_is_read);
    tcase_add_test(tcase, dict_may_be_written_in_other_ways);
    tcase_add_test(tcase, bad_files_are_refused);
    tcase_add_test(tcase, fortran_order_of_three_dimensions_is_turned);
    tcase_add_test(tcase, written_arrays_read_back);
    tcase_add_test(tcase, header_is_that_of_numpy);
    tcase_add_test(tcase, unacceptable_arrays_are_not_written);
    tcase_add_test(tcase, truncated_and_damaged_files_are_survived);
    tcase_add_test(tcase, npy_survives_failing_allocations);
    tcase_add_test(tcase, reference_arrays_are_read);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
