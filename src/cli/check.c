/* SPDX-License-Identifier: MIT */
/* saltus check: what a model is, whether its gradient is right, and which samplers can sample it.
 */
#include <string.h>

#include "ad/op.h"
#include "cli/cli.h"
#include "cli/derivatives.h"
#include "cli/json.h"
#include "cli/program.h"
#include "models/tape_model.h"
#include "samplers/sampler.h"

static const char *const kinds[] = { "", "binary", "spin", "ordinal", "categorical", "count" };

static void print_space(const sal_model *model)
{
    const sal_space *space = sal_model_space(model);
    printf("model        %s (%s)\n", sal_model_name(model),
           sal_model_dtype(model) == SAL_F32 ? "f32" : "f64");
    printf("variables    %lld, embedding of %lld reals\n", (long long)sal_space_variables(space),
           (long long)sal_space_width(space));
    for (int64_t b = 0; b < sal_space_blocks(space); b++) {
        const sal_block *block = sal_space_block(space, b);
        printf("  block      %-12s %lld x %s", block->name, (long long)block->count,
               kinds[block->kind]);
        if (block->states > 0) {
            printf(", %lld states", (long long)block->states);
        }
        putchar('\n');
    }
}

/* How many nodes of each op the program has; none without a tape. */
static void count_operations(const sal_model *model, int64_t counts[SALI_OP_COUNT])
{
    const sali_tape_model *tape = sali_model_tape(model);
    memset(counts, 0, SALI_OP_COUNT * sizeof *counts);
    for (int32_t i = 0; tape && i < tape->program->n_nodes; i++) {
        counts[tape->program->nodes[i].op]++;
    }
}

static void print_program(const sal_model *model)
{
    int64_t counts[SALI_OP_COUNT];
    sal_shape shape;
    if (!sali_model_tape(model)) {
        return;
    }
    count_operations(model, counts);
    for (int64_t k = 0; k < sal_model_parameters(model); k++) {
        char text[SALI_SHAPE_TEXT];
        const char *name = sal_model_parameter(model, k, &shape);
        printf("  parameter  %-12s %s\n", name, sali_shape_text(&shape, text));
    }
    printf("operations  ");
    for (int k = 0; k < SALI_OP_COUNT; k++) {
        if (counts[k] > 0) {
            printf(" %s:%lld", sali_op_f64((sali_op_id)k)->name, (long long)counts[k]);
        }
    }
    putchar('\n');
}

static void print_samplers(const sal_model *model)
{
    printf("samplers    ");
    for (int64_t k = 0; sali_sampler_at(k); k++) {
        if (sali_sampler_serves(sali_sampler_at(k), model)) {
            printf(" %s", sali_sampler_at(k)->name);
        }
    }
    putchar('\n');
}

static void print_gradient(const cli_derivatives *worst)
{
    if (worst->slopes > 0) {
        printf("gradient     within %.1e of central differences (relative, %d states)\n",
               worst->gradient, CLI_CHECKED_STATES);
    } else {
        printf("gradient     not compared: %s at the %d states looked at\n",
               worst->changes == 0 ? "every change of one variable is forbidden (f is -inf)"
                                   : "it is not finite, or f beside it is not,",
               CLI_CHECKED_STATES);
    }
}

static void print_first_order(const sal_model *model, const cli_derivatives *worst)
{
    printf("differences  by %s; first-order ones are ",
           sali_strategy_name(sali_strategy_best(model)));
    if (worst->changes > 0) {
        printf("off by %.1e (relative)\n", worst->taylor);
    } else {
        printf("not compared, as no change is allowed\n");
    }
}

static void print_errors(const sal_model *model, const cli_derivatives *worst)
{
    print_gradient(worst);
    if (worst->kinks > 0) {
        printf("  kinks      in %lld of %lld coordinates, where it is held against the slopes on "
               "both sides\n",
               (long long)worst->kinks, (long long)(CLI_CHECKED_STATES * model->space->width));
    }
    print_first_order(model, worst);
    for (int s = 0; s < SALI_STRATEGIES; s++) {
        sali_strategy strategy = (sali_strategy)s;
        if (strategy != sali_strategy_best(model) && sali_strategy_applies(model, strategy)) {
            printf("  against    %s: within %.1e (relative)\n", sali_strategy_name(strategy),
                   worst->strategies);
        }
    }
}

/* ---- the same as JSON */

