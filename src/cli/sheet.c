/* SPDX-License-Identifier: MIT */
#include "cli/sheet.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"

#define SHEET 100 /* pictures */
#define COLUMNS 10
#define ZOOM 2

int cli_parse_shape(const char *text, int64_t *height, int64_t *width)
{
    const char *by = strchr(text, 'x');
    return by && cli_parse_int(text, (size_t)(by - text), height) &&
                   cli_parse_int(by + 1, strlen(by + 1), width) && *height > 0 && *width > 0
               ? CLI_OK
               : cli_usage("--shape %s: expected height and width, as in 20x16", text);
}

int cli_sheet_sides(const char *path, const char *shape, int64_t variables, int64_t *height,
                    int64_t *width)
{
    int64_t product;
    if (!shape) {
        *height = *width = llround(sqrt((double)variables));
        return *height * *width == variables
                   ? CLI_OK
                   : cli_usage("%s: pictures of %lld variables are no squares; give --shape HxW",
                               path, (long long)variables);
    }
    if (cli_parse_shape(shape, height, width) != CLI_OK) {
        return CLI_USAGE;
    }
    return !__builtin_mul_overflow(*height, *width, &product) && product == variables
               ? CLI_OK
               : cli_usage("--shape %s: there are %lld variables; expected a height and a width "
                           "with this product",
                           shape, (long long)variables);
}

sal_status cli_sheet_codes(const char *path, int64_t rows, const uint8_t *codes, int64_t height,
                           int64_t width, sal_error *err)
{
    const int64_t V = height * width, n = rows < SHEET ? rows : SHEET;
    double *values = malloc((size_t)(n * V) * sizeof *values), white = 1;
    const sal_images sheet = {
        .n = n, .height = height, .width = width, .values = values, .columns = COLUMNS
    };
    for (int64_t i = 0; values && i < n * V; i++) {
        values[i] = codes[i / V * rows / n * V + i % V];
        white = fmax(white, values[i]);
    }
    for (int64_t i = 0; values && i < n * V; i++) {
        values[i] /= white;
    }
    sal_status status = values ? sal_sheet_write(path, &sheet, ZOOM, err) : SAL_ERR_MEMORY;
    free(values);
    return status;
}

/* ---- arrays */

/* Whether the last two of three or more dimensions are a picture's sides: height and width, or,
 * with height 0, any equal sides. */
static bool has_sides(const sal_array *array, int64_t height, int64_t width)
{
    const int64_t *last = array->shape + array->ndim - 1;
    return array->ndim >= 3 &&
           (height > 0 ? last[-1] == height && last[0] == width : last[-1] == last[0]);
}

/* Values as greys [array->count], to be freed: the smallest, at most 0, is black, the largest, at
 * least 1, white. NULL: no memory. */
static uint8_t *greys_of(const sal_array *array)
{
    uint8_t *greys = calloc((size_t)array->count, 1);
    double low = 0, high = 1;
    for (int64_t i = 0; i < array->count; i++) {
        low = fmin(low, array->values[i]);
        high = fmax(high, array->values[i]);
    }
    for (int64_t i = 0; greys && i < array->count; i++) {
        greys[i] = (uint8_t)lround(UINT8_MAX * ((array->values[i] - low) / (high - low)));
    }
    return greys;
}

int cli_sheet_array(const char *path, const char *shape, const sal_array *array)
{
    sal_error err = { 0 };
    const int64_t *last = array->shape + array->ndim - 1;
    int64_t height = 0, width = 0;
    int code = shape ? cli_parse_shape(shape, &height, &width) : CLI_OK;
    if (code == CLI_OK && has_sides(array, height, width)) {
        height = last[-1];
        width = last[0];
    } else if (code == CLI_OK) {
        code = cli_sheet_sides(path, shape, *last, &height, &width);
    }
    if (code != CLI_OK) {
        return code;
    }
    assert(height > 0 && width > 0); /* no size of an array is 0 */
    uint8_t *greys = greys_of(array);
    sal_status status =
        greys ? cli_sheet_codes(path, array->count / (height * width), greys, height, width, &err)
              : SAL_ERR_MEMORY;
    free(greys);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}
