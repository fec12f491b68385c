/* SPDX-License-Identifier: MIT */
/* Descriptions of models, and exact answers about them, as JSON. */
#include <math.h>

#include <saltus/flat.h>
#include <saltus/program.h>
#include "core/error.h"
#include "core/space.h"
#include "flat/json.h"
#include "flat/options.h"
#include "models/exact/exact.h"
#include "models/tape_model.h"

/* An array with an object for each block of variables; "sum" and "labels" are there where they are
 * fixed, "letters" where labels have them. */
static json_t *blocks_of(const sal_space *space)
{
    json_t *list = json_array();
    const sal_block *block;
    for (int64_t b = 0; (block = sal_space_block(space, b)); b++) {
        json_t *item = json_pack("{s:o, s:s, s:I}", "name", sali_json_text(block->name), "kind",
                                 sali_kind_name(block->kind), "count", (json_int_t)block->count);
        if (block->states > 0) {
            json_object_set_new(item, "states", json_integer(block->states));
        }
        if (block->kind == SAL_ORDINAL && block->levels) {
            json_object_set_new(item, "levels", sali_flat_reals(block->states, block->levels));
        }
        if (block->fixed_sum) {
            json_object_set_new(item, "sum", json_integer(block->sum));
        }
        if (block->letters) {
            json_object_set_new(item, "letters", json_string(block->letters));
        }
        if (block->labels) {
            json_t *labels = json_array();
            for (int64_t k = 0; k < block->states; k++) {
                json_array_append_new(labels, json_integer(block->labels[k]));
            }
            json_object_set_new(item, "labels", labels);
        }
        json_array_append_new(list, item);
    }
    return list;
}

/* An array with the name and the shape of each parameter. */
static json_t *parameters_of(const sal_model *model)
{
    json_t *list = json_array();
    sal_shape shape;
    const char *name;
    for (int64_t k = 0; (name = sal_model_parameter(model, k, &shape)); k++) {
        json_t *sizes = json_array();
        for (int d = 0; d < shape.rank; d++) {
            json_array_append_new(sizes, json_integer(shape.dim[d]));
        }
        json_array_append_new(
            list, json_pack("{s:o, s:o}", "name", sali_json_text(name), "shape", sizes));
    }
    return list;
}

/* An object with the number of nodes of each op that the model has. */
static json_t *operations_of(const sal_model *model)
{
    json_t *object = json_object();
    sal_op_info op;
    for (int64_t k = 0; sal_op_list(k, &op); k++) {
        int64_t nodes = sali_model_operations(model, op.name);
        if (nodes > 0) {
            json_object_set_new(object, op.name, json_integer(nodes));
        }
    }
    return object;
}

/* An array with the names of the samplers that can sample the model. */
static json_t *samplers_of(const sal_model *model)
{
    json_t *list = json_array();
    sal_sampler_info info;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        if (sal_sampler_find(info.name, model, 0, NULL, NULL) == SAL_OK) {
            json_array_append_new(list, json_string(info.name));
        }
    }
    return list;
}

sal_status sal_flat_model_info(const sal_model *model, char **json, sal_error *err)
{
    const sal_space *space = sal_model_space(model);
    json_t *object =
        json_pack("{s:o, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:b}", "model",
                  sali_json_text(sal_model_name(model)), "dtype",
                  sal_model_dtype(model) == SAL_F32 ? "f32" : "f64", "variables",
                  (json_int_t)sal_space_variables(space), "width",
                  (json_int_t)sal_space_width(space), "blocks", blocks_of(space), "parameters",
                  parameters_of(model), "operations", operations_of(model), "samplers",
                  samplers_of(model), "multilinear", sal_model_is_multilinear(model));
    bool warns;
    const char *remark = sal_model_remark(model, &warns);
    if (object && remark) {
        json_object_set_new(object, "remark", sali_json_text(remark));
        json_object_set_new(object, "warns", json_boolean(warns));
    }
    return sali_flat_give(object, json, err);
}

