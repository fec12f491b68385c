/* SPDX-License-Identifier: MIT */
/* Compressed files: gzip, bzip2 and xz. */
#include "temp_dir.h"

#include <stdlib.h>

#include <saltus/io.h>
#include <saltus/program.h>
#include "alloc_fail.h"
#include "io/config.h"
#include "io/unpack.h"
#ifdef SALI_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef SALI_HAVE_BZIP2
#include <bzlib.h>
#endif
#ifdef SALI_HAVE_LZMA
#include <lzma.h>
#endif

/* "saltus", by gzip -n, bzip2 and xz. */
static const unsigned char by_gzip[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x2b, 0x4e, 0xcc,
    0x29, 0x29, 0x2d, 0x06, 0x00, 0x33, 0xa5, 0x6a, 0x21, 0x06, 0x00, 0x00, 0x00,
};
static const unsigned char by_bzip2[] = {
    0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x48, 0x94, 0xb2, 0xf0,
    0x00, 0x00, 0x01, 0x01, 0x80, 0x20, 0x04, 0x0e, 0x00, 0x20, 0x00, 0x21, 0x83, 0x41,
    0x9a, 0x0b, 0x21, 0x8e, 0x2e, 0xe4, 0x8a, 0x70, 0xa1, 0x20, 0x91, 0x29, 0x65, 0xe0,
};
static const unsigned char by_xz[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01,
    0x1c, 0x00, 0x00, 0x00, 0x10, 0xcf, 0x58, 0xcc, 0x01, 0x00, 0x05, 0x73, 0x61, 0x6c, 0x74, 0x75,
    0x73, 0x00, 0x00, 0x00, 0x7b, 0x13, 0xf9, 0x5d, 0x89, 0xbf, 0x0c, 0x5a, 0x00, 0x01, 0x1e, 0x06,
    0xc1, 0x2f, 0xa4, 0x1d, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
};

/* Compress as `packing` does; returns the size, within `room`. */
static size_t pack_gzip(const void *data, size_t size, unsigned char *out, size_t room)
{
#ifdef SALI_HAVE_ZLIB
    z_stream z = { .next_in = (Bytef *)data, .avail_in = (uInt)size, .next_out = out };
    z.avail_out = (uInt)room;
    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
#else
    (void)data;
    (void)out;
    return size + room;
#endif
}

static size_t pack_bzip2(const void *data, size_t size, unsigned char *out, size_t room)
{
#ifdef SALI_HAVE_BZIP2
    unsigned n = (unsigned)room;
    ck_assert_int_eq(
        BZ2_bzBuffToBuffCompress((char *)out, &n, (char *)data, (unsigned)size, 9, 0, 0), BZ_OK);
    return n;
#else
    (void)data;
    (void)out;
    return size + room;
#endif
}

static size_t pack_xz(const void *data, size_t size, unsigned char *out, size_t room)
{
#ifdef SALI_HAVE_LZMA
    size_t n = 0;
    ck_assert_int_eq(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, data, size, out, &n, room),
                     LZMA_OK);
    return n;
#else
    (void)data;
    (void)out;
    return size + room;
#endif
}

static const struct {
    const sali_packing *packing;
    const unsigned char *saltus;
    int64_t size;
    int64_t flip; /* a byte that makes no sense when a bit of it is turned */
    size_t (*pack)(const void *, size_t, unsigned char *, size_t);
} methods[] = {
    { &sali_packing_gzip, by_gzip, sizeof by_gzip, 18, pack_gzip },
    { &sali_packing_bzip2, by_bzip2, sizeof by_bzip2, 11, pack_bzip2 },
    { &sali_packing_xz, by_xz, sizeof by_xz, 30, pack_xz },
};

#define METHODS ((int)(sizeof methods / sizeof *methods))

static const sali_packing *now; /* for parse */

static sal_status unpack(const void *data, int64_t size, int64_t most, sali_bytes *out,
                         sal_error *err)
{
    return sali_unpack(now, "f", data, size, most, out, err);
}

static sal_status parse(const void *data, int64_t size, sal_error *err)
{
    sali_bytes bytes = { 0 };
    sal_status status = unpack(data, size, 1000, &bytes, err);
    sali_bytes_free(&bytes);
    return status;
}

/* Whether the library of method _i is there; if not, its files are refused. */
static bool is_built(int method)
{
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    now = methods[method].packing;
    if (!now->open) {
        const char *path = temp_write("a", methods[method].saltus, (size_t)methods[method].size);
        ck_fails(sali_file_read_unpacked(path, 6, &bytes, &err), SAL_ERR_UNSUPPORTED, &err,
                 now->library);
    }
    return now->open != NULL;
}

START_TEST(compressed_files_are_read_and_streams_are_joined)
{
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    const int64_t n = methods[_i].size;
    const unsigned char *data = methods[_i].saltus;
    if (!is_built(_i)) {
        return;
    }
    ck_assert_ptr_eq(sali_packing_of(data, n), now);
    ck_ok(sali_file_read_unpacked(temp_write("a", data, (size_t)n), 6, &bytes, &err), &err);
    ck_assert_str_eq((char *)bytes.data, "saltus");
    sali_bytes_free(&bytes);
    unsigned char two[200];
    memcpy(two, data, (size_t)n);
    memcpy(two + n, data, (size_t)n);
    ck_ok(unpack(two, 2 * n, 100, &bytes, &err), &err);
    ck_assert_str_eq((char *)bytes.data, "saltussaltus");
    sali_bytes_free(&bytes);
    ck_fails(unpack(two, 2 * n, 11, &bytes, &err), SAL_ERR_DATA, &err, "more than 11 bytes");
    ck_fails(unpack(two, 2 * n - 1, 100, &bytes, &err), SAL_ERR_DATA, &err, "too early");
}
END_TEST

