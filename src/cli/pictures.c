/* SPDX-License-Identifier: MIT */
#include "cli/pictures.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/sheet.h"
#include "cli/text.h"

#define DRAWN_TRAIN 5000
#define DRAWN_TEST 1000
#define DRAWN_SIDE 16

const char *cli_alphabet_name(const char *letters)
{
    return strcmp(letters, "-ACDEFGHIKLMNPQRSTVWY") == 0 ? "protein"
           : strcmp(letters, "-ACGU") == 0               ? "rna"
           : strcmp(letters, "-ACGT") == 0               ? "dna"
                                                         : letters;
}

static int exit_code(sal_status status, const sal_error *err)
{
    return status == SAL_OK ? CLI_OK : cli_fail(status, err);
}

/* Write into out [room] the path with the last `from` in its file name replaced by `to`. False:
 * there is no `from`, or no such file. */
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

/* Move a random tenth of the rows to the test set: always the same rows, so that rows that are
 * evaluated later were not trained on. Returns the exit code. */
static int split_rows(sal_data *train, sal_data *test)
{
    sal_error err = { 0 };
    if (train->rows < 4) {
        return cli_usage("--data: %lld rows are too few to hold some out; expected 4 or more",
                         (long long)train->rows);
    }
    int64_t rows = train->rows / 10 > 1 ? train->rows / 10 : 2;
    const uint64_t seed = 0;
    return exit_code(sal_data_split(train, rows, &seed, test, &err), &err);
}

/* Draw the pictures of "digits": always the same pictures, whatever the seed of a training or
 * evaluation. Returns the exit code. */
static int draw_pictures(sal_data *train, sal_data *test)
{
    sal_error err = { 0 };
    sal_status status = sal_data_digits(DRAWN_TRAIN + DRAWN_TEST, DRAWN_SIDE, 0, train, &err);
    status = status ? status : sal_data_split(train, DRAWN_TEST, NULL, test, &err);
    return exit_code(status, &err);
}

/* Move whole clusters of an alignment, about a tenth of its rows, to the test set; if that fails, a
 * random tenth. Returns the exit code. */
static int split_clusters(cli_data *d, sal_data *train, sal_data *test)
{
    sal_error err = { 0 };
    if (train->rows < 4) {
        return split_rows(train, test); /* which reports this */
    }
    sal_status status =
        sal_data_split_by_identity(train, d->test_identity, 0.1, 0, test, &d->clusters, &err);
    if (status == SAL_ERR_DATA) {
        fprintf(stderr, "saltus: --data %s: %s; a random tenth is held out\n", d->path,
                err.message);
        return split_rows(train, test);
    }
    return exit_code(status, &err);
}

/* Whether no option of the data is given. */
static bool is_default(const cli_data *d)
{
    return d->read.kind == SAL_DATA_PICTURES && !d->read.keep_intensity && isnan(d->identity) &&
           isnan(d->test_identity) && !d->alphabet && !d->unknown && !d->duplicates && !d->shape &&
           !d->read.levels && d->read.white == 0 && !d->columns_from && !d->test;
}

/* The path of the test data beside the training data, written into `beside`; NULL if there are
 * none. */
static const char *find_test(const char *data, char *beside, size_t room)
{
    return find_beside(data, "train", "test", beside, room) ||
                   find_beside(data, "train", "t10k", beside, room)
               ? beside
               : NULL;
}

/* Set what the options leave to the model: the length of a row and, for pictures, the grey
 * levels. */
static void suit_model(const sal_model *model, sal_data_options *o)
{
    const sal_space *space = sal_model_space(model);
    const int64_t states = sal_space_states(space, 0);
    o->columns = sal_space_variables(space);
    if (o->kind == SAL_DATA_PICTURES && !o->levels && !o->keep_intensity && states > 2 &&
        states <= UINT8_MAX + 1) {
        o->levels = states;
    }
}

