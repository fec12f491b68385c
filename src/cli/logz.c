/* SPDX-License-Identifier: MIT */
/* saltus logz: an estimate of log Z of any model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"

typedef struct options {
    sal_log_z_options log_z;
    cli_fixed fixed;
    const char *dtype, *params, *out_pr;
    bool json;
} options;

static int show_progress(int64_t done, int64_t total, void *data)
{
    cli_progress_show(data, "sweeps", done, total);
    return cli_interrupted();
}

/* Print the estimate as text, from the object that --json prints; the object is taken over. Returns
 * the exit code. */
static int print_text(json_t *object)
{
    if (json_integer_value(json_object_get(object, "clamped")) == 0) {
        json_object_del(object, "clamped");
    }
    if (!json_is_true(json_object_get(object, "softened"))) {
        json_object_del(object, "allowed");
    }
    if (json_is_true(json_object_get(object, "stopped"))) {
        json_object_set_new(object, "early", json_string("stopped early"));
    }
    cli_render(object,
               "model            {model}, {variables} variables< (and {clamped} clamped)>\n");
    const double variables = json_number_value(json_object_get(object, "variables"));
    json_object_set_new(
        object, "each",
        json_real(json_number_value(json_object_get(object, "entropy")) / variables));
    cli_print_remarks();
    cli_render(
        object,
        "by               {chains} ladders of {levels} levels, {sweeps} sweeps of {steps} "
        "steps each ({sampler})<, {early}>\n"
        "log Z            {log_z:.10g} +- {log_z_error:.2g} (natural)\n"
        "entropy          {entropy:.8g} +- {entropy_error:.2g} nats, {each:.5g} a variable\n"
        "from both ends   {forward:.10g} up, {reverse:.10g} down\n"
        "mixing           R-hat {rhat:.3f}, {arrivals:.3g} arrivals a ladder, exchanges from "
        "{least_swaps:.2f}\n"
        "<allowed          {allowed:.3g} of the states of a softened model\n>");
    json_decref(object);
    return CLI_OK;
}

/* Write and print the estimate for a model that has lost `clamped` variables. Returns the exit
 * code. */
static int report_estimate(const sal_model *model, const sal_log_z_estimate *z, int64_t clamped,
                           const options *o)
{
    sal_error err = { 0 };
    char *answers = NULL;
    sal_status status = sal_log_z_json(z, &answers, &err);
    json_t *object = json_pack("{s:o, s:I, s:I}", "model", cli_json_text(sal_model_name(model)),
                               "variables", (json_int_t)sal_space_variables(sal_model_space(model)),
                               "clamped", (json_int_t)clamped);
    json_object_update_new(object, cli_json_take(answers));
    const char *warning = json_string_value(json_object_get(object, "warning"));
    cli_remark(warning, true);
    json_object_del(object, "warning");
    if (status == SAL_OK && o->out_pr) {
        status = cli_save_pr(z->log_z, o->out_pr, &err);
    }
    if (status != SAL_OK) {
        json_decref(object);
        return cli_fail(status, &err);
    }
    return o->json ? cli_json_print(object) : print_text(object);
}

/* Estimate, write and print log Z of a model that has lost `clamped` variables. Returns the exit
 * code. */
static int estimate_model(sal_model *model, int64_t clamped, options *o)
{
    sal_error err = { 0 };
    sal_log_z_estimate z;
    cli_progress progress = cli_progress_begin();
    progress.limit = o->log_z.seconds;
    o->log_z.progress = show_progress;
    o->log_z.progress_data = &progress;
    cli_catch_interrupt();
    const sal_status status = sal_log_z(model, &o->log_z, &z, &err);
    cli_progress_end(&progress);
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    if (isnan(z.log_z) && z.stopped) {
        return cli_error(SAL_ERR_MEMORY, "stopped before there were enough sweeps for an estimate");
    }
    return report_estimate(model, &z, clamped, o);
}

static int run_logz(const cli_command *command, int argc, char **argv)
{
    options o = { .dtype = "f64" };
    cli_library library = { sal_option_table_of(SAL_OPTIONS_LOG_Z), &o.log_z };
    cli_option table[CLI_MOST_OPTIONS] = {
        CLI_FIXED_OPTIONS(o.fixed),
        { "params", CLI_TEXT, &o.params, "FILE", "read parameters from .safetensors" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [f64]" },
        { "out-pr", CLI_TEXT, &o.out_pr, "FILE", "write log10 Z as UAI results" },
        { "json", CLI_FLAG, &o.json, NULL, "print one JSON object" },
        { 0 },
    };
    cli_add_options(table, &library);
    const char *specification = NULL;
    sal_model *model = NULL;
    cli_clamps list = { 0 };
    int code = cli_parse(command, argc, argv, table, 1, &specification);
    code = code ? code : cli_resolve(&library);
    code = code ? code : cli_claim_output(o.out_pr);
    code = code ? code : cli_open(specification, o.dtype, o.params, &model);
    code = code ? code : cli_clamps_read(&o.fixed, model, &list);
    if (code == CLI_OK) {
        const int64_t all = sal_space_variables(sal_model_space(model));
        code = cli_clamps_apply(&list, &model);
        code = code ? code
                    : estimate_model(model, all - sal_space_variables(sal_model_space(model)), &o);
    }
    cli_clamps_free(&list);
    sal_model_destroy(model);
    return code;
}

const cli_command cli_logz = { "logz", "MODEL", "estimate log Z of a model of any size", run_logz };
