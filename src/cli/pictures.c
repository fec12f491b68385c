#include "cli/pictures.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "io/idx.h"

#define DRAWN_TRAIN 5000
#define DRAWN_TEST 1000
#define DRAWN_SIDE 16

static int read_pictures(const char *path, sal_data *out)
{
    sali_idx idx = { 0 };
    sal_error err = { 0 };
    sal_status status = sali_idx_read(path, &idx, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    if (idx.ndim != 3 || idx.count == 0 || idx.dtype != SALI_DTYPE_U8) {
        sali_idx_free(&idx);
        snprintf(err.message, sizeof err.message,
                 "%s: expected pictures, an IDX file of bytes of three dimensions", path);
        return cli_fail(SAL_ERR_DATA, &err);
    }
    sal_data data = {
        .rows = idx.shape[0],
        .height = idx.shape[1],
        .width = idx.shape[2],
        .variables = idx.shape[1] * idx.shape[2],
        .codes = SALI_NEW_ARRAY(uint8_t, idx.count),
    };
    for (int64_t i = 0; data.codes && i < idx.count; i++) {
        data.codes[i] = idx.data[i] > 127;
    }
    sali_idx_free(&idx);
    if (!data.codes) {
        return cli_fail(SAL_ERR_MEMORY, &err);
    }
    *out = data;
    return CLI_OK;
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
    int code = read_pictures(data, train_out);
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
    code = read_pictures(test, test_out);
    if (code == CLI_OK && test_out->variables != train_out->variables) {
        return cli_usage("--test %s: pictures of another size", test);
    }
    return code;
}
