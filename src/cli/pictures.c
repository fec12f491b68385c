#include "cli/pictures.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "train/data.h"

#define DRAWN_TRAIN 5000
#define DRAWN_TEST 1000
#define DRAWN_SIDE 16

static int exit_code(sal_status status, const sal_error *err)
{
    return status == SAL_OK ? CLI_OK : cli_fail(status, err);
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
    sal_error err = { 0 };
    if (train->rows < 4) {
        return cli_usage("--data: %lld rows are too few to hold some out; expected 4 or more",
                         (long long)train->rows);
    }
    int64_t rows = train->rows / 10 > 1 ? train->rows / 10 : 2;
    return exit_code(sal_data_split(train, rows, test, &err), &err);
}

/* Always the same ones, whatever the seed of what is done with them. */
static int draw_pictures(sal_data *train, sal_data *test)
{
    sal_error err = { 0 };
    sal_status status = sal_data_digits(DRAWN_TRAIN + DRAWN_TEST, DRAWN_SIDE, 0, train, &err);
    status = status ? status : sal_data_split(train, DRAWN_TEST, test, &err);
    return exit_code(status, &err);
}

static bool is_default(const sal_data_options *o)
{
    return !o || (o->kind == SAL_DATA_PICTURES && !o->keep_intensity && o->identity == 0);
}

int cli_pictures(const char *data, const char *test, const sal_data_options *options,
                 sal_data *train_out, sal_data *test_out)
{
    char beside[4096];
    sal_error err = { 0 };
    if (strcmp(data, "digits") == 0) {
        return !test && is_default(options)
                   ? draw_pictures(train_out, test_out)
                   : cli_usage("--data digits are drawn in black and white, with a test set: no "
                               "--test, --kind, --dynamic or --identity goes with them");
    }
    sal_status status = sal_data_read(data, options, train_out, &err);
    if (status == SAL_OK && !test &&
        (find_beside(data, "train", "test", beside, sizeof beside) ||
         find_beside(data, "train", "t10k", beside, sizeof beside))) {
        test = beside;
    }
    if (status == SAL_OK && !test) {
        return split(train_out, test_out);
    }
    sal_data_options same = options ? *options : (sal_data_options){ 0 };
    same.grey = train_out->grey;
    status = status ? status : sal_data_read(test, &same, test_out, &err);
    if (status == SAL_OK && test_out->variables != train_out->variables) {
        return cli_usage("--test %s: %lld variables; the training data have %lld", test,
                         (long long)test_out->variables, (long long)train_out->variables);
    }
    return exit_code(status, &err);
}

int cli_data_kind(const char *word, sal_data_kind *kind)
{
    static const char *const kinds[] = { "pictures", "codes", "draws", "alignment" };
    for (int k = 0; k < 4; k++) {
        if (!word || strcmp(word, kinds[k]) == 0) {
            *kind = (sal_data_kind)k;
            return CLI_OK;
        }
    }
    return cli_usage("--kind '%s'; expected one of: pictures, codes, draws, alignment", word);
}

int cli_check_width(const char *path, const sal_data *data, const sal_model *model)
{
    int64_t has = sal_space_variables(sal_model_space(model));
    return data->variables == has
               ? CLI_OK
               : cli_usage("--data %s: rows of %lld numbers; the model has %lld variables", path,
                           (long long)data->variables, (long long)has);
}

int cli_draw_pixels(sal_data *data)
{
    int32_t *codes = malloc((size_t)data->variables * sizeof *codes);
    for (int64_t r = 0; codes && data->intensity && r < data->rows; r++) {
        sali_data_binarise(data, r, 0, 0, codes);
        for (int64_t v = 0; v < data->variables; v++) {
            data->codes[r * data->variables + v] = (uint8_t)codes[v];
        }
    }
    bool done = codes != NULL;
    free(codes);
    return done ? CLI_OK : cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
}

int cli_pictures_of(const char *data, sal_data *out)
{
    sal_error err = { 0 };
    sal_data train = { 0 };
    if (strcmp(data, "digits") == 0) {
        int code = draw_pictures(&train, out);
        sal_data_destroy(&train);
        return code;
    }
    return exit_code(sal_data_read(data, NULL, out, &err), &err);
}