int cli_data_read(cli_data *d, const sal_model *model, sal_data *train_out, sal_data *test_out)
{
    char beside[4096];
    sal_error err = { 0 };
    const char *data = d->path;
    sal_data_options options = d->read;
    if (strcmp(data, "digits") == 0) {
        return is_default(d)
                   ? draw_pictures(train_out, test_out)
                   : cli_usage("--data digits are drawn in black and white, with a test set: no "
                               "--test, --kind, --shape, --levels, --white, --columns-from, "
                               "--dynamic, --alphabet, --unknown, --duplicates or --identity goes "
                               "with them");
    }
    const char *test = d->test ? d->test : find_test(data, beside, sizeof beside);
    if (model) {
        suit_model(model, &options);
    }
    options.companion = test;
    sal_status status = sal_data_read(data, &options, train_out, &err);
    cli_remark(status == SAL_OK ? train_out->remark : NULL, train_out->warns);
    if (status == SAL_OK && !test) {
        return d->test_identity > 0 ? split_clusters(d, train_out, test_out)
                                    : split_rows(train_out, test_out);
    }
    sal_data_options same = options;
    same.grey = train_out->grey;
    same.white = train_out->white;
    same.companion = NULL;
    same.columns = train_out->variables; /* rows of libsvm files differ in length */
    same.columns_from = train_out->columns_from ? train_out->columns_from : same.columns_from;
    same.alphabet = train_out->alphabet[0] ? train_out->alphabet : NULL;
    if (same.kind == SAL_DATA_PICTURES) { /* rows may be pictures that are no squares */
        same.height = train_out->height;
        same.width = train_out->width;
    }
    status = status ? status : sal_data_read(test, &same, test_out, &err);
    cli_remark(status == SAL_OK ? test_out->remark : NULL, test_out->warns);
    if (status == SAL_OK && test_out->variables != train_out->variables) {
        return cli_usage("--test %s: %lld variables; the training data have %lld", test,
                         (long long)test_out->variables, (long long)train_out->variables);
    }
    return exit_code(status, &err);
}

bool cli_grey_range(const sal_data *data, double *low, double *high)
{
    *low = data->grey == SAL_GREY_SIGNED ? -1 : 0;
    *high = data->grey == SAL_GREY_FIND ? data->white : data->grey == SAL_GREY_BYTES ? 255 : 1;
    return *high > 0 && data->grey != SAL_GREY_LABELS;
}

/* ---- options */

/* Set an option of reading data, which the library checks; NULL: it was not given. */
static int set_data_option(cli_data *d, const char *name, const char *text)
{
    sal_error err = { 0 };
    const sal_option_table *table = sal_option_table_of(SAL_OPTIONS_DATA);
    return !text || sal_option_set(table, &d->read, name, text, &err) == SAL_OK
               ? CLI_OK
               : cli_usage("--%s", err.message);
}

/* Copy the value of a key of a specification into value [room]; false if there is none, or it does
 * not fit. */
static bool find_key(const char *specification, const char *key, char *value, size_t room)
{
    const char *text = cli_find_setting(specification, key);
    const size_t size = text ? strcspn(text, ",") : 0;
    snprintf(value, room, "%.*s", (int)size, text ? text : "");
    return size > 0 && size < room;
}

/* The whole number that a specification gives to a setting of its ready-made model, or the default
 * of the setting; 0: there is no such setting. */
static int64_t setting_of(const char *specification, const char *key)
{
    char text[32];
    int64_t value = 0;
    sal_builtin_info info;
    bool known = cli_find_builtin(specification, &info);
    for (const sal_setting *s = known ? info.settings : NULL; s && s->name; s++) {
        value = strcmp(s->name, key) == 0 ? (int64_t)s->standard : value;
    }
    if (find_key(specification, key, text, sizeof text)) {
        cli_parse_int(text, strlen(text), &value);
    }
    return value;
}

/* Set the sides and grey levels of pictures from --shape and from the model that is to be made of
 * `arch`. CLI_USAGE, after a message, if options do not fit together or do not fit the model. */
