/* SPDX-License-Identifier: MIT */
/* Named tensors. */
#include "temp_dir.h"

#include <math.h>

#include "alloc_fail.h"
#include "io/file.h"
#include "io/arrays/safetensors.h"

/* A file of a header and data. */
typedef struct tensor_bytes {
    unsigned char data[1024];
    int64_t size;
} tensor_bytes;

static tensor_bytes make_file(const char *header, const void *data, size_t size)
{
    tensor_bytes b = { { 0 }, 0 };
    size_t length = strlen(header);
    b.data[0] = (unsigned char)length;
    b.data[1] = (unsigned char)(length >> 8);
    memcpy(b.data + 8, header, length);
    memcpy(b.data + 8 + length, data, size);
    b.size = (int64_t)(8 + length + size);
    return b;
}

static sal_status parse_tensors(const void *data, int64_t size, sal_error *err)
{
    sali_safetensors *file = NULL;
    sal_status status = sali_safetensors_parse("mem", data, size, &file, err);
    for (int64_t i = 0; file && i < sali_safetensors_count(file); i++) {
        const sali_tensor *t = sali_safetensors_at(file, i);
        double *x = malloc((size_t)t->count * sizeof *x + 1);
        sali_tensor_doubles(t, x);
        free(x);
    }
    sali_safetensors_close(file);
    return status;
}

static const char two_header[] =
    "{\"__metadata__\":{\"note\":\"x\"},"
    "\"b\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[4,12]},"
    "\"a\":{\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[0,4]}}   ";
static const char two_data[] = "\x01\x00\xff\xff\x00\x00\x80\x3f\x00\x00\x00\xc0";

START_TEST(tensors_come_by_place_and_by_name)
{
    tensor_bytes b = make_file(two_header, two_data, 12);
    sal_error err = { 0 };
    sali_safetensors *file = NULL;
    double x[2];
    double y[2];
    ck_ok(sali_safetensors_open(temp_write("a", b.data, (size_t)b.size), &file, &err), &err);
    ck_assert_int_eq(sali_safetensors_count(file), 2);
    const sali_tensor *t = sali_safetensors_at(file, 0);
    ck_assert_str_eq(t->name, "a");
    ck_assert(t->dtype == SALI_DTYPE_I16 && t->ndim == 1 && t->shape[0] == 2 && t->count == 2);
    sali_tensor_doubles(t, x);
    ck_assert(x[0] == 1 && x[1] == -1);
    t = sali_safetensors_find(file, "b");
    ck_assert_ptr_eq(t, sali_safetensors_at(file, 1));
    ck_assert(t->ndim == 2 && t->shape[0] == 2 && t->shape[1] == 1);
    sali_tensor_doubles(t, y);
    ck_assert(y[0] == 1 && y[1] == -2);
    ck_assert_ptr_null(sali_safetensors_find(file, "__metadata__"));
    sali_safetensors_close(file);
    sali_safetensors_close(NULL);
}
END_TEST

/* The zip file and the older pickle; a zip file of something else is none of them. A header of 640
 * bytes begins as a pickle does. */
START_TEST(files_of_torch_save_are_told)
{
    static const char zip[] = "PK\3\4\0\0\10\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20\0\22\0"
                              "archive/data.pkl";
    static const char pickle[] = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";
    const char *one_line = "torch.load(\"mem\", map_location=\"cpu\"), \"model.safetensors\")'";
    sal_error err = { 0 };
    ck_fails(parse_tensors(zip, sizeof zip - 1, &err), SAL_ERR_DATA, &err, one_line);
    ck_fails(parse_tensors(pickle, sizeof pickle - 1, &err), SAL_ERR_DATA, &err, one_line);
    ck_fails(parse_tensors(zip, sizeof zip - 2, &err), SAL_ERR_DATA, &err, "not a safetensors");
    tensor_bytes b = make_file("{}", "", 0);
    b.data[0] = 0x80;
    b.data[1] = 2;
    memset(b.data + 10, ' ', 638);
    b.size = 8 + 640;
    ck_ok(parse_tensors(b.data, b.size, &err), &err);
}
END_TEST

