/* SPDX-License-Identifier: MIT */
/* saltus check: what a model is, whether its gradient is right, and which samplers can sample it.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"

static const char *const kinds[] = { "", "binary", "spin", "ordinal", "categorical", "count" };

static void print_space(const sal_model *model)
{
    const sal_space *space = sal_model_space(model);
    printf("model        %s (%s)\n", sal_model_name(model),
           sal_model_dtype(model) == SAL_F32 ? "f32" : "f64");
    printf("variables    %lld, embedding of %lld reals\n", (long long)sal_space_variables(space),
           (long long)sal_space_width(space));
    const sal_block *block;
    for (int64_t b = 0; (block = sal_space_block(space, b)); b++) {
        printf("  block      %-12s %lld x %s", block->name, (long long)block->count,
               kinds[block->kind]);
        if (block->states > 0) {
            printf(", %lld states", (long long)block->states);
        }
        putchar('\n');
    }
}

/* "[3, 2]", as a text. */
static void shape_text(const sal_shape *shape, char text[96])
{
    snprintf(text, 96, "[");
    for (int d = 0; d < shape->rank; d++) {
        size_t used = strlen(text);
        snprintf(text + used, 96 - used, d ? ", %lld" : "%lld", (long long)shape->dim[d]);
    }
    strcat(text, "]");
}

static void print_formula(const sal_model *model)
{
    sal_shape shape;
    sal_op_info op;
    const char *name;
    char text[96];
    for (int64_t k = 0; (name = sal_model_parameter(model, k, &shape)); k++) {
        shape_text(&shape, text);
        printf("  parameter  %-12s %s\n", name, text);
    }
    bool any = false;
    for (int64_t k = 0; sal_op_list(k, &op); k++) {
        int64_t nodes = sal_model_operations(model, op.name);
        if (nodes > 0) {
            printf("%s %s:%lld", any ? "" : "operations  ", op.name, (long long)nodes);
            any = true;
        }
    }
    fputs(any ? "\n" : "", stdout);
}

/* The next sampler that can sample the model, from entry *k on; false: there is none. */
static bool next_sampler(const sal_model *model, int64_t *k, sal_sampler_info *info)
{
    while (sal_sampler_list((*k)++, info)) {
        if (sal_sampler_find(info->name, model, 0, NULL, NULL) == SAL_OK) {
            return true;
        }
    }
    return false;
}

static void print_samplers(const sal_model *model)
{
    sal_sampler_info info;
    printf("samplers    ");
    for (int64_t k = 0; next_sampler(model, &k, &info);) {
        printf(" %s", info.name);
    }
    putchar('\n');
}

static void print_checks(const sal_model *model, const sal_model_checks *c)
{
    const int states = (int)c->states;
    if (c->slopes > 0) {
        printf("gradient     within %.1e of central differences (relative, %d states)\n",
               c->gradient_error, states);
    } else {
        printf("gradient     not compared: %s at the %d states looked at\n",
               c->changes == 0 ? "every change of one variable is forbidden (f is -inf)"
                               : "it is not finite, or f beside it is not,",
               states);
    }
    if (c->slopes > 0 && c->skipped > 0) {
        printf("  slopes     %lld of %lld could be checked: the gradient is infinite elsewhere\n",
               (long long)c->slopes, (long long)(c->slopes + c->skipped));
    }
    if (c->kinks > 0) {
        printf("  kinks      in %lld of %lld coordinates, where it is held against the slopes on "
               "both sides\n",
               (long long)c->kinks,
               (long long)(c->states * sal_space_width(sal_model_space(model))));
    }
    printf("differences  by %s; first-order ones are ", c->differences);
    if (c->changes > 0) {
        printf("off by %.1e (relative)\n", c->first_order_error);
    } else {
        printf("not compared, as no change is allowed\n");
    }
    for (int k = 0; c->against[k]; k++) {
        printf("  against    %s: within %.1e (relative)\n", c->against[k], c->against_error);
    }
}

