/* SPDX-License-Identifier: MIT */
/* saltus check: what a model is, whether its gradient is right, and which samplers can sample it.
 */
#include "cli/cli.h"
#include "cli/json.h"

static int64_t whole_number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* Print the model, its blocks, parameters and operations, from the object of
 * sal_flat_model_info. */
static void print_model(const json_t *model)
{
    const json_t *blocks = json_object_get(model, "blocks");
    const json_t *parameters = json_object_get(model, "parameters");
    json_t *operations = json_object_get(model, "operations"), *nodes;
    const char *op, *heading = "operations  ";
    cli_render(model, "model        {model} ({dtype})\n"
                      "variables    {variables}, embedding of {width} reals\n");
    for (size_t k = 0; k < json_array_size(blocks); k++) {
        cli_render(json_array_get(blocks, k),
                   "  block      {name:-12} {count} x {kind}<, {states} states>"
                   "<, sum fixed to {sum}><, labels fixed to {labels: }>\n");
    }
    for (size_t k = 0; k < json_array_size(parameters); k++) {
        cli_render(json_array_get(parameters, k), "  parameter  {name:-12} [{shape:, }]\n");
    }
    json_object_foreach(operations, op, nodes)
    {
        printf("%s %s:%lld", heading, op, (long long)json_integer_value(nodes));
        heading = "";
    }
    fputs(*heading ? "" : "\n", stdout);
}

/* Print the findings of sal_flat_check for a model whose embedding has `width` reals. */
static void print_checks(json_t *c, int64_t width)
{
    const int64_t slopes = whole_number(c, "slopes"), skipped = whole_number(c, "skipped");
    const bool changes = whole_number(c, "changes") > 0;
    if (slopes > 0 && skipped > 0) {
        json_object_set_new(c, "all_slopes", json_integer(slopes + skipped));
    }
    if (whole_number(c, "kinks") > 0) {
        json_object_set_new(c, "coordinates", json_integer(whole_number(c, "states") * width));
    }
    cli_render(c, slopes > 0 ? "gradient     within {gradient_error:.1e} of central differences "
                               "(relative, {states} states)\n"
                  : changes ? "gradient     not compared: it is not finite, or f beside it is not, "
                              "at the {states} states looked at\n"
                            : "gradient     not compared: every change of one variable is "
                              "forbidden (f is -inf) at the {states} states looked at\n");
    cli_render(c,
               "<  slopes     {slopes} of {all_slopes} could be checked: the gradient is infinite "
               "elsewhere\n>"
               "<  kinks      in {kinks} of {coordinates} coordinates, where it is held against "
               "the slopes on both sides\n>"
               "differences  by {differences_by}; first-order ones are ");
    cli_render(c, changes ? "off by {first_order_error:.1e} (relative)\n"
                          : "not compared, as no change is allowed\n");
    for (size_t k = 0; k < json_array_size(json_object_get(c, "against")); k++) {
        json_object_set(c, "other", json_array_get(json_object_get(c, "against"), k));
        cli_render(c, "  against    {other}: within {against_error:.1e} (relative)\n");
    }
}

/* CLI_OK if everything was checked; else another exit code, after a message. `why`: what went
 * wrong, or NULL. If every change is forbidden there is nothing to compare. */
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

/* ---- the command */

/* Print the results as text for people; `object` is the object that --json prints. Returns the exit
 * code. */
static int print_text(const sal_model *model, const json_t *object, bool program)
{
    json_t *checks = json_object_get(object, "derivatives");
    sal_error err = { 0 };
    print_model(object);
    if (!json_is_null(checks)) {
        print_checks(checks, whole_number(object, "width"));
    }
    cli_render(object, "<derivatives  not checked: {not_checked}\n>samplers     {samplers: }\n");
    sal_status status = program ? sal_model_print_program(model, stdout, &err) : SAL_OK;
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
}

/* Check the model, print the results and return the exit code. */
static int check_model(const sal_model *model, int64_t seed, bool json, bool program)
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
    const int64_t slopes = whole_number(found, "slopes"), skipped = whole_number(found, "skipped");
    const int64_t changes = whole_number(found, "changes");
    json_object_set_new(object, "derivatives", found);
    if (!checked) {
        json_object_set_new(object, "not_checked", cli_json_text(why.message));
    }
    int code;
    if (json) {
        code = cli_json_print(object);
    } else {
        code = print_text(model, object, program);
        json_decref(object);
    }
    return code ? code : report_unchecked(checked ? NULL : &why, slopes, skipped, changes);
}

static int run_check(const cli_command *command, int argc, char **argv)
{
    const char *dtype = NULL, *params = NULL, *sums = NULL, *specification = NULL;
    int64_t seed = 0;
    bool program = false, json = false;
    const cli_option table[] = {
        CLI_FIX_SUM_OPTION(sums),
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
    code = code ? code : cli_open_fixed(specification, dtype, params, sums, &model);
    code = code ? code : check_model(model, seed, json, program);
    sal_model_destroy(model);
    return code;
}

const cli_command cli_check = { "check", "MODEL",
                                "check gradient and differences; print sizes and samplers",
                                run_check };
