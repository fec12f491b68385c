/* SPDX-License-Identifier: MIT */
/* PNG pictures, read back by libpng itself. */
#include "temp_dir.h"

#include <math.h>

#include "alloc_fail.h"
#include "io/config.h"
#include "io/arrays/png.h"

#ifdef SALI_HAVE_PNG
#include <png.h>
#include <signal.h>
#include <sys/resource.h>

/* The grey pixels of a file into `out`. */
static void read_png(const char *path, int height, int width, uint8_t *out)
{
    png_image image = { .version = PNG_IMAGE_VERSION };
    ck_assert(png_image_begin_read_from_file(&image, path));
    ck_assert_int_eq(image.format, PNG_FORMAT_GRAY);
    ck_assert_int_eq((int)image.height, height);
    ck_assert_int_eq((int)image.width, width);
    ck_assert(png_image_finish_read(&image, NULL, out, 0, NULL));
}

START_TEST(pixels_read_back)
{
    uint8_t pixels[3 * 5];
    uint8_t back[3 * 5];
    for (int i = 0; i < 15; i++) {
        pixels[i] = (uint8_t)(17 * i);
    }
    sal_error err = { 0 };
    ck_ok(sali_png_write(temp_path("a.png"), pixels, 3, 5, &err), &err);
    read_png(temp_path("a.png"), 3, 5, back);
    ck_assert_mem_eq(back, pixels, sizeof pixels);
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST

START_TEST(sheet_has_borders_and_zoom)
{
    /* Three images of 1 x 2 in two columns, each pixel twice as large. */
    static const double images[3][2] = { { 0, 1 }, { 0.2, NAN }, { -7, 1e9 } };
    static const uint8_t want[7][11] = {
        { 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128 },
        { 128, 0, 0, 255, 255, 128, 51, 51, 0, 0, 128 },
        { 128, 0, 0, 255, 255, 128, 51, 51, 0, 0, 128 },
        { 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128 },
        { 128, 0, 0, 255, 255, 128, 128, 128, 128, 128, 128 },
        { 128, 0, 0, 255, 255, 128, 128, 128, 128, 128, 128 },
        { 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128 },
    };
    uint8_t back[7][11];
    sal_error err = { 0 };
    sali_png_layout layout = { .zoom = 2 };
    ck_ok(sali_png_sheet(temp_path("a.png"), images[0], 3, 1, 2, &layout, &err), &err);
    read_png(temp_path("a.png"), 7, 11, back[0]);
    ck_assert_mem_eq(back, want, sizeof want);
    layout = (sali_png_layout){ .columns = 100 };
    ck_ok(sali_png_sheet(temp_path("a.png"), images[0], 3, 1, 2, &layout, &err), &err);
    read_png(temp_path("a.png"), 3, 10, back[0]);
    ck_ok(sali_png_sheet(temp_path("a.png"), images[0], 3, 1, 2, NULL, &err), &err);
    read_png(temp_path("a.png"), 5, 7, back[0]);
}
END_TEST

START_TEST(failed_write_is_an_error_and_leaves_nothing)
{
    enum { SIDE = 300 };
    static uint8_t noise[SIDE * SIDE];
    uint32_t x = 1;
    for (int i = 0; i < SIDE * SIDE; i++) {
        x = x * 1664525 + 1013904223;
        noise[i] = (uint8_t)(x >> 24);
    }
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    struct rlimit limit = { 1000, before.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    sal_error err = { 0 };
    sal_status status = sali_png_write(temp_path("a.png"), noise, SIDE, SIDE, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(status, SAL_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, "cannot be written"));
    ck_assert_int_eq(temp_count(), 0);
}
END_TEST

START_TEST(png_survives_failing_allocations)
{
    sal_error err = { 0 };
    static const double images[2] = { 0, 1 };
    ck_alloc_sweep(sali_png_sheet(temp_path("a"), images, 2, 1, 1, NULL, &err), (void)0);
    ck_assert_int_eq(temp_count(), 1);
}
END_TEST
#else
START_TEST(png_is_unsupported_without_libpng)
{
    sal_error err = { 0 };
    static const double images[2] = { 0, 1 };
    ck_fails(sali_png_sheet(temp_path("a"), images, 2, 1, 1, NULL, &err), SAL_ERR_UNSUPPORTED, &err,
             "libpng");
    ck_assert_int_eq(temp_count(), 0);
}
END_TEST

START_TEST(png_files_are_right)
{
    test_skipped("built without libpng");
}
END_TEST
#endif

START_TEST(impossible_sheets_are_refused)
{
    sal_error err = { 0 };
    double x[4] = { 0 };
    const char *path = temp_path("a");
    static const struct {
        int64_t n, height, width, columns, zoom;
    } cases[] = {
        { 0, 1, 1, 0, 0 },      { -1, 1, 1, 0, 0 },        { 1, 0, 1, 0, 0 },
        { 1, 1, -1, 0, 0 },     { 1, INT64_MAX, 1, 0, 0 }, { 1, 1, 1, -1, 0 },
        { 1, 1, 1, 0, -1 },     { 1, 1, 1, 0, INT64_MAX }, { 1, 1, 1, 0, 1000000 },
        { 4, 1, 1, 1, 300000 }, { INT64_MAX, 1, 1, 0, 0 }, { 1, 1000000, 1, 0, 1000000 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sali_png_layout layout = { cases[i].columns, cases[i].zoom };
        ck_fails(
            sali_png_sheet(path, x, cases[i].n, cases[i].height, cases[i].width, &layout, &err),
            SAL_ERR_ARGUMENT, &err, "expected 1 to 1000000");
    }
    ck_assert_int_eq(temp_count(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io_png");
    TCase *tcase = tcase_create("png");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
#ifdef SALI_HAVE_PNG
    tcase_add_test(tcase, pixels_read_back);
    tcase_add_test(tcase, sheet_has_borders_and_zoom);
    tcase_add_test(tcase, failed_write_is_an_error_and_leaves_nothing);
    tcase_add_test(tcase, png_survives_failing_allocations);
#else
    tcase_add_test(tcase, png_is_unsupported_without_libpng);
    tcase_add_test(tcase, png_files_are_right);
#endif
    tcase_add_test(tcase, impossible_sheets_are_refused);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
