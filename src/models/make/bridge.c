/* SPDX-License-Identifier: MIT */
#include "models/make/bridge.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/base.h"
#include "models/make/bridge_mix.h"
#include "models/clamp.h"
#include "models/make/tape_copy.h"
#include "models/structure.h"
#include "models/structure/recognise.h"
#include "models/tape_model.h"

/* Record beta as a new scalar parameter. It is set by its index, so another parameter may have the
 * same name. */
static sal_expr record_beta(sal_tape *tape)
{
    const sal_shape scalar = { .rank = 0 };
    return sali_record(
        tape, &(sali_node_spec){ .op = SALI_OP_param, .name = "bridge.beta", .shape = &scalar });
}

/* Give `made` the parameter values of `of`, and 1 as the value of beta, its last parameter. */
static sal_status copy_parameters(const sali_tape_model *of, const sal_model *made, sal_error *err)
{
    int64_t n = of->program->parameters_size;
    double *flat = SALI_NEW_ARRAY(double, n + 1);
    if (!flat) {
        return sali_fail_memory(err);
    }
    sali_params_get(of->params, flat);
    flat[n] = 1;
    sali_params_set(sali_model_tape(made)->params, flat);
    sali_free(flat);
    return SAL_OK;
}

/* The bridge of a tape: one tape of beta f + (1 - beta) log p_0. If `of` has a structure, the
 * structure of the mixture is recognised as well. */
static sal_status bridge_tape(const sal_model *of, const double *log_base, sali_bridge *bridge,
                              sal_error *err)
{
    const sali_tape_model *content = sali_model_tape(of);
    sal_tape *tape = sali_tape_reopen(content->program);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_model *made = NULL;
    sal_expr f = { .tape = tape, .node = content->program->output }, beta = record_beta(tape);
    sal_expr base = sali_base_record(tape, of->space, log_base);
    sal_expr rest = sal_sub(sal_scalar(tape, 1), beta);
    sal_expr mix = sal_add(sal_mul(beta, f), sal_mul(rest, base));
    sal_status status = sal_model_from_tape(tape, mix, &made, err);
    status = status ? status : copy_parameters(content, made, err);
    status = status ? status : sal_model_set_name(made, of->name, err);
    if (status == SAL_OK && of->structure && !made->structure) {
        status = sali_structure_recognise(made, log_base, err);
    }
    sal_tape_destroy(tape);
    if (status != SAL_OK) {
        sal_model_destroy(made);
        return status;
    }
    *bridge = (sali_bridge){
        .model = made,
        .parameter = sali_model_tape(made)->program->n_parameters - 1,
    };
    return SAL_OK;
}

/* The base over the variables of the inner model of `of`, [R of the inner model], to be freed: 0
 * for all states of a fixed variable, so that it adds nothing. NULL: out of memory. */
static double *expand_base(const sal_model *of, const double *log_base)
{
    const sal_space *space = sali_clamp_inner(of)->space;
    double *expanded = SALI_NEW_ARRAY(double, space->n_states);
    int32_t *index = SALI_NEW_ARRAY(int32_t, space->n_variables);
    int32_t *code = SALI_NEW_ARRAY(int32_t, space->n_variables);
    const bool room = expanded && index && code && sali_clamp_index(of, index, code) == SAL_OK;
    for (int64_t v = 0, at = 0; room && v < space->n_variables; v++) {
        const int32_t entries = sali_entries(space->variables[v].states);
        for (int32_t k = 0; index[v] >= 0 && k < entries; k++) {
            expanded[at + k] = *log_base++;
        }
        at += entries;
    }
    sali_free(index);
    sali_free(code);
    if (!room) {
        sali_free(expanded);
        return NULL;
    }
    return expanded;
}

/* The bridge of a clamped tape: the bridge of the whole tape, with the same variables fixed. */
static sal_status bridge_clamped(const sal_model *of, const double *log_base, sali_bridge *bridge,
                                 sal_error *err)
{
    sali_bridge whole = { 0 };
    double *expanded = expand_base(of, log_base);
    sal_status status =
        expanded ? bridge_tape(sali_clamp_inner(of), expanded, &whole, err) : sali_fail_memory(err);
    status = status ? status : sali_clamp_alike(of, whole.model, &bridge->model, err);
    bridge->parameter = status == SAL_OK ? whole.parameter : bridge->parameter;
    sal_model_destroy(whole.model);
    sali_free(expanded);
    return status;
}

/* The bridge of a model that is no tape: evaluates `of` and a tape of log p_0 (bridge_mix.h). */
static sal_status bridge_any(sal_model *of, const double *log_base, sali_bridge *bridge,
                             sal_error *err)
{
    sal_tape *tape = sal_tape_create(of->space, of->dtype);
    sal_model *base = NULL;
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_status status =
        sal_model_from_tape(tape, sali_base_record(tape, of->space, log_base), &base, err);
    sal_tape_destroy(tape);
    status = status ? status : sali_bridge_mix(of, base, &bridge->model, err);
    bridge->parameter = status == SAL_OK ? -1 : bridge->parameter;
    return status;
}

sal_status sali_bridge_create(sal_model *of, const double *log_base, sali_bridge *bridge,
                              sal_error *err)
{
    return !sali_model_tape(of)         ? bridge_any(of, log_base, bridge, err)
           : sali_clamp_inner(of) == of ? bridge_tape(of, log_base, bridge, err)
                                        : bridge_clamped(of, log_base, bridge, err);
}

void sali_bridge_free(sali_bridge *bridge)
{
    sal_model_destroy(bridge->model);
    bridge->model = NULL;
}

void sali_bridge_set(sali_bridge *bridge, double beta)
{
    if (bridge->parameter < 0) {
        sali_bridge_mix_set(bridge->model, beta);
        return;
    }
    sali_params_set_one(sali_model_tape(bridge->model)->params, bridge->parameter, &beta);
}
