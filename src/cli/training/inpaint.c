/* SPDX-License-Identifier: MIT */
/* saltus inpaint: fill in hidden parts of pictures with a model that was trained on such
 * pictures. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/pictures.h"
#include "cli/text.h"

#define MOST_ROWS 10000

typedef struct options {
    sal_inpaint_options inpaint;
    cli_data data; /* path, shape, white and columns are used */
    const char *rows, *mask, *out, *dtype, *params;
    int64_t first, zoom;
    bool json;
} options;

typedef struct session {
    const options *o;
    sal_model *model;
    sal_data pictures;       /* the rows chosen */
    int64_t rows[MOST_ROWS]; /* their numbers in the file */
    uint8_t *mask;           /* [variables] 1 hidden */
    int64_t hidden;
    double white;     /* the code of white */
    int32_t *samples; /* [rows x samples x variables] */
    cli_progress progress;
} session;

/* ---- which pictures */

/* List the numbers of the rows of --rows "3,0,7", or the first --first rows, in s->rows; `there` is
 * the number of rows in the file. */
static int list_rows(session *s, int64_t there, int64_t *n)
{
    const options *o = s->o;
    *n = 0;
    for (const char *text = o->rows; text && *text;) {
        size_t size = strcspn(text, ",");
        int64_t row = -1;
        if (!cli_parse_int(text, size, &row) || row < 0 || row >= there || *n == MOST_ROWS) {
            return cli_usage("--rows %s: expected at most %d numbers from 0 to %lld", o->rows,
                             MOST_ROWS, (long long)(there - 1));
        }
        s->rows[(*n)++] = row;
        text += size + (text[size] == ',');
    }
    if (o->rows) {
        return *n > 0 ? CLI_OK : cli_usage("--rows: expected numbers");
    }
    for (*n = 0; *n < o->first && *n < there; ++*n) {
        s->rows[*n] = *n;
    }
    return CLI_OK;
}

/* Read the file and copy the chosen rows to s->pictures. Returns an exit code. */
static int choose_pictures(session *s)
{
    sal_data all = { 0 };
    int64_t n = 0;
    cli_data data = s->o->data;
    int code = cli_pictures_of(&data, s->model, &all);
    code = code ? code : list_rows(s, all.rows, &n);
    const int64_t V = all.variables;
    s->pictures = (sal_data){ .rows = n, .variables = V, .height = all.height, .width = all.width };
    s->pictures.codes = code == CLI_OK ? malloc((size_t)(n * V)) : NULL;
    if (code == CLI_OK && !s->pictures.codes) {
        code = cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
    }
    for (int64_t k = 0; code == CLI_OK && k < n; k++) { /* a row may come several times */
        memcpy(s->pictures.codes + k * V, all.codes + s->rows[k] * V, (size_t)V);
    }
    sal_data_destroy(&all);
    return code;
}

/* ---- what is hidden of them */

/* Whether a named mask hides the pixel of row i, column j; the centre is half as high and wide as
 * the picture. */
static bool mask_hides(const char *name, int64_t i, int64_t j, int64_t height, int64_t width)
{
    switch (name[0]) {
    case 't':
        return 2 * i < height;
    case 'b':
        return 2 * i >= height;
    case 'l':
        return 2 * j < width;
    case 'r':
        return 2 * j >= width;
    default:
        return 4 * i + 2 >= height && 4 * i + 2 < 3 * height && 4 * j + 2 >= width &&
               4 * j + 2 < 3 * width;
    }
}

/* Read the mask from a file of zeros and ones. Returns an exit code. */
static int read_mask(session *s)
{
    sal_array array = { 0 };
    sal_error err = { 0 };
    const char *path = s->o->mask;
    sal_status status = cli_array_read(path, SAL_COLUMNS_FIND, &array, &err);
    if (status != SAL_OK) {
        return status == SAL_ERR_NOT_FOUND
                   ? cli_error(status,
                               "--mask %.300s: expected top, bottom, left, right, center or a file",
                               path)
                   : cli_fail(status, &err);
    }
    int code = array.count == s->pictures.variables
                   ? CLI_OK
                   : cli_error(SAL_ERR_DATA, "%.300s: expected a mask of %lld x %lld numbers", path,
                               (long long)s->pictures.height, (long long)s->pictures.width);
    for (int64_t v = 0; code == CLI_OK && v < s->pictures.variables; v++) {
        double value = array.values[v];
        if (value != 0 && value != 1) {
            code = cli_error(SAL_ERR_DATA,
                             "%.300s: element %lld is %g; expected 1 for hidden, 0 for known", path,
                             (long long)v, value);
        }
        s->mask[v] = value == 1;
    }
    sal_array_free(&array);
    return code;
}