static json_t *blocks_json(const sal_space *space)
{
    json_t *list = json_array();
    for (int64_t b = 0; b < sal_space_blocks(space); b++) {
        const sal_block *block = sal_space_block(space, b);
        json_t *item = json_pack("{s:o, s:s, s:I}", "name", cli_json_text(block->name), "kind",
                                 kinds[block->kind], "count", (json_int_t)block->count);
        if (item && block->states > 0) {
            json_object_set_new(item, "states", json_integer(block->states));
        }
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *parameters_json(const sal_model *model)
{
    json_t *list = json_array();
    sal_shape shape;
    const char *name;
    for (int64_t k = 0; (name = sal_model_parameter(model, k, &shape)); k++) {
        json_t *sizes = json_array();
        for (int d = 0; d < shape.rank; d++) {
            json_array_append_new(sizes, json_integer(shape.dim[d]));
        }
        json_array_append_new(list,
                              json_pack("{s:o, s:o}", "name", cli_json_text(name), "shape", sizes));
    }
    return list;
}

static json_t *operations_json(const sal_model *model)
{
    json_t *object = json_object();
    int64_t counts[SALI_OP_COUNT];
    count_operations(model, counts);
    for (int k = 0; k < SALI_OP_COUNT; k++) {
        if (counts[k] > 0) {
            json_object_set_new(object, sali_op_f64((sali_op_id)k)->name, json_integer(counts[k]));
        }
    }
    return object;
}

static json_t *samplers_json(const sal_model *model)
{
    json_t *list = json_array();
    for (int64_t k = 0; sali_sampler_at(k); k++) {
        if (sali_sampler_serves(sali_sampler_at(k), model)) {
            json_array_append_new(list, json_string(sali_sampler_at(k)->name));
        }
    }
    return list;
}

static json_t *derivatives_json(const sal_model *model, const cli_derivatives *worst)
{
    json_t *others = json_array();
    for (int s = 0; s < SALI_STRATEGIES; s++) {
        sali_strategy strategy = (sali_strategy)s;
        if (strategy != sali_strategy_best(model) && sali_strategy_applies(model, strategy)) {
            json_array_append_new(others, json_string(sali_strategy_name(strategy)));
        }
    }
    json_t *object = json_pack("{s:i, s:I, s:s, s:o}", "states", CLI_CHECKED_STATES, "kinks",
                               (json_int_t)worst->kinks, "differences_by",
                               sali_strategy_name(sali_strategy_best(model)), "against", others);
    cli_json_number(object, "gradient_error", worst->gradient);
    cli_json_number(object, "first_order_error", worst->taylor);
    cli_json_number(object, "against_error", worst->strategies);
    return object;
}

/* `worst` is NULL where derivatives could not be checked. */
static int print_json(const sal_model *model, const cli_derivatives *worst, const char *why)
{
    const sal_space *space = sal_model_space(model);
    json_t *object = json_pack(
        "{s:o, s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "model", cli_json_text(sal_model_name(model)),
        "dtype", sal_model_dtype(model) == SAL_F32 ? "f32" : "f64", "variables",
        (json_int_t)sal_space_variables(space), "width", (json_int_t)sal_space_width(space),
        "blocks", blocks_json(space), "parameters", parameters_json(model), "operations",
        operations_json(model), "samplers", samplers_json(model));
    json_object_set_new(object, "derivatives",
                        worst ? derivatives_json(model, worst) : json_null());
    if (!worst) {
        json_object_set_new(object, "not_checked", cli_json_text(why));
    }
    return cli_json_print(object);
}

/* ---- the command */

static sal_status print_text(const sal_model *model, const cli_derivatives *worst, const char *why,
                             bool program, sal_error *err)
{
    print_space(model);
    print_program(model);
    if (worst) {
        print_errors(model, worst);
    } else {
        printf("derivatives  not checked: %s\n", why);
    }
    print_samplers(model);
    return program ? cli_print_program(model, err) : SAL_OK;
}

static int check(const sal_model *model, const sal_model *exact, int64_t seed, bool json,
                 bool program)
{
    cli_derivatives worst;
    sal_error why = { 0 }, err = { 0 };
    sal_status status = cli_measure_derivatives(model, exact, seed, &worst, &why);
    if (status != SAL_OK && status != SAL_ERR_MODEL) {
        return cli_fail(status, &why);
    }
    const cli_derivatives *errors = status == SAL_OK ? &worst : NULL;
    if (json) {
        return print_json(model, errors, why.message);
    }
    status = print_text(model, errors, why.message, program, &err);
    return status == SAL_OK ? CLI_OK : cli_fail(status, &err);
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
    sal_model *model = NULL, *exact = NULL;
    int code = cli_parse(command, argc, argv, table, 1, &specification);
    if (code == CLI_OK && json && program) {
        code = cli_usage("check: --program is a text; leave out --json");
    }
    code = code ? code : cli_open(specification, dtype, params, &model);
    code = code ? code : cli_open(specification, "f64", params, &exact);
    if (code != CLI_OK) {
        sal_model_destroy(model);
        return code;
    }
    code = check(model, exact, seed, json, program);
    sal_model_destroy(model);
    sal_model_destroy(exact);
    return code;
}

const cli_command cli_check = { "check", "MODEL",
                                "check gradient and differences; print sizes and samplers",
                                run_check };
