/* SPDX-License-Identifier: MIT */
/* saltus value: f of given states, its gradient and its differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/cli.h"

typedef struct options {
    const char *state, *params, *dtype, *sums, *out_value, *out_gradient, *out_differences;
    bool codes, json;
} options;

/* The states, and what is computed for them; arrays are NULL unless needed. */
typedef struct values {
    int64_t states;
    int32_t *codes; /* [states x V], or NULL: x */
    double *x;      /* [states x N] */
    double *f, *gradient, *differences;
    int64_t row; /* entries of one row of differences */
} values;

static void values_free(values *v)
{
    free(v->codes);
    sal_free(v->x);
    free(v->f);
    free(v->gradient);
    free(v->differences);
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

/* Read the states, as codes or as rows of the embedding; rows that are all states get codes.
 * Returns the exit code. */
static int read_states(const options *o, const sal_space *space, values *v)
{
    sal_array array = { 0 };
    sal_error err = { 0 };
    int64_t width = o->codes ? sal_space_variables(space) : sal_space_width(space);
    sal_status status = cli_array_read(o->state, SAL_COLUMNS_FIND, &array, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    int64_t rows = array.ndim == 1 ? 1 : array.ndim == 2 ? array.shape[0] : 0;
    if (rows < 1 || array.count != rows * width) {
        sal_array_free(&array);
        snprintf(err.message, sizeof err.message, "%s: expected shape (states, %lld): the %s",
                 o->state, (long long)width,
                 o->codes ? "codes of all variables" : "embedding (or use --codes)");
        return cli_fail(SAL_ERR_DATA, &err);
    }
    v->states = rows;
    v->codes = malloc((size_t)(rows * sal_space_variables(space)) * sizeof *v->codes);
    if (o->codes || !v->codes) {
        int code = cli_codes(o->state, &array, v->codes);
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

/* Print f [states] as a JSON object, with null where f is -inf. Returns the exit code. */
static int print_json(const sal_model *model, const values *v)
{
    json_t *f = json_array();
    for (int64_t i = 0; i < v->states; i++) {
        json_array_append_new(f, isfinite(v->f[i]) ? json_real(v->f[i]) : json_null());
    }
    return cli_json_print_digits(json_pack("{s:o, s:I, s:o}", "model",
                                           cli_json_text(sal_model_name(model)), "states",
                                           (json_int_t)v->states, "f", f),
                                 17);
}

/* Print or write f, and write the other arrays that were asked for. Returns the exit code. */
static int write_values(const options *o, const sal_model *model, const values *v)
{
    for (int64_t i = 0; i < v->states && !o->out_value && !o->json; i++) {
        printf("%.17g\n", v->f[i]);
    }
    int code = o->json ? print_json(model, v) : CLI_OK;
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
        { "state", CLI_TEXT, &o.state, "FILE.npy",
          "read the states: (states, N) reals of the embedding" },
        { "codes", CLI_FLAG, &o.codes, NULL, "--state holds codes, (states, V)" },
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
    int code = cli_parse(command, argc, argv, table, 1, &specification);
    if (code == CLI_OK && !o.state) {
        code = cli_usage("value: --state FILE.npy is needed");
    }
    code = code ? code : cli_claim_output(o.out_value);
    code = code ? code : cli_claim_output(o.out_gradient);
    code = code ? code : cli_claim_output(o.out_differences);
    code = code ? code : cli_open_fixed(specification, o.dtype, o.params, o.sums, &model);
    code = code ? code : cli_check_joint("value", model);
    code = code ? code : read_states(&o, sal_model_space(model), &v);
    code = code ? code : compute_values(&o, model, &v);
    code = code ? code : write_values(&o, model, &v);
    values_free(&v);
    sal_model_destroy(model);
    return code;
}

const cli_command cli_value = { "value", "MODEL",
                                "evaluate f of given states, its gradient and differences",
                                run_value };
