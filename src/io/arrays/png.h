/* SPDX-License-Identifier: MIT */
/* PNG pictures of samples. */
#ifndef SALI_PNG_H
#define SALI_PNG_H

#include <stdint.h>

#include <saltus/status.h>

/* Write an 8-bit grey picture (rows from the top), atomically.
 * Returns:   ARGUMENT when a side is not 1 to 1,000,000; UNSUPPORTED without libpng; IO; MEMORY. */
sal_status sali_png_write(const char *path, const uint8_t *pixels, int64_t height, int64_t width,
                          sal_error *err);

/* How a sheet of pictures is laid out; zero is the default. */
typedef struct sali_png_layout {
    int64_t columns; /* 0: as many as make the sheet about square */
    int64_t zoom;    /* pixels of the sheet per pixel; 0: 1 */
} sali_png_layout;

/* Write n grey images of height x width in a grid, with lines of one pixel around each. Values
 * outside [0, 1] are clipped, NaN is black. layout NULL: the default.
 * Returns:   ARGUMENT for an empty or too large sheet; those of sali_png_write. */
sal_status sali_png_sheet(const char *path, const double *images, int64_t n, int64_t height,
                          int64_t width, const sali_png_layout *layout, sal_error *err);

#endif