START_TEST(every_type_is_read)
{
    static const struct {
        const char *dtype;
        const char *data;
        int size;
        double value;
    } cases[] = {
        { "BOOL", "\x01", 1, 1 },
        { "I8", "\xfe", 1, -2 },
        { "U8", "\xfe", 1, 254 },
        { "I16", "\xfe\xff", 2, -2 },
        { "U16", "\xfe\xff", 2, 65534 },
        { "I32", "\xfe\xff\xff\xff", 4, -2 },
        { "U32", "\xfe\xff\xff\xff", 4, 4294967294.0 },
        { "I64", "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, -2 },
        { "U64", "\x00\x00\x00\x00\x00\x00\x00\x80", 8, 0x1p63 },
        { "F16", "\x00\xc0", 2, -2 },
        { "BF16", "\x40\xbf", 2, -0.75 },
        { "F32", "\x00\x00\x40\xbf", 4, -0.75 },
        { "F64", "\x00\x00\x00\x00\x00\x00\xe8\xbf", 8, -0.75 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[200];
        snprintf(header, sizeof header,
                 "{\"t\":{\"dtype\":\"%s\",\"shape\":[],\"data_offsets\":[0,%d]}}", cases[i].dtype,
                 cases[i].size);
        tensor_bytes b = make_file(header, cases[i].data, (size_t)cases[i].size);
        sal_error err = { 0 };
        sali_safetensors *file = NULL;
        double x = 42;
        ck_ok(sali_safetensors_parse("mem", b.data, b.size, &file, &err), &err);
        sali_tensor_doubles(sali_safetensors_at(file, 0), &x);
        ck_assert_msg(x == cases[i].value, "%s: %g", cases[i].dtype, x);
        sali_safetensors_close(file);
    }
}
END_TEST

START_TEST(empty_files_and_empty_tensors_are_read)
{
    sal_error err = { 0 };
    sali_safetensors *file = NULL;
    tensor_bytes b = make_file("{}", "", 0);
    ck_ok(sali_safetensors_parse("mem", b.data, b.size, &file, &err), &err);
    ck_assert_int_eq(sali_safetensors_count(file), 0);
    sali_safetensors_close(file);
    b = make_file("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                  "\"b\":{\"dtype\":\"F64\",\"shape\":[3,0],\"data_offsets\":[0,0]}}",
                  "xy", 2);
    ck_ok(sali_safetensors_parse("mem", b.data, b.size, &file, &err), &err);
    ck_assert_int_eq(sali_safetensors_find(file, "b")->count, 0);
    sali_safetensors_close(file);
}
END_TEST

START_TEST(bad_files_are_refused)
{
#define T(name, rest) "{\"" name "\":{" rest "}}"
#define U8 "\"dtype\":\"U8\","
    static const struct {
        const char *header;
        const char *message;
    } cases[] = {
        { "", "expected a JSON object" },
        { "[]", "expected a JSON object" },
        { "{\"a\":", "expected a JSON object" },
        { "{} x", "expected a JSON object" },
        { "{\"a\":1}", "tensor 'a': expected a JSON object" },
        { "{\"__metadata__\":1}", "\"__metadata__\"" },
        { "{\"__metadata__\":{\"a\":1}}", "\"__metadata__\"" },
        { T("a", "\"shape\":[2],\"data_offsets\":[0,2]"), "expected a \"dtype\"" },
        { T("a", "\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[0,2]"), "\"dtype\"" },
        { T("a", "\"dtype\":8,\"shape\":[2],\"data_offsets\":[0,2]"), "\"dtype\"" },
        { T("a", U8 "\"data_offsets\":[0,2]"), "\"shape\"" },
        { T("a", U8 "\"shape\":2,\"data_offsets\":[0,2]"), "\"shape\"" },
        { T("a", U8 "\"shape\":[-2],\"data_offsets\":[0,2]"), "none negative" },
        { T("a", U8 "\"shape\":[2.0],\"data_offsets\":[0,2]"), "whole numbers" },
        { T("a", U8 "\"shape\":[1,1,1,1,1,1,1,1,2],\"data_offsets\":[0,2]"), "at most 8" },
        { T("a", U8 "\"shape\":[4294967296,4294967296],\"data_offsets\":[0,2]"), "overflows" },
        { T("a", U8 "\"shape\":[99999999999999999999],\"data_offsets\":[0,2]"), "too big" },
        { T("a", U8 "\"shape\":[2]"), "\"data_offsets\" of two" },
        { T("a", U8 "\"shape\":[2],\"data_offsets\":[0]"), "\"data_offsets\" of two" },
        { T("a", U8 "\"shape\":[2],\"data_offsets\":[0,\"2\"]"), "\"data_offsets\" of two" },
        { T("a", U8 "\"shape\":[2],\"data_offsets\":[0,3]"), "not a range within" },
        { T("a", U8 "\"shape\":[2],\"data_offsets\":[2,0]"), "not a range within" },
        { T("a", U8 "\"shape\":[2],\"data_offsets\":[-2,0]"), "not a range within" },
        { T("a", U8 "\"shape\":[1],\"data_offsets\":[0,2]"), "do not fit" },
        { T("a", U8 "\"shape\":[1],\"data_offsets\":[0,1]"), "belong to no tensor" },
        { T("a", U8 "\"shape\":[1],\"data_offsets\":[1,2]"), "bytes before its data" },
        { "{}", "2 bytes at the end" },
        { "{\"a\":{" U8 "\"shape\":[2],\"data_offsets\":[0,2]},"
          "\"b\":{" U8 "\"shape\":[1],\"data_offsets\":[1,2]}}",
          "tensor 'b': its data overlap" },
        { "{\"a\":{" U8 "\"shape\":[1],\"data_offsets\":[0,1]},"
          "\"a\":{" U8 "\"shape\":[1],\"data_offsets\":[1,2]}}",
          "duplicate" },
        { T("a\\u0000b", U8 "\"shape\":[2],\"data_offsets\":[0,2]"), "expected a JSON object" },
    };
    sal_error err = { 0 };
    sali_safetensors *file = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tensor_bytes b = make_file(cases[i].header, "xy", 2);
        ck_fails(sali_safetensors_parse("mem", b.data, b.size, &file, &err), SAL_ERR_DATA, &err,
                 cases[i].message);
        ck_assert_ptr_null(file);
    }
    ck_fails(sali_safetensors_parse("mem", "1234567", 7, &file, &err), SAL_ERR_DATA, &err,
             "shorter than 8 bytes");
    ck_fails(sali_safetensors_parse("mem", "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, &file, &err),
             SAL_ERR_DATA, &err, "18446744073709551615 bytes, but 2 are left");
    static const char potts[] = "J 0 1 A C 0.25\nh 0 A 0.5\n";
    ck_fails(sali_safetensors_parse("mem", potts, sizeof potts - 1, &file, &err), SAL_ERR_DATA,
             &err, "mem: holds the parameters of a whole Potts model");
    ck_fails(sali_safetensors_open(temp_path("none"), &file, &err), SAL_ERR_NOT_FOUND, &err,
             "none");
    ck_fails(sali_safetensors_open(temp_dir, &file, &err), SAL_ERR_NOT_FOUND, &err, "a directory");
}
END_TEST

START_TEST(deep_json_is_refused)
{
    static char text[8 + 100000];
    memset(text, '[', sizeof text);
    memcpy(text, "\xa0\x86\x01\0\0\0\0\0", 8);
    sal_error err = { 0 };
    sali_safetensors *file = NULL;
    ck_fails(sali_safetensors_parse("mem", text, sizeof text, &file, &err), SAL_ERR_DATA, &err,
             "depth");
}
END_TEST

static const float w[6] = { 1, -2, 0.5f, 3, 1e-30f, INFINITY };
static const double bias = 0.1;
static const sali_tensor tensors[2] = {
    { .name = "net.0.weight", .dtype = SALI_DTYPE_F32, .ndim = 2, .shape = { 2, 3 }, .data = w },
    { .name = "b\xc3\xa9\"", .dtype = SALI_DTYPE_F64, .ndim = 0, .data = &bias },
};
START_TEST(written_tensors_read_back)
{
    sal_error err = { 0 };
    sali_safetensors *file = NULL;
    const char *path = temp_path("a.safetensors");
    ck_ok(sali_safetensors_write(path, tensors, 2, &err), &err);
    ck_ok(sali_safetensors_open(path, &file, &err), &err);
    ck_assert_int_eq(sali_safetensors_count(file), 2);
    const sali_tensor *t = sali_safetensors_find(file, "net.0.weight");
    double x[6];
    sali_tensor_doubles(t, x);
    ck_assert(t->ndim == 2 && t->shape[0] == 2 && t->shape[1] == 3);
    for (int i = 0; i < 6; i++) {
        ck_assert(x[i] == w[i]);
    }
    double y;
    sali_tensor_doubles(sali_safetensors_find(file, tensors[1].name), &y);
    ck_assert(y == bias);
    ck_assert_int_eq((uintptr_t)t->data % 8, 0);
    sali_safetensors_close(file);
    ck_ok(sali_safetensors_write(path, NULL, 0, &err), &err);
    ck_ok(sali_safetensors_open(path, &file, &err), &err);
    ck_assert_int_eq(sali_safetensors_count(file), 0);
    sali_safetensors_close(file);
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

START_TEST(unacceptable_tensors_are_not_written)
{
    sal_error err = { 0 };
    const char *path = temp_path("a");
    sali_tensor t[2] = { tensors[0], tensors[0] };
    ck_fails(sali_safetensors_write(path, t, 2, &err), SAL_ERR_ARGUMENT, &err, "taken");
    t[0].name = "__metadata__";
    ck_fails(sali_safetensors_write(path, t, 1, &err), SAL_ERR_ARGUMENT, &err, "taken");
    t[0].name = "\xff";
    ck_fails(sali_safetensors_write(path, t, 1, &err), SAL_ERR_ARGUMENT, &err, "UTF-8");
    t[0] = tensors[0];
    t[0].shape[0] = INT64_MAX / 4;
    ck_fails(sali_safetensors_write(path, t, 1, &err), SAL_ERR_ARGUMENT, &err, "64 bits");
    ck_fails(sali_safetensors_write(temp_path("no/a"), tensors, 1, &err), SAL_ERR_IO, &err, "no/a");
    ck_assert_int_eq(temp_count(), 0);
}
END_TEST

START_TEST(truncated_and_damaged_files_are_survived)
{
    tensor_bytes b = make_file(two_header, two_data, 12);
    temp_sweep(parse_tensors, b.data, b.size);
}
END_TEST

/* Whether the bytes are a file of the two tensors, as they are above. */
static bool hold_both(const void *data, int64_t size)
{
    sali_safetensors *file = NULL;
    sal_error err;
    if (sali_safetensors_parse("mem", data, size, &file, &err) != SAL_OK) {
        return false;
    }
    ck_assert_int_eq(sali_safetensors_count(file), 2);
    for (int k = 0; k < 2; k++) {
        const sali_tensor *t = sali_safetensors_find(file, tensors[k].name);
        ck_assert(t && t->dtype == tensors[k].dtype && t->ndim == tensors[k].ndim);
        ck_assert_mem_eq(t->shape, tensors[k].shape, sizeof t->shape);
        const int bytes = sali_dtype_bytes(t->dtype);
        for (int64_t i = 0; i < t->count; i++) {
            const unsigned char *own = tensors[k].data, *read = t->data;
            const double x = sali_dtype_load(t->dtype, read + i * bytes, 0);
            ck_assert(x == sali_dtype_load(t->dtype, own + i * bytes, SALI_BIG_ENDIAN));
        }
    }
    sali_safetensors_close(file);
    return true;
}

/* Each bit of a file of this library, one at a time: the tensors are the same or refused. */
START_TEST(damaged_bits_are_noticed)
{
    char *bytes = NULL;
    int64_t size = 0, same = 0;
    sal_error err;
    ck_ok(sali_safetensors_format(tensors, 2, &bytes, &size, &err), &err);
    ck_assert(hold_both(bytes, size));
    for (int64_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        same += hold_both(bytes, size);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
    }
    ck_assert_int_lt(same, 8 * 40); /* in the checksum's name and in blanks */
    free(bytes);
}
END_TEST

/* A checksum of other tensors, as of a program that keeps what it does not know, is refused; one of
 * the same tensors in another order and with other spaces is not. */
START_TEST(a_checksum_is_that_of_the_tensors)
{
    static const char other[] = "{\"a\":{\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[0,4]},"
                                "\"__metadata__\":{\"saltus_checksum\":\"0123456789abcdef\"}}";
    static const char key[] = "saltus_checksum\":\"";
    char header[400], *bytes = NULL, sum[17] = "";
    int64_t size = 0;
    sal_error err;
    tensor_bytes b = make_file(other, two_data, 4);
    ck_fails(parse_tensors(b.data, b.size, &err), SAL_ERR_DATA, &err, "the file is damaged");
    ck_ok(sali_safetensors_format(tensors, 2, &bytes, &size, &err), &err);
    memcpy(sum, strstr(bytes + 8, key) + strlen(key), 16);
    snprintf(header, sizeof header,
             "{ \"__metadata__\": {\"by\": \"me\", \"saltus_checksum\": \"%s\"}, "
             "\"b\xc3\xa9\\\"\": {\"dtype\": \"F64\", \"shape\": [], \"data_offsets\": [24, 32]}, "
             "\"net.0.weight\": {\"data_offsets\": [0, 24], \"shape\": [2, 3], \"dtype\": "
             "\"F32\"}}",
             sum);
    b = make_file(header, bytes + size - 32, 32);
    ck_assert(hold_both(b.data, b.size));
    memcpy(strstr((char *)b.data + 8, "[2, 3]"), "[3, 2]", 6);
    ck_fails(parse_tensors(b.data, b.size, &err), SAL_ERR_DATA, &err, "the file is damaged");
    free(bytes);
}
END_TEST

START_TEST(safetensors_survive_failing_allocations)
{
    sal_error err = { 0 };
    sali_safetensors *file = NULL;
    const char *path = temp_path("a");
    ck_alloc_sweep(sali_safetensors_write(path, tensors, 2, &err), (void)0);
    ck_alloc_sweep(sali_safetensors_open(path, &file, &err), sali_safetensors_close(file));
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

START_TEST(networks_of_pytorch_are_read)
{
    const char *path = test_data("reference/mnist_conv.safetensors");
    if (!path) {
        return;
    }
    sal_error err = { 0 };
    sali_safetensors *file = NULL;
    ck_ok(sali_safetensors_open(path, &file, &err), &err);
    const sali_tensor *t = sali_safetensors_find(file, "net.0.weight");
    ck_assert_ptr_nonnull(t);
    ck_assert(t->dtype == SALI_DTYPE_F32 && t->ndim == 4 && t->shape[0] == 8 && t->shape[3] == 3);
    sali_safetensors_close(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_safetensors");
    TCase *tcase = tcase_create("safetensors");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, tensors_come_by_place_and_by_name);
    tcase_add_test(tcase, files_of_torch_save_are_told);
    tcase_add_test(tcase, every_type_is_read);
    tcase_add_test(tcase, empty_files_and_empty_tensors_are_read);
    tcase_add_test(tcase, bad_files_are_refused);
    tcase_add_test(tcase, deep_json_is_refused);
    tcase_add_test(tcase, written_tensors_read_back);
    tcase_add_test(tcase, unacceptable_tensors_are_not_written);
    tcase_add_test(tcase, truncated_and_damaged_files_are_survived);
    tcase_add_test(tcase, damaged_bits_are_noticed);
    tcase_add_test(tcase, a_checksum_is_that_of_the_tensors);
    tcase_add_test(tcase, safetensors_survive_failing_allocations);
    tcase_add_test(tcase, networks_of_pytorch_are_read);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