static int choose_shape(const char *arch, cli_data *d)
{
    const bool pictures = arch && d->read.kind == SAL_DATA_PICTURES;
    const int64_t height = pictures ? setting_of(arch, "height") : 0;
    const int64_t width = pictures ? setting_of(arch, "width") : 0;
    const int64_t states = pictures ? setting_of(arch, "states") : 0;
    int code = d->shape ? cli_parse_shape(d->shape, &d->read.height, &d->read.width) : CLI_OK;
    if (code == CLI_OK && height > 0 && width > 0 && d->shape &&
        (d->read.height != height || d->read.width != width)) {
        return cli_usage("--shape %s: the model's pictures are %lldx%lld", d->shape,
                         (long long)height, (long long)width);
    }
    if (code == CLI_OK && height > 0 && width > 0) {
        d->read.height = height;
        d->read.width = width;
    }
    if (code == CLI_OK && states > 2 && d->read.levels > 0 && d->read.levels != states) {
        return cli_usage("--levels %lld: the model's pixels have %lld states",
                         (long long)d->read.levels, (long long)states);
    }
    if (code == CLI_OK && d->read.keep_intensity && (d->read.levels > 2 || states > 2)) {
        return cli_usage("--dynamic draws black and white pixels; they have %lld grey levels",
                         (long long)(d->read.levels > 2 ? d->read.levels : states));
    }
    d->read.levels = states > 2 ? states : d->read.levels;
    return code;
}

/* Whether a specification names a ready-made model of alignments. */
static bool is_of_alignment(const char *specification)
{
    sal_builtin_info info;
    return cli_find_builtin(specification, &info) && info.file &&
           strcmp(info.file, CLI_ALIGNMENT) == 0;
}

bool cli_has_sequences(const char *path)
{
    struct stat found;
    sal_format_info info;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode) && /* a pipe can be read only once */
           sal_format_find(path, &info, NULL) == SAL_OK && strcmp(info.content, CLI_ALIGNMENT) == 0;
}

/* Read an alignment in the alphabet of the model's specification, unless one is given for it. */
static void take_alphabet(const char *arch, cli_data *d)
{
    if (d->kind && strcmp(d->kind, "alignment") == 0 && !d->alphabet &&
        find_key(arch, "alphabet", d->letters, sizeof d->letters)) {
        d->alphabet = d->letters;
    }
}

/* Set options of the data that were not given from the specification of a model of an alignment. */
static void take_from_arch(const char *arch, cli_data *d)
{
    char word[16];
    if (!d->path && (!d->kind || strcmp(d->kind, "alignment") == 0) &&
        find_key(arch, "file", d->file, sizeof d->file)) {
        d->path = d->file;
        d->kind = "alignment";
    }
    if (d->kind && strcmp(d->kind, "alignment") == 0) {
        if (!d->unknown && find_key(arch, "unknown", word, sizeof word)) {
            d->unknown = strcmp(word, "drop") == 0    ? "drop"
                         : strcmp(word, "error") == 0 ? "error"
                                                      : "gap";
        }
        if (!d->duplicates && find_key(arch, "duplicates", word, sizeof word)) {
            d->duplicates = strcmp(word, "drop") == 0 ? "drop" : "keep";
        }
    }
}

