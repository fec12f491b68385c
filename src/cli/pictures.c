#include "cli/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "io/format.h"

#define DRAWN_TRAIN 5000
#define DRAWN_TEST 1000
#define DRAWN_SIDE 16

/* Sides of the pictures in the rows of an array: three dimensions, or two and a square number of
 * columns. */
static bool find_sides(const sali_array *array, int64_t *height, int64_t *width)
{
    if (array->ndim == 3) {
        *height = array->shape[1];
        *width = array->shape[2];
        return true;
    }
    *height = *width = array->ndim == 2 ? (int64_t)llround(sqrt((double)array->shape[1])) : 0;
    return array->ndim == 2 && *height * *width == array->shape[1];
}

/* The middle of the range of grey values: of 0 .. 255, of -1 .. 1 or of 0 .. 1, the last two only
 * where all values are within; NaN for other values. */
static double middle_grey(const sali_array *array)
{
    double low = array->values[0], high = low;
    for (int64_t i = 1; i < array->count; i++) {
        low = array->values[i] < low ? array->values[i] : low;
        high = array->values[i] > high ? array->values[i] : high;
    }
    if (low >= 0 && high <= 255) {
        return high > 1 ? 127 : 0.5;
    }
    return low >= -1 && high <= 1 ? 0 : NAN;
}

/* White above *middle, which is found if it is NaN. */
static int make_binary(const char *path, const sali_array *array, double *middle, sal_data *out)
{
    sal_error err = { 0 };
    sal_data data = { .rows = array->shape[0] };
    if (!find_sides(array, &data.height, &data.width)) {
        snprintf(err.message, sizeof err.message,
                 "%.300s: expected pictures: an array of three dimensions, or rows with a square "
                 "number of columns",
                 path);
        return cli_fail(SAL_ERR_DATA, &err);
    }
    *middle = isnan(*middle) ? middle_grey(array) : *middle;
    if (isnan(*middle)) {
        snprintf(err.message, sizeof err.message,
                 "%.300s: expected grey values from 0 to 255, from -1 to 1 or from 0 to 1", path);
        return cli_fail(SAL_ERR_DATA, &err);
    }
    data.variables = data.height * data.width;
    data.codes = SALI_NEW_ARRAY(uint8_t, array->count);
    if (!data.codes) {
        return cli_fail(SAL_ERR_MEMORY, &err);
    }
    for (int64_t i = 0; i < array->count; i++) {
        data.codes[i] = array->values[i] > *middle;
    }
    *out = data;
    return CLI_OK;
}

static int read_pictures(const char *path, double *middle, sal_data *out)
{
    sali_content content = { 0 };
    sal_error err = { 0 };
    sal_status status = sali_content_read(path, NULL, SALI_CONTENT_ARRAY, &content, NULL, &err);
    int code =
        status == SAL_OK ? make_binary(path, &content.array, middle, out) : cli_fail(status, &err);
    sali_content_free(&content);
    return code;
}

/* The path with the last `from` in its file name replaced; false when there is none, or no such
 * file. */
static bool find_beside(const char *path, const char *from, const char *to, char *out, size_t room)
{
    const char *name = strrchr(path, '/'), *at = NULL;
    for (const char *p = strstr(name ? name : path, from); p; p = strstr(p + 1, from)) {
        at = p;
    }
    return at &&
           (size_t)snprintf(out, room, "%.*s%s%s", (int)(at - path), path, to, at + strlen(from)) <
               room &&
           access(out, R_OK) == 0;
}

/* The last tenth of the rows becomes the test set. */
static int split(sal_data *train, sal_data *test)
{
    int64_t held = train->rows / 10 > 0 ? train->rows / 10 : 1;
    if (train->rows < 4) {
        return cli_usage("--data: too few pictures to hold some out");
    }
    *test = *train;
    test->rows = held;
    train->rows -= held;
    test->codes =
        sali_memdup(train->codes + train->rows * train->variables, held * train->variables, 1);
    return test->codes ? CLI_OK : cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
}

static int draw_pictures(uint64_t seed, sal_data *train, sal_data *test)
{
    sal_error err = { 0 };
    sal_status status = sal_data_digits(DRAWN_TRAIN, DRAWN_SIDE, seed, train, &err);
    if (status == SAL_OK) {
        status = sal_data_digits(DRAWN_TEST, DRAWN_SIDE, seed + 1, test, &err);
    }
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

int cli_pictures(const char *data, const char *test, uint64_t seed, sal_data *train_out,
                 sal_data *test_out)
{
    char beside[4096];
    if (strcmp(data, "digits") == 0 && !test) {
        return draw_pictures(seed, train_out, test_out);
    }
    double middle = NAN; /* of the training pictures, and then for both */
    int code = read_pictures(data, &middle, train_out);
    if (code != CLI_OK) {
        return code;
    }
    if (!test && (find_beside(data, "train", "test", beside, sizeof beside) ||
                  find_beside(data, "train", "t10k", beside, sizeof beside))) {
        test = beside;
    }
    if (!test) {
        return split(train_out, test_out);
    }
    code = read_pictures(test, &middle, test_out);
    if (code == CLI_OK && test_out->variables != train_out->variables) {
        return cli_usage("--test %s: pictures of another size", test);
    }
    return code;
}
