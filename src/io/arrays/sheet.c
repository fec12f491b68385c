/* SPDX-License-Identifier: MIT */
/* Sheets of pictures. */
#include <saltus/io.h>
#include <saltus/figure.h>
#include <saltus/program.h>
#include "core/error.h"
#include "io/arrays/png.h"

sal_status sal_sheet_write(const char *path, const sal_images *images, int64_t zoom, sal_error *err)
{
    int64_t pixels = 0;
    const sal_images none = { 0 }, *i = images ? images : &none;
    if (!path || !i->values || i->n < 1 || i->height < 1 || i->width < 1 ||
        __builtin_mul_overflow(i->height, i->width, &pixels) ||
        __builtin_mul_overflow(pixels, i->n, &pixels)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: a sheet of %lld pictures of %lld x %lld; expected at least one, of "
                         "at least one pixel",
                         path ? path : "no path", (long long)i->n, (long long)i->height,
                         (long long)i->width);
    }
    const sali_png_layout layout = { .columns = i->columns, .zoom = zoom };
    return sali_png_sheet(path, i->values, i->n, i->height, i->width, &layout, err);
}
