/* SPDX-License-Identifier: MIT */
/* saltus show: what the states of a file choose. */
#include "cli/show.h"

#include <stdlib.h>

void cli_show_state(const sal_model *model, const int32_t *codes)
{
    const sal_space *space = sal_model_space(model);
    for (int64_t v = 0; v < sal_space_variables(space); v++) {
        if (sal_space_states(space, v) != 2) {
            printf("%lld = %d\n", (long long)v, codes[v]);
        } else if (codes[v] == 1) {
            printf("%lld\n", (long long)v);
        }
    }
}

/* Whether codes [V] are a state of the space. */
static bool are_codes(const sal_space *space, const int32_t *codes)
{
    for (int64_t v = 0; v < sal_space_variables(space); v++) {
        int64_t states = sal_space_states(space, v);
        if (codes[v] < 0 || (states > 0 && codes[v] >= states)) {
            return false;
        }
    }
    return true;
}

/* Print at most `most` of the states [rows x V], evenly spaced, with blank lines between. Returns
 * the exit code. */
static int show_rows(const char *path, const sal_model *model, int64_t rows, int64_t most,
                     const int32_t *codes)
{
    const sal_space *space = sal_model_space(model);
    int64_t V = sal_space_variables(space), shown = rows < most ? rows : most;
    if (shown < rows) {
        printf("%lld of %lld states, evenly spaced (--states N shows more)\n\n", (long long)shown,
               (long long)rows);
    }
    for (int64_t k = 0; k < shown; k++) {
        int64_t row = k * rows / shown;
        if (!are_codes(space, codes + row * V)) {
            sal_error err = { 0 };
            snprintf(err.message, sizeof err.message, "%s: state %lld is none of %s", path,
                     (long long)row, sal_model_name(model));
            return cli_fail(SAL_ERR_DATA, &err);
        }
        fputs(k > 0 ? "\n" : "", stdout);
        if (shown < rows) {
            printf("state %lld:\n", (long long)row);
        }
        cli_show_state(model, codes + row * V);
    }
    return CLI_OK;
}

/* Print at most `most` of the states in a file of codes. Returns the exit code. */
static int show_file(const char *path, const sal_model *model, int64_t most)
{
    sal_array array = { 0 };
    sal_error err = { 0 };
    int64_t V = sal_space_variables(sal_model_space(model));
    sal_status status = cli_array_read(path, SAL_COLUMNS_FIND, &array, &err);
    if (status == SAL_OK && array.shape[array.ndim - 1] != V) {
        snprintf(err.message, sizeof err.message, "%s: expected codes of shape (.., %lld)", path,
                 (long long)V);
        status = SAL_ERR_DATA;
    }
    if (status != SAL_OK) {
        sal_array_free(&array);
        return cli_fail(status, &err);
    }
    int32_t *codes = calloc((size_t)array.count, sizeof *codes);
    int code = cli_codes(path, &array, codes);
    code = code ? code : show_rows(path, model, array.count / V, most, codes);
    sal_array_free(&array);
    free(codes);
    return code;
}

static int run_show(const cli_command *command, int argc, char **argv)
{
    const char *words[2] = { NULL, NULL };
    int64_t most = 10;
    const cli_option options[] = {
        { "states", CLI_INT, &most, "N", "number of states, evenly spaced over the file [10]" },
        { 0 },
    };
    sal_model *model = NULL;
    int code = cli_parse(command, argc, argv, options, 2, words);
    if (code == CLI_OK && most < 1) {
        code = cli_usage("--states %lld; expected 1 or more", (long long)most);
    }
    code = code ? code : cli_open(words[0], NULL, NULL, &model);
    code = code ? code : show_file(words[1], model, most);
    sal_model_destroy(model);
    return code;
}

const cli_command cli_show = { "show", "MODEL FILE", "print what the states in FILE.npy choose",
                               run_show };