START_TEST(damaged_streams_are_refused)
{
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    const int64_t n = methods[_i].size;
    unsigned char data[100] = { 0 };
    if (!is_built(_i)) {
        return;
    }
    memcpy(data, methods[_i].saltus, (size_t)n);
    ck_fails(unpack(data, n + 1, 100, &bytes, &err), SAL_ERR_DATA, &err,
             now == &sali_packing_xz ? "damaged" : "something follows");
    ck_fails(unpack(data, n - 6, 100, &bytes, &err), SAL_ERR_DATA, &err,
             "f: the compressed data "
             "ends too early");
    ck_fails(unpack(data, n, 5, &bytes, &err), SAL_ERR_DATA, &err, "more than 5 bytes");
    data[methods[_i].flip] ^= 1;
    ck_fails(unpack(data, n, 100, &bytes, &err), SAL_ERR_DATA, &err,
             "the compressed data is damaged: ");
    ck_assert_ptr_null(bytes.data);
    temp_sweep(parse, methods[_i].saltus, n);
}
END_TEST

START_TEST(a_decompression_bomb_stops_at_the_limit)
{
    const size_t size = 1 << 26, room = 1 << 20;
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    if (!is_built(_i)) {
        return;
    }
    unsigned char *zeros = calloc(size, 1), *out = malloc(room);
    ck_assert(zeros && out);
    const size_t n = methods[_i].pack(zeros, size, out, room);
    const char *path = temp_write("bomb", out, n);
    free(zeros);
    free(out);
    ck_fails(sali_file_read_unpacked(path, (int64_t)size - 1, &bytes, &err), SAL_ERR_DATA, &err,
             "more than 67108863 bytes");
    ck_ok(sali_file_read_unpacked(path, (int64_t)size, &bytes, &err), &err);
    ck_assert_int_eq(bytes.size, (int64_t)size);
    sali_bytes_free(&bytes);
    ck_alloc_sweep(sali_file_read_unpacked(path, (int64_t)size, &bytes, &err),
                   sali_bytes_free(&bytes));
}
END_TEST

/* A hostile header may ask for gigabytes before the first byte comes. */
START_TEST(xz_may_ask_for_256_MiB_at_most)
{
#ifdef SALI_HAVE_LZMA
    static unsigned char out[1000];
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    lzma_options_lzma options;
    lzma_lzma_preset(&options, 1);
    options.dict_size = 1 << 29;
    lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &options }, { LZMA_VLI_UNKNOWN, NULL } };
    size_t n = 0;
    ck_assert_int_eq(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL,
                                               (const uint8_t *)"saltus", 6, out, &n, sizeof out),
                     LZMA_OK);
    now = &sali_packing_xz;
    ck_fails(unpack(out, (int64_t)n, 100, &bytes, &err), SAL_ERR_DATA, &err, "256 MiB of memory");
#else
    test_skipped("built without liblzma");
#endif
}
END_TEST

START_TEST(files_that_are_not_compressed_are_read_as_they_are)
{
    static const char *const texts[] = { "text",
                                         "",
                                         "B",
                                         "BZ",
                                         "\x1f",
                                         "\xfd"
                                         "7zXZ" };
    sal_error err = { 0 };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        sali_bytes bytes = { 0 };
        const char *path = temp_write("plain", texts[k], strlen(texts[k]));
        ck_ok(sali_file_read_unpacked(path, 2, &bytes, &err), &err);
        ck_assert_str_eq((char *)bytes.data, texts[k]);
        sali_bytes_free(&bytes);
    }
}
END_TEST

START_TEST(suffixes_of_compression_do_not_count)
{
    sal_error err = { 0 };
    sal_format_info info = { 0 };
    for (int k = 0; k < METHODS; k++) {
        char name[40];
        snprintf(name, sizeof name, "a.gset%s", methods[k].packing->suffix);
        ck_assert_uint_eq(sali_unpacked_length(name), 6);
        /* Not compressed in spite of its name; as rows of numbers it would be a table. */
        ck_ok(sal_format_find(temp_write(name, "2 1\n1 2 1\n", 10), &info, &err), &err);
        ck_assert_str_eq(info.name, "gset");
    }
    ck_assert_uint_eq(sali_unpacked_length(".gz"), 3);
    ck_assert_uint_eq(sali_unpacked_length("a.gz.b"), 6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_unpack");
    TCase *tcase = tcase_create("unpack");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_loop_test(tcase, compressed_files_are_read_and_streams_are_joined, 0, METHODS);
    tcase_add_loop_test(tcase, damaged_streams_are_refused, 0, METHODS);
    tcase_add_loop_test(tcase, a_decompression_bomb_stops_at_the_limit, 0, METHODS);
    tcase_add_test(tcase, xz_may_ask_for_256_MiB_at_most);
    tcase_add_test(tcase, files_that_are_not_compressed_are_read_as_they_are);
    tcase_add_test(tcase, suffixes_of_compression_do_not_count);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
