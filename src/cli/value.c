/* SPDX-License-Identifier: MIT */
/* saltus value: f of given states, its gradient and its differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/cli.h"
#include "cli/pictures.h"

typedef struct options {
    const char *state, *against, *params, *dtype, *sums, *out_value, *out_gradient,
        *out_differences;
    bool codes, json;
} options;

/* The states, and what is computed for them; arrays are NULL unless needed. */
typedef struct values {
    int64_t states;
    int32_t *codes; /* [states x V], or NULL: x */
    double *x;      /* [states x N] */
    double *f, *gradient, *differences;
    int64_t row;        /* entries of one row of differences */
    sal_data sequences; /* of an alignment, whose codes are taken over; else empty */
} values;

static void values_free(values *v)
{
    free(v->codes);
    sal_free(v->x);
    free(v->f);
    free(v->gradient);
    free(v->differences);
    sal_data_destroy(&v->sequences);
}

/* The code of the variable whose reals are x; -1 if x is no state of a variable of this block. */
static int32_t code_of(const sal_block *block, int64_t states, const double *x)
{
    if (block->kind == SAL_CATEGORICAL) {
        int32_t code = -1;
        for (int64_t k = 0; k < states; k++) {
            if (x[k] != 0 && (x[k] != 1 || code >= 0)) {
                return -1;
            }
            code = x[k] == 1 ? (int32_t)k : code;
        }
        return code;
    }
    if (block->kind == SAL_COUNT) {
        double most = states > 0 ? (double)(states - 1) : SAL_COUNT_MOST;
        return x[0] >= 0 && x[0] <= most && x[0] == floor(x[0]) ? (int32_t)x[0] : -1;
    }
    for (int64_t k = 0; k < states; k++) {
        double level = block->kind == SAL_BINARY ? (double)k
                       : block->kind == SAL_SPIN ? 2.0 * (double)k - 1
                                                 : block->levels[k];
        if (x[0] == level) {
            return (int32_t)k;
        }
    }
    return -1;
}

/* Set codes [states x V] from rows x of the embedding. False: some row is no state. */
static bool to_codes(const sal_space *space, int64_t states, const double *x, int32_t *codes)
{
    const sal_block *block;
    for (int64_t row = 0; row < states; row++) {
        for (int64_t b = 0; (block = sal_space_block(space, b)); b++) {
            for (int64_t i = 0; i < block->count; i++) {
                int32_t code = code_of(block, block->states, x);
                if (code < 0) {
                    return false;
                }
                *codes++ = code;
                x += block->kind == SAL_CATEGORICAL ? block->states : 1;
            }
        }
    }
    return true;
}

/* Read the sequences of a file as states. Letters that the model's states do not stand for are an
 * error. Returns the exit code. */
