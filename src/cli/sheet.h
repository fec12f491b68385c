/* SPDX-License-Identifier: MIT */
/* Sheets of pictures from draws and arrays. */
#ifndef CLI_SHEET_H
#define CLI_SHEET_H

#include "cli/cli.h"

/* The row of an option table for --shape; `value` is a const char *. */
#define CLI_SHAPE_OPTION(value)                                                            \
    {                                                                                      \
        "shape", CLI_TEXT, &(value), "HxW",                                                \
            "with a file NAME.png: height and width of a picture, in variables [a square]" \
    }

/* Parse a text such as "20x16"; CLI_USAGE after a message if it is none. */
int cli_parse_shape(const char *text, int64_t *height, int64_t *width);

/* Set the height and width of a picture of that many variables: from `shape`, as in "20x16", or
 * NULL for a square. CLI_USAGE after a message. */
int cli_sheet_sides(const char *path, const char *shape, int64_t variables, int64_t *height,
                    int64_t *width);

/* Write rows of codes [rows x height x width], at most 100 and evenly spaced. Code 0 is black, and
 * the largest code among them, at least 1, is white. */
sal_status cli_sheet_codes(const char *path, int64_t rows, const uint8_t *codes, int64_t height,
                           int64_t width, sal_error *err);

/* Write the pictures of an array. The last two dimensions are a picture if `shape` says so, or if
 * they are equal and there are three or more; else each row of the last dimension is a picture. The
 * smallest value, at most 0, is black, the largest, at least 1, white. Returns the exit code. */
int cli_sheet_array(const char *path, const char *shape, const sal_array *array);

#endif
