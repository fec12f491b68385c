/* SPDX-License-Identifier: MIT */
/* Sheets of pictures from codes. */
#include <saltus/io.h>
#include "core/alloc.h"
#include "core/error.h"
#include "io/arrays/png.h"

sal_status sal_sheet_write(const char *path, const uint8_t *codes, int64_t rows, int64_t height,
                           int64_t width, int64_t columns, int64_t zoom, sal_error *err)
{
    int64_t pixels = 0;
    if (!path || !codes || rows < 1 || height < 1 || width < 1 ||
        __builtin_mul_overflow(height, width, &pixels) ||
        __builtin_mul_overflow(pixels, rows, &pixels)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: a sheet of %lld pictures of %lld x %lld; expected at least one, of "
                         "at least one pixel",
                         path ? path : "no path", (long long)rows, (long long)height,
                         (long long)width);
    }
    double *images = SALI_NEW_ARRAY(double, pixels);
    if (!images) {
        return sali_fail_memory(err);
    }
    int white = 1;
    for (int64_t i = 0; i < pixels; i++) {
        white = codes[i] > white ? codes[i] : white;
    }
    for (int64_t i = 0; i < pixels; i++) {
        images[i] = (double)codes[i] / white;
    }
    sali_png_layout layout = { .columns = columns, .zoom = zoom };
    sal_status status = sali_png_sheet(path, images, rows, height, width, &layout, err);
    sali_free(images);
    return status;
}