/* Set s->mask and the number of hidden pixels, from a name or a file. Returns an exit code. */
static int make_mask(session *s)
{
    static const char *const names[] = { "top", "bottom", "left", "right", "center", NULL };
    int64_t height = s->pictures.height, width = s->pictures.width;
    s->mask = calloc((size_t)s->pictures.variables, sizeof *s->mask);
    if (!s->mask) {
        return cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
    }
    int k = 0;
    while (names[k] && strcmp(names[k], s->o->mask) != 0) {
        k++;
    }
    int code = names[k] ? CLI_OK : read_mask(s);
    for (int64_t v = 0; v < s->pictures.variables; v++) {
        if (names[k]) {
            s->mask[v] = mask_hides(names[k], v / width, v % width, height, width);
        }
        s->hidden += s->mask[v];
    }
    return code;
}

/* ---- the result */

/* Fill a row of the sheet: the picture, the picture with hidden pixels grey, the samples, and their
 * mean. */
static void fill_row(const session *s, int64_t row, double *images)
{
    int64_t V = s->pictures.variables, n = s->o->inpaint.samples;
    for (int64_t v = 0; v < V; v++) {
        double truth = s->pictures.codes[row * V + v] / s->white, sum = 0;
        images[v] = truth;
        images[V + v] = s->mask[v] ? 0.5 : truth;
        for (int64_t k = 0; k < n; k++) {
            double code = s->samples[(row * n + k) * V + v] / s->white;
            images[(2 + k) * V + v] = code;
            sum += code;
        }
        images[(2 + n) * V + v] = sum / (double)n;
    }
}

/* Write the sheet of all pictures. Returns an exit code. */
static int write_sheet(const session *s)
{
    sal_error err = { 0 };
    int64_t columns = s->o->inpaint.samples + 3, rows = s->pictures.rows;
    double *images = calloc((size_t)(rows * columns * s->pictures.variables), sizeof *images);
    for (int64_t row = 0; images && row < rows; row++) {
        fill_row(s, row, images + row * columns * s->pictures.variables);
    }
    const sal_images sheet = { .n = rows * columns,
                               .height = s->pictures.height,
                               .width = s->pictures.width,
                               .values = images,
                               .columns = columns };
    sal_status status =
        images ? sal_sheet_write(s->o->out, &sheet, s->o->zoom, &err) : SAL_ERR_MEMORY;
    free(images);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* The share of hidden pixels in which samples equal the picture. */
static double pixel_agreement(const session *s)
{
    int64_t V = s->pictures.variables, n = s->o->inpaint.samples, same = 0;
    for (int64_t k = 0; k < s->pictures.rows * n; k++) {
        for (int64_t v = 0; v < V; v++) {
            same += s->mask[v] && s->samples[k * V + v] == s->pictures.codes[k / n * V + v];
        }
    }
    return (double)same / ((double)s->pictures.rows * (double)n * (double)s->hidden);
}

/* Print a summary as text or JSON. Returns an exit code. */
static int print_end(const session *s)
{
    const sal_inpaint_options *o = &s->o->inpaint;
    if (!s->o->json) {
        printf("%s: %lld pictures, %lld samples of each, %lld of %lld pixels hidden\n"
               "hidden pixels as in the picture: %.3f\n",
               s->o->out, (long long)s->pictures.rows, (long long)o->samples, (long long)s->hidden,
               (long long)s->pictures.variables, pixel_agreement(s));
        return CLI_OK;
    }
    json_t *rows = json_array();
    for (int64_t r = 0; r < s->pictures.rows; r++) {
        json_array_append_new(rows, json_integer((json_int_t)s->rows[r]));
    }
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I}", "model",
                  cli_json_text(sal_model_name(s->model)), "out", cli_json_text(s->o->out), "rows",
                  rows, "samples", (json_int_t)o->samples, "steps", (json_int_t)o->steps, "seed",
                  (json_int_t)o->seed, "variables", (json_int_t)s->pictures.variables, "hidden",
                  (json_int_t)s->hidden);
    cli_json_number(object, "agreement", pixel_agreement(s));
    return cli_json_print(object);
}

/* ---- the command */

/* Set s->white; fails unless all variables have the same number of levels, 2 to 256. Called before
 * pictures are read, which needs this number. */
static int check_levels(session *s)
{
    const sal_space *space = sal_model_space(s->model);
    const int64_t levels = sal_space_states(space, 0), V = sal_space_variables(space);
    for (int64_t v = 0; v < V; v++) {
        const int64_t states = sal_space_states(space, v);
        if (states != levels || states < 2 || states > UINT8_MAX + 1) {
            return cli_usage("inpaint: variable %lld of %s has not the levels of a pixel: expected "
                             "2 to 256 states, as many for all",
                             (long long)v, sal_model_name(s->model));
        }
    }
    s->white = (double)(levels - 1);
    return CLI_OK;
}

/* CLI_USAGE unless pictures and model have the same number of variables. */
static int check_session(const session *s)
{
    int64_t V = sal_space_variables(sal_model_space(s->model));
    return V == s->pictures.variables
               ? CLI_OK
               : cli_usage("inpaint: the pictures have %lld pixels and %s has %lld variables",
                           (long long)s->pictures.variables, sal_model_name(s->model),
                           (long long)V);
}

static int show_progress(int64_t done, int64_t total, void *data)
{
    cli_progress_show(&((session *)data)->progress, "in-painting", done, total);
    return cli_interrupted();
}

