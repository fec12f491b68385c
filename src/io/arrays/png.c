/* SPDX-License-Identifier: MIT */
#include "io/arrays/png.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/config.h"
#include "io/file.h"

#define MAX_SIDE 1000000 /* the default limit of libpng */

/* SAL_ERR_ARGUMENT unless both sides are 1 to MAX_SIDE pixels. */
static sal_status check_sides(const char *path, int64_t height, int64_t width, sal_error *err)
{
    if (height < 1 || width < 1 || height > MAX_SIDE || width > MAX_SIDE) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: a picture of %lld x %lld pixels; expected 1 to %d on each side", path,
                         (long long)height, (long long)width, MAX_SIDE);
    }
    return SAL_OK;
}

#ifdef SALI_HAVE_PNG
#include <png.h>

sal_status sali_png_write(const char *path, const uint8_t *pixels, int64_t height, int64_t width,
                          sal_error *err)
{
    sali_output out = { 0 };
    png_image image = { .version = PNG_IMAGE_VERSION,
                        .width = (png_uint_32)width,
                        .height = (png_uint_32)height,
                        .format = PNG_FORMAT_GRAY };
    sal_status status = check_sides(path, height, width, err);
    status = status ? status : sali_output_open(path, &out, err);
    if (status == SAL_OK && !png_image_write_to_stdio(&image, out.file, 0, pixels, 0, NULL)) {
        status =
            sali_fail(err, SAL_ERR_IO, "%s: cannot be written: libpng: %s", path, image.message);
    }
    status = status ? status : sali_output_commit(&out, err);
    sali_output_discard(&out);
    return status;
}

#else

sal_status sali_png_write(const char *path, const uint8_t *pixels, int64_t height, int64_t width,
                          sal_error *err)
{
    (void)pixels;
    (void)height;
    (void)width;
    return sali_fail(err, SAL_ERR_UNSUPPORTED,
                     "%s: not written: saltus was built without libpng; write .npy instead", path);
}

#endif

static uint8_t grey_level(double value)
{
    if (!(value > 0)) {
        return 0;
    }
    return value < 1 ? (uint8_t)lrint(value * 255) : 255;
}

/* Draw an image [height x width], enlarged by `zoom`, at `corner` of a sheet with `stride` pixels a
 * row. */
static void draw_image(uint8_t *corner, int64_t stride, const double *image, int64_t height,
                       int64_t width, int64_t zoom)
{
    for (int64_t i = 0; i < height * zoom; i++) {
        for (int64_t j = 0; j < width * zoom; j++) {
            corner[i * stride + j] = grey_level(image[i / zoom * width + j / zoom]);
        }
    }
}

sal_status sali_png_sheet(const char *path, const double *images, int64_t n, int64_t height,
                          int64_t width, const sali_png_layout *layout, sal_error *err)
{
    int64_t zoom = layout && layout->zoom ? layout->zoom : 1;
    int64_t columns = layout ? layout->columns : 0;
    if (n < 1 || n > MAX_SIDE || zoom < 1 || zoom > MAX_SIDE || columns < 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: a sheet of %lld images, %lld columns, zoom %lld; expected 1 to %d "
                         "images, no negative number",
                         path, (long long)n, (long long)columns, (long long)zoom, MAX_SIDE);
    }
    sal_status status = check_sides(path, height, width, err);
    if (status != SAL_OK) {
        return status;
    }
    columns = columns == 0 ? (int64_t)ceil(sqrt((double)n)) : columns < n ? columns : n;
    int64_t rows = (n + columns - 1) / columns;
    int64_t cell_height = height * zoom + 1;
    int64_t cell_width = width * zoom + 1;
    int64_t sheet_height = rows * cell_height + 1; /* below 10^18 */
    int64_t sheet_width = columns * cell_width + 1;
    status = check_sides(path, sheet_height, sheet_width, err);
    if (status != SAL_OK) {
        return status;
    }
    uint8_t *pixels = SALI_NEW_ARRAY(uint8_t, sheet_height * sheet_width);
    if (!pixels) {
        return sali_fail_memory(err);
    }
    memset(pixels, 128, (size_t)(sheet_height * sheet_width));
    for (int64_t k = 0; k < n; k++) {
        uint8_t *corner =
            pixels + (k / columns * cell_height + 1) * sheet_width + k % columns * cell_width + 1;
        draw_image(corner, sheet_width, images + k * height * width, height, width, zoom);
    }
    status = sali_png_write(path, pixels, sheet_height, sheet_width, err);
    sali_free(pixels);
    return status;
}