static int read_sequences(const char *path, const sal_space *space, values *v)
{
    sal_data *data = &v->sequences;
    const int64_t V = sal_space_variables(space);
    char letters[SAL_ALPHABET_ROOM];
    const sal_data_options o = { .kind = SAL_DATA_ALIGNMENT,
                                 .alphabet = letters,
                                 .unknown = SAL_UNKNOWN_ERROR };
    sal_error err = { 0 };
    if (sal_space_alphabet(space, NULL, letters, &err) != SAL_OK) {
        return cli_error(SAL_ERR_DATA, "%s: %s", path, err.message);
    }
    sal_status status = sal_data_read(path, &o, data, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    if (data->variables != V) {
        return cli_error(SAL_ERR_DATA, "%s: sequences of %lld sites; the model has %lld", path,
                         (long long)data->variables, (long long)V);
    }
    cli_remark(data->remark, data->warns);
    v->states = data->rows;
    v->codes = malloc((size_t)(data->rows * V) * sizeof *v->codes);
    for (int64_t k = 0; v->codes && k < data->rows * V; k++) {
        v->codes[k] = data->codes[k];
    }
    return v->codes ? CLI_OK : cli_fail(SAL_ERR_MEMORY, &err);
}

/* Read the states of a file: sequences, codes or rows of the embedding; rows that are all states
 * get codes. Returns the exit code. */
static int read_states(const options *o, const char *path, const sal_space *space, values *v)
{
    sal_array array = { 0 };
    sal_error err = { 0 };
    if (cli_has_sequences(path)) {
        return o->codes ? cli_usage("--codes: %s holds sequences, which are read as letters", path)
                        : read_sequences(path, space, v);
    }
    int64_t width = o->codes ? sal_space_variables(space) : sal_space_width(space);
    sal_status status = cli_array_read(path, SAL_COLUMNS_FIND, &array, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    int64_t rows = array.ndim == 1 ? 1 : array.ndim == 2 ? array.shape[0] : 0;
    if (rows < 1 || array.count != rows * width) {
        sal_array_free(&array);
        snprintf(err.message, sizeof err.message, "%s: expected shape (states, %lld): the %s", path,
                 (long long)width,
                 o->codes ? "codes of all variables" : "embedding (or use --codes)");
        return cli_fail(SAL_ERR_DATA, &err);
    }
    v->states = rows;
    v->codes = malloc((size_t)(rows * sal_space_variables(space)) * sizeof *v->codes);
    if (o->codes || !v->codes) {
        int code = cli_codes(path, &array, v->codes);
        sal_array_free(&array);
        return code;
    }
    v->x = array.values; /* taken over */
    array.values = NULL;
    sal_array_free(&array);
    if (!to_codes(space, rows, v->x, v->codes)) {
        free(v->codes);
        v->codes = NULL;
    }
    return CLI_OK;
}

/* Compute f and, if asked for, gradient and differences at the states. Returns the exit code. */
static int compute_values(const options *o, const sal_model *model, values *v)
{
    const sal_space *space = sal_model_space(model);
    sal_error err = { 0 };
    for (int64_t i = 0; i < sal_space_variables(space); i++) {
        int64_t states = sal_space_states(space, i);
        v->row += states > 0 ? states : 2; /* a count without a cap: down and up */
    }
    v->f = malloc((size_t)v->states * sizeof *v->f);
    if (o->out_gradient) {
        v->gradient = malloc((size_t)(v->states * sal_space_width(space)) * sizeof *v->gradient);
    }
    if (o->out_differences) {
        v->differences = malloc((size_t)(v->states * v->row) * sizeof *v->differences);
    }
    if (!v->f || (o->out_gradient && !v->gradient) || (o->out_differences && !v->differences)) {
        return cli_fail(SAL_ERR_MEMORY, &err);
    }
    if (!v->codes && v->differences) {
        return cli_usage("--out-differences: %s has rows that are no states", o->state);
    }
    sal_status status =
        v->codes ? sal_model_evaluate(model, v->states, v->codes, v->f, v->gradient, v->differences,
                                      &err)
                 : sal_model_evaluate_at(model, v->states, v->x, v->f, v->gradient, &err);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* Compute f of the one state of o->against: *f. Without it, 0. Returns the exit code. */
static int compute_reference(const options *o, const sal_model *model, double *f)
{
    values one = { 0 };
    const options plain = { .codes = o->codes, .state = o->against };
    int code = CLI_OK;
    *f = 0;
    if (o->against) {
        code = read_states(o, o->against, sal_model_space(model), &one);
        if (code == CLI_OK && one.states != 1) {
            code = cli_error(SAL_ERR_DATA, "--against %s: %lld states; expected one", o->against,
                             (long long)one.states);
        }
        code = code ? code : compute_values(&plain, model, &one);
        *f = code ? 0 : one.f[0];
        values_free(&one);
    }
    return code;
}

/* Write data [rows x columns], or [rows] for 0 columns, to a file; nothing without a path. Returns
 * the exit code. */
static int write_array(const char *path, int64_t rows, int64_t columns, double *data)
{
    sal_array array = { .ndim = columns > 0 ? 2 : 1,
                        .shape = { rows, columns },
                        .count = columns > 0 ? rows * columns : rows,
                        .values = data };
    sal_error err = { 0 };
    sal_status status = path ? sal_array_write(path, &array, &err) : SAL_OK;
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* A number as JSON: null where it is infinite, or no number. */
static json_t *json_number_of(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* The name of sequence i: in the file, or its number, from 1, in `number`. */
static const char *name_of(const values *v, int64_t i, char number[24])
{
    const char *name = v->sequences.names ? v->sequences.names[i] : "";
    snprintf(number, 24, "%lld", (long long)(i + 1));
    return name[0] ? name : number;
}

/* f less the reference; NaN where both are -inf, without a sign. */
static double difference_of(double f, double reference)
{
    return isfinite(f) || isfinite(reference) ? f - reference : (double)NAN;
}

/* Print f [states] as a JSON object, with null where f is -inf, beside the names of sequences and
 * the differences to `reference`, where there are any. Returns the exit code. */
static int print_json(const options *o, const sal_model *model, const values *v, double reference)
{
    json_t *object = json_pack("{s:o, s:I}", "model", cli_json_text(sal_model_name(model)),
                               "states", (json_int_t)v->states);
    json_t *f = json_array(), *names = json_array(), *difference = json_array();
    char number[24];
    for (int64_t i = 0; i < v->states; i++) {
        json_array_append_new(f, json_number_of(v->f[i]));
        json_array_append_new(names, cli_json_text(name_of(v, i, number)));
        json_array_append_new(difference, json_number_of(difference_of(v->f[i], reference)));
    }
    json_object_set_new(object, "f", f);
    if (v->sequences.rows > 0) {
        json_object_set(object, "sequence", names);
    }
    if (o->against) {
        json_object_set(object, "difference", difference);
    }
    json_decref(names);
    json_decref(difference);
    return cli_json_print_digits(object, 17);
}

/* Print f, a line for each state; of sequences, or with --against, a table with a heading. */
static void print_values(const options *o, const values *v, double reference)
{
    const bool sequences = v->sequences.rows > 0;
    char number[24];
    if (sequences || o->against) {
        printf("%s%s\n", sequences ? "sequence\tf" : "f", o->against ? "\tdifference" : "");
    }
    for (int64_t i = 0; i < v->states; i++) {
        const char *name = sequences ? name_of(v, i, number) : "";
        for (const char *c = name; *c; c++) { /* files may hold anything */
            putchar((unsigned char)*c < ' ' || *c == 127 ? '?' : *c);
        }
        printf("%s", sequences ? "\t" : "");
        printf("%.17g", v->f[i]);
        if (o->against) {
            printf("\t%.17g", difference_of(v->f[i], reference));
        }
        printf("\n");
    }
}

/* Print or write f, and write the other arrays that were asked for. Returns the exit code. */
static int write_values(const options *o, const sal_model *model, const values *v, double reference)
{
    if (!o->out_value && !o->json) {
        print_values(o, v, reference);
    }
    int code = o->json ? print_json(o, model, v, reference) : CLI_OK;
    code = code ? code : write_array(o->out_value, v->states, 0, v->f);
    code = code ? code
                : write_array(o->out_gradient, v->states, sal_space_width(sal_model_space(model)),
                              v->gradient);
    return code ? code : write_array(o->out_differences, v->states, v->row, v->differences);
}

static int run_value(const cli_command *command, int argc, char **argv)
{
    options o = { 0 };
    const cli_option table[] = {
        { "state", CLI_TEXT, &o.state, "FILE",
          "read the states: an array, (states, N) reals of the embedding; or aligned sequences, "
          "such as FASTA" },
        { "codes", CLI_FLAG, &o.codes, NULL, "--state holds codes, (states, V)" },
        { "against", CLI_TEXT, &o.against, "FILE",
          "read one more state, such as the wild type, and print f less its f, too, in f64" },
        CLI_FIX_SUM_OPTION(o.sums),
        { "params", CLI_TEXT, &o.params, "FILE", "read parameters from .safetensors" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [the model's]" },
        { "out-value", CLI_TEXT, &o.out_value, "FILE.npy", "write f instead of printing it" },
        { "out-gradient", CLI_TEXT, &o.out_gradient, "FILE.npy", "write df/dx, (states, N)" },
        { "out-differences", CLI_TEXT, &o.out_differences, "FILE.npy",
          "write f(s with s_i = v) - f(s), (states, sum of states; 2 for a count without a cap)" },
        { "json", CLI_FLAG, &o.json, NULL, "print f as one JSON object, null where it is -inf" },
        { 0 },
    };
    const char *specification = NULL;
    sal_model *model = NULL;
    values v = { 0 };
    double reference = 0;
    int code = cli_parse(command, argc, argv, table, 1, &specification);
    if (code == CLI_OK && !o.state) {
        code = cli_usage("value: --state FILE is needed");
    }
    if (code == CLI_OK && o.against && o.out_value) {
        code = cli_usage("value: --against needs --json or printed values, not --out-value");
    }
    code = code ? code : cli_claim_output(o.out_value);
    code = code ? code : cli_claim_output(o.out_gradient);
    code = code ? code : cli_claim_output(o.out_differences);
    o.dtype = o.against && !o.dtype ? "f64" : o.dtype; /* small differences of large numbers */
    code = code ? code : cli_open_fixed(specification, o.dtype, o.params, o.sums, &model);
    code = code ? code : cli_check_joint("value", model);
    code = code ? code : read_states(&o, o.state, sal_model_space(model), &v);
    code = code ? code : compute_reference(&o, model, &reference);
    code = code ? code : compute_values(&o, model, &v);
    code = code ? code : write_values(&o, model, &v, reference);
    values_free(&v);
    sal_model_destroy(model);
    return code;
}

const cli_command cli_value = { "value", "MODEL",
                                "evaluate f of given states, its gradient and differences",
                                run_value };