/* The exit status, which is not 0, with a line that says so, where something was not checked: `why`
 * says what went wrong if it is not NULL. Where every change is forbidden there is nothing to
 * compare. */
static int report_unchecked(const sal_error *why, int64_t slopes, int64_t skipped, int64_t changes)
{
    if (why) {
        return cli_error(SAL_ERR_MODEL, "check: derivatives not checked: %s", why->message);
    }
    if (slopes == 0) {
        return changes == 0 ? CLI_OK
                            : cli_error(SAL_ERR_MODEL, "check: the gradient was not compared");
    }
    return skipped == 0 ? CLI_OK
                        : cli_error(SAL_ERR_MODEL, "check: %lld of %lld slopes could be checked",
                                    (long long)slopes, (long long)(slopes + skipped));
}

static int64_t whole(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* ---- the same as JSON */

static int print_json(const sal_model *model, int64_t seed)
{
    sal_error why = { 0 }, err = { 0 };
    char *info = NULL, *checks = NULL;
    sal_status status = sal_flat_check(model, NULL, (uint64_t)seed, &checks, &why);
    if (status != SAL_OK && status != SAL_ERR_MODEL) {
        return cli_fail(status, &why);
    }
    const bool checked = status == SAL_OK;
    status = sal_flat_model_info(model, &info, &err);
    if (status != SAL_OK) {
        sal_free(checks);
        return cli_fail(status, &err);
    }
    json_t *object = cli_json_take(info), *found = checked ? cli_json_take(checks) : json_null();
    const int64_t slopes = whole(found, "slopes"), skipped = whole(found, "skipped");
    const int64_t changes = whole(found, "changes");
    json_object_set_new(object, "derivatives", found);
    if (!checked) {
        json_object_set_new(object, "not_checked", cli_json_text(why.message));
    }
    int code = cli_json_print(object);
    return code ? code : report_unchecked(checked ? NULL : &why, slopes, skipped, changes);
}

/* ---- the command */

static int check(const sal_model *model, int64_t seed, bool json, bool program)
{
    if (json) {
        return print_json(model, seed);
    }
    sal_model_checks checks;
    sal_error why = { 0 }, err = { 0 };
    sal_status status = sal_model_check(model, NULL, (uint64_t)seed, &checks, &why);
    if (status != SAL_OK && status != SAL_ERR_MODEL) {
        return cli_fail(status, &why);
    }
    const bool checked = status == SAL_OK;
    print_space(model);
    print_formula(model);
    if (checked) {
        print_checks(model, &checks);
    } else {
        printf("derivatives  not checked: %s\n", why.message);
    }
    print_samplers(model);
    status = program ? sal_model_print_program(model, stdout, &err) : SAL_OK;
    return status == SAL_OK ? report_unchecked(checked ? NULL : &why, checks.slopes, checks.skipped,
                                               checks.changes)
                            : cli_fail(status, &err);
}

static int run_check(const cli_command *command, int argc, char **argv)
{
    const char *dtype = NULL, *params = NULL, *specification = NULL;
    int64_t seed = 0;
    bool program = false, json = false;
    const cli_option table[] = {
        { "params", CLI_TEXT, &params, "FILE", "read parameters from .safetensors" },
        { "dtype", CLI_TEXT, &dtype, "f32|f64", "type of the computation [the model's]" },
        { "seed", CLI_INT, &seed, "N", "seed of the random states [0]" },
        { "program", CLI_FLAG, &program, NULL, "print the program before and after its passes" },
        { "json", CLI_FLAG, &json, NULL, "print one JSON object" },
        { 0 },
    };
    sal_model *model = NULL;
    int code = cli_parse(command, argc, argv, table, 1, &specification);
    if (code == CLI_OK && json && program) {
        code = cli_usage("check: --program is a text; leave out --json");
    }
    code = code ? code : cli_open(specification, dtype, params, &model);
    if (code != CLI_OK) {
        return code;
    }
    code = check(model, seed, json, program);
    sal_model_destroy(model);
    return code;
}

const cli_command cli_check = { "check", "MODEL",
                                "check gradient and differences; print sizes and samplers",
                                run_check };