/* Keep only the pictures that were finished before Ctrl-C, moved to the front. Returns CLI_FAULT if
 * there are none. */
static int keep_finished(session *s)
{
    const int64_t V = s->pictures.variables, size = s->o->inpaint.samples * V;
    int64_t kept = 0, rows = s->pictures.rows;
    for (int64_t r = 0; r < rows; r++) {
        if (s->samples[r * size] < 0) {
            continue;
        }
        memmove(s->samples + kept * size, s->samples + r * size, (size_t)size * sizeof *s->samples);
        memmove(s->pictures.codes + kept * V, s->pictures.codes + r * V, (size_t)V);
        s->rows[kept++] = s->rows[r];
    }
    s->pictures.rows = kept;
    if (kept < rows) {
        fprintf(stderr, "saltus: stopped; %lld of %lld pictures are finished\n", (long long)kept,
                (long long)rows);
    }
    return kept > 0 ? CLI_OK : CLI_FAULT;
}

/* Fill in the pictures, write the sheet and print the summary. Returns an exit code. */
static int inpaint_pictures(session *s)
{
    sal_error err = { 0 };
    sal_inpaint_options o = s->o->inpaint;
    s->samples =
        calloc((size_t)(s->pictures.rows * o.samples * s->pictures.variables), sizeof *s->samples);
    if (!s->samples) {
        return cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
    }
    o.progress = show_progress;
    o.progress_data = s;
    s->progress = cli_progress_begin();
    cli_catch_interrupt();
    sal_status status =
        sal_inpaint(s->model, s->pictures.rows, s->pictures.codes, s->mask, &o, s->samples, &err);
    cli_progress_end(&s->progress);
    int code = status == SAL_OK ? keep_finished(s) : cli_fail(status, &err);
    code = code ? code : write_sheet(s);
    return code ? code : print_end(s);
}

/* Check the options, and claim the output file. Returns an exit code. */
static int check_options(const options *o)
{
    if (!o->data.path || !o->mask || !o->out) {
        return cli_usage("inpaint: --data FILE (or digits), --mask and --out FILE.png are needed");
    }
    if (o->inpaint.samples > 1000 || o->first < 1 || o->first > MOST_ROWS || o->zoom < 1 ||
        o->zoom > 100) {
        return cli_usage("inpaint: expected --samples 1 to 1000, --first 1 to %d, --zoom 1 to 100",
                         MOST_ROWS);
    }
    if (!cli_has_suffix(o->out, ".png")) {
        return cli_usage("--out %s: expected a file name that ends in .png", o->out);
    }
    return cli_claim_output(o->out);
}

/* The command `saltus inpaint`. Returns an exit code. */
static int run_inpaint(const cli_command *command, int argc, char **argv)
{
    options o = { .first = 8, .zoom = 2 };
    cli_option table[CLI_MOST_OPTIONS] = {
        { "data", CLI_TEXT, &o.data.path, "FILE",
          "pictures in any array format, of two levels white above the middle; or 'digits'" },
        { "shape", CLI_TEXT, &o.data.shape, "HxW",
          "height and width of a picture in a row [a square]" },
        CLI_READING_OPTIONS(o.data),
        { "rows", CLI_TEXT, &o.rows, "I,J,..", "numbers of the pictures, from 0 [the first ones]" },
        { "first", CLI_INT, &o.first, "N",
          "without --rows: number of pictures, from the first on [8]" },
        { "mask", CLI_TEXT, &o.mask, "top|bottom|left|right|center|FILE",
          "hidden part of the pictures; an array: 1 hidden, 0 known" },
        { "out", CLI_TEXT, &o.out, "FILE.png",
          "sheet with one row for each picture: the picture, hidden part grey, samples, mean" },
        { "zoom", CLI_INT, &o.zoom, "N", "pixels of the sheet for one pixel of a picture [2]" },
        { "params", CLI_TEXT, &o.params, "FILE", "parameters of the model (safetensors)" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [the model's]" },
        { "json", CLI_FLAG, &o.json, NULL, "print one JSON object" },
        { 0 },
    };
    const char *model = "";
    session s = { .o = &o };
    cli_library library = { sal_option_table_of(SAL_OPTIONS_INPAINT), &o.inpaint };
    cli_add_options(table, &library);
    int code = cli_parse(command, argc, argv, table, 1, &model);
    code = code ? code : cli_resolve(&library);
    code = code ? code : check_options(&o);
    code = code ? code : cli_open(model, o.dtype, o.params, &s.model);
    code = code ? code : cli_check_joint("inpaint", s.model);
    code = code ? code : check_levels(&s);
    code = code ? code : choose_pictures(&s);
    code = code ? code : check_session(&s);
    code = code ? code : make_mask(&s);
    code = code ? code : inpaint_pictures(&s);
    sal_model_destroy(s.model);
    sal_data_destroy(&s.pictures);
    free(s.mask);
    free(s.samples);
    return code;
}

const cli_command cli_inpaint = { "inpaint", "MODEL", "fill in hidden parts of pictures",
                                  run_inpaint };