int cli_data_check(const char *command, const char *arch, cli_data *d)
{
    const bool numbers = d->shape || d->read.levels > 0 || d->read.white > 0 || d->columns_from;
    if (!d->kind && !numbers && d->path && cli_has_sequences(d->path)) {
        d->kind = "alignment";
    }
    if (arch && is_of_alignment(arch)) {
        take_from_arch(arch, d);
    }
    if (arch) {
        take_alphabet(arch, d);
    }
    int code = set_data_option(d, "kind", d->kind);
    code = code ? code : set_data_option(d, "alphabet", d->alphabet);
    code = code ? code : set_data_option(d, "unknown", d->unknown);
    code = code ? code : set_data_option(d, "duplicates", d->duplicates);
    code = code ? code : cli_columns_from(d->columns_from, &d->read.columns_from);
    code = code ? code : choose_shape(arch, d);
    if (code == CLI_OK && !d->path) {
        return cli_usage("%s: --data FILE (or digits) is needed", command);
    }
    bool alignment = d->read.kind == SAL_DATA_ALIGNMENT;
    if (code == CLI_OK && !alignment && d->test_identity > 0) {
        return cli_usage("--test-identity goes with alignments (--kind alignment)");
    }
    if (code == CLI_OK && (d->test_identity < 0 || d->test_identity > 1)) {
        return cli_usage("--test-identity %g; expected a number from 0 to 1", d->test_identity);
    }
    d->read.identity = !isnan(d->identity) ? d->identity : alignment ? 0.8 : 0;
    d->test_identity = isnan(d->test_identity) && alignment ? 0.8 : d->test_identity;
    return code;
}

void cli_data_suit(const sal_model *model, cli_data *d)
{
    if (d->read.kind == SAL_DATA_ALIGNMENT && !d->alphabet &&
        sal_space_alphabet(sal_model_space(model), NULL, d->letters, NULL) == SAL_OK &&
        strcmp(d->letters, "-ACGU") != 0 && strcmp(d->letters, "-ACGT") != 0) {
        d->read.alphabet = d->letters; /* RNA and DNA have the same codes: the file tells which */
    }
}

/* Whether states of the model and codes of data have the same letters: T and U are alike, and a
 * model without letters has any of as many. */
static bool same_letters(const sal_space *space, const char *letters)
{
    const sal_block *block = sal_space_block(space, 0);
    const char *own = block && block->letters ? block->letters : letters;
    bool same = (int64_t)strlen(letters) == sal_space_states(space, 0);
    for (int64_t k = 0; same && letters[k]; k++) {
        const bool bases = strchr("TU", own[k]) && strchr("TU", letters[k]);
        same = own[k] == letters[k] || (bases && strlen(letters) < 6);
    }
    return same;
}

int cli_check_width(const char *path, const sal_data *data, const sal_model *model)
{
    const sal_space *space = sal_model_space(model);
    int64_t has = sal_space_variables(space), states = sal_space_states(space, 0);
    has -= sal_model_levels(model) > 0 && data->variables == has - 1; /* without the level */
    if (data->variables != has) {
        return cli_usage("--data %s: rows of %lld numbers; the model has %lld variables", path,
                         (long long)data->variables, (long long)has);
    }
    if (!data->alphabet[0] || same_letters(space, data->alphabet)) {
        return CLI_OK;
    }
    const char *own = sal_space_block(space, 0)->letters;
    return cli_usage("--data %s: the %zu letters of the alphabet %s; the model's variables "
                     "have %lld states%s%s (see --alphabet)",
                     path, strlen(data->alphabet), cli_alphabet_name(data->alphabet),
                     (long long)states, own ? ", " : "", own ? own : "");
}

int cli_draw_pixels(sal_data *train, sal_data *test)
{
    sal_error err = { 0 };
    sal_status status = sal_data_binarise(train, 0, 0, &err);
    status = status ? status : sal_data_binarise(test, 0, 0, &err);
    return exit_code(status, &err);
}

int cli_pictures_of(cli_data *d, const sal_model *model, sal_data *out)
{
    sal_error err = { 0 };
    sal_data train = { 0 };
    if (strcmp(d->path, "digits") == 0) {
        int code = draw_pictures(&train, out);
        sal_data_destroy(&train);
        return code;
    }
    int code = cli_columns_from(d->columns_from, &d->read.columns_from);
    sal_data_options options = { .white = d->read.white, .columns_from = d->read.columns_from };
    suit_model(model, &options);
    code = code || !d->shape ? code : cli_parse_shape(d->shape, &options.height, &options.width);
    code = code ? code : exit_code(sal_data_read(d->path, &options, out, &err), &err);
    cli_remark(code == CLI_OK ? out->remark : NULL, out->warns);
    return code;
}