sal_status sal_flat_check(const sal_model *model, const sal_model *exact, uint64_t seed,
                          char **json, sal_error *err)
{
    static const sali_flat_field fields[] = {
        SALI_FLAT_FIELD("states", WHOLE, sal_model_checks, states),
        SALI_FLAT_FIELD("slopes", WHOLE, sal_model_checks, slopes),
        SALI_FLAT_FIELD("skipped", WHOLE, sal_model_checks, skipped),
        SALI_FLAT_FIELD("kinks", WHOLE, sal_model_checks, kinks),
        SALI_FLAT_FIELD("changes", WHOLE, sal_model_checks, changes),
        SALI_FLAT_FIELD("differences_by", TEXT, sal_model_checks, differences),
        SALI_FLAT_FIELD("gradient_error", REAL, sal_model_checks, gradient_error),
        SALI_FLAT_FIELD("first_order_error", REAL, sal_model_checks, first_order_error),
        SALI_FLAT_FIELD("against_error", REAL, sal_model_checks, against_error),
        { 0 },
    };
    sal_model_checks checks;
    sal_status status = sal_model_check(model, exact, seed, &checks, err);
    if (status != SAL_OK) {
        return status;
    }
    json_t *object = sali_flat_record(&checks, fields), *others = json_array();
    for (int k = 0; checks.against[k]; k++) {
        json_array_append_new(others, json_string(checks.against[k]));
    }
    json_object_set_new(object, "against", others);
    return sali_flat_give(object, json, err);
}

sal_status sal_exact_json(const sal_exact *exact, char **json, sal_error *err)
{
    static const sali_flat_field fields[] = {
        SALI_FLAT_FIELD("oracle", TEXT, sal_exact, oracle),
        SALI_FLAT_FIELD("log_z", REAL, sal_exact, log_z),
        SALI_FLAT_FIELD("log_prob_mean", REAL, sal_exact, log_prob_mean),
        { 0 },
    };
    json_t *object = sali_flat_record(exact, fields);
    sali_flat_number(object, "entropy", exact->log_z - exact->log_prob_mean);
    sali_flat_number(object, "rounding", exact->rounding);
    char warning[SAL_ERROR_SIZE];
    if (sal_exact_warning(exact, warning, sizeof warning)) {
        json_object_set_new(object, "warning", json_string(warning));
    }
    if (exact->width >= 0) {
        json_object_set_new(object, "width", json_integer(exact->width));
        json_object_set_new(object, "memory", json_integer((json_int_t)exact->memory));
    }
    return sali_flat_give(object, json, err);
}

sal_status sal_flat_exact(const sal_model *model, const char *options, double *marginals,
                          double *pairs, double *covariance, char **json, sal_error *err)
{
    sal_exact_options o = { 0 };
    sali_flat_owner owner = { 0 };
    sal_exact exact;
    sal_status status =
        sali_flat_read(sal_option_table_of(SAL_OPTIONS_EXACT), options, &o, &owner, err);
    status =
        status ? status : sal_model_exact(model, &o, &exact, marginals, pairs, covariance, err);
    sali_flat_release(&owner);
    return status ? status : sal_exact_json(&exact, json, err);
}

sal_status sal_flat_exact_draws(const sal_model *model, const char *options, int64_t n,
                                uint64_t seed, int32_t *codes, char **json, sal_error *err)
{
    sal_exact_options o = { 0 };
    sali_flat_owner owner = { 0 };
    sal_exact exact;
    sal_status status =
        sali_flat_read(sal_option_table_of(SAL_OPTIONS_EXACT), options, &o, &owner, err);
    status = status ? status : sal_model_exact_draws(model, &o, n, seed, codes, &exact, err);
    sali_flat_release(&owner);
    return status ? status : sal_exact_json(&exact, json, err);
}
