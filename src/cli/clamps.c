/* SPDX-License-Identifier: MIT */
/* Clamped variables: --clamp and --evidence. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/text.h"

/* Append a variable and its code to the list. Returns the exit code. */
static int add_clamp(cli_clamps *list, int64_t variable, int64_t code)
{
    int64_t *variables = realloc(list->variables, (size_t)(list->n + 1) * sizeof *variables);
    if (variables) {
        list->variables = variables;
    }
    int32_t *codes = realloc(list->codes, (size_t)(list->n + 1) * sizeof *codes);
    if (codes) {
        list->codes = codes;
    }
    if (!variables || !codes) {
        return cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
    }
    list->variables[list->n] = variable;
    list->codes[list->n++] = (int32_t)code;
    return CLI_OK;
}

/* The index of the variable (v = -1), or of the state of variable v, that has the name in the first
 * `size` characters of text; -1: none. */
static int64_t find_label(const sal_model *model, int64_t v, const char *text, size_t size)
{
    const sal_space *space = sal_model_space(model);
    int64_t n = v < 0 ? sal_space_variables(space) : sal_space_states(space, v);
    for (int64_t k = 0; k < n; k++) {
        const char *name = sal_model_label(model, v < 0 ? k : v, v < 0 ? -1 : (int32_t)k);
        if (name && strlen(name) == size && strncmp(name, text, size) == 0) {
            return k;
        }
    }
    return -1;
}

/* Append the clamp VARIABLE=CODE in the first `size` characters of text: each is a name, where the
 * model has names, or else a number. Returns the exit code. */
static int parse_pair(const char *text, size_t size, const sal_model *model, cli_clamps *list)
{
    const size_t name = strcspn(text, "=");
    int64_t variable = -1, code = -1;
    if (name < size) {
        const char *value = text + name + 1;
        const size_t rest = size - name - 1;
        variable = find_label(model, -1, text, name);
        bool known = variable >= 0 || cli_parse_int(text, name, &variable);
        code = known && variable >= 0 ? find_label(model, variable, value, rest) : -1;
        known = known && (code >= 0 || cli_parse_int(value, rest, &code));
        code = known ? code : -1;
    }
    if (code < 0 || code > INT32_MAX) {
        bool named = sal_model_label(model, 0, -1) || sal_model_label(model, 0, 0);
        return cli_usage("--clamp %.*s: expected VARIABLE=CODE,...%s", (int)size, text,
                         named ? ", as numbers or by the names in the file" : "");
    }
    return add_clamp(list, variable, code);
}

/* Append the clamps in a text VARIABLE=CODE,... (NULL: none). Returns the exit code. */
static int parse_clamps(const char *text, const sal_model *model, cli_clamps *list)
{
    while (text && *text) {
        size_t pair = strcspn(text, ",");
        int status = parse_pair(text, pair, model, list);
        if (status != CLI_OK) {
            return status;
        }
        text += pair + (text[pair] == ',');
    }
    return CLI_OK;
}

/* Append the clamps of one sample (0: the only one) in a file of evidence. Returns the exit
 * code. */
static int read_evidence(const char *path, int64_t sample, const sal_model *model, cli_clamps *list)
{
    int64_t n = 0, *variables = NULL;
    int32_t *codes = NULL;
    char *remark = NULL;
    sal_error err = { 0 };
    sal_status status =
        sal_model_evidence(path, model, sample, &n, &variables, &codes, &remark, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    int code = CLI_OK;
    cli_remark(remark, true);
    sal_free(remark);
    for (int64_t k = 0; code == CLI_OK && k < n; k++) {
        code = add_clamp(list, variables[k], codes[k]);
    }
    sal_free(variables);
    sal_free(codes);
    return code;
}

int cli_clamps_read(const cli_fixed *fixed, const sal_model *model, cli_clamps *list)
{
    if (fixed->sample != 0 && !fixed->evidence) {
        return cli_usage("--sample chooses a sample of --evidence FILE, which is not given");
    }
    if (fixed->sample < 0) {
        return cli_usage("--sample %lld; expected a number from 1", (long long)fixed->sample);
    }
    int code = parse_clamps(fixed->clamp, model, list);
    return code == CLI_OK && fixed->evidence
               ? read_evidence(fixed->evidence, fixed->sample, model, list)
               : code;
}

void cli_clamps_free(cli_clamps *list)
{
    free(list->variables);
    free(list->codes);
    *list = (cli_clamps){ 0 };
}

int cli_clamps_apply(const cli_clamps *list, sal_model **model)
{
    sal_error err = { 0 };
    sal_model *clamped = NULL;
    if (list->n == 0) {
        return CLI_OK;
    }
    sal_status status =
        sal_model_clamp(*model, list->n, list->variables, list->codes, &clamped, &err);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    sal_model_destroy(*model);
    *model = clamped;
    return CLI_OK;
}
