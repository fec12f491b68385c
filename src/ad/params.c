/* SPDX-License-Identifier: MIT */
#include "ad/params.h"

#include "core/error.h"
#include "ad/hoisted.h"

static void store_all(sal_dtype dtype, int64_t n, const double *from, void *to)
{
    for (int64_t i = 0; i < n; i++) {
        sali_store(dtype, to, i, from[i]);
    }
}

void sali_hoisted_call(const sali_params *params, int32_t i, void *const *adjoint, sali_arg *args,
                       sali_call *call)
{
    const sali_program *program = params->program;
    const sali_node *node = &program->nodes[i];
    for (int32_t k = 0; k < node->n_in; k++) {
        int32_t j = node->in[k];
        args[k] = (sali_arg){
            .value = params->value[j],
            .adjoint = adjoint ? adjoint[program->steps[j].storage] : NULL,
            .size = program->steps[j].size,
            .shape = &program->nodes[j].shape,
        };
    }
    *call = (sali_call){
        .node = node,
        .plan = program->steps[i].plan,
        .prepared = params->prepared[i],
        .chains = 1,
        .in = args,
        .out = { .value = params->value[i],
                 .adjoint = adjoint ? adjoint[i] : NULL,
                 .size = program->steps[i].size,
                 .shape = &node->shape },
        .saved = params->saved[i],
        .scratch = params->scratch,
    };
}

/* Run `prepare` of node i, if its op has one, and `forward` if the node is hoisted. */
static void evaluate_node(sali_params *params, int32_t i)
{
    const sali_op *op = params->program->steps[i].op;
    bool hoisted = sali_is_hoisted(params->program, i);
    sali_call call;
    if (hoisted || params->prepared[i]) {
        sali_hoisted_call(params, i, NULL, params->args, &call);
    }
    if (params->prepared[i]) {
        op->prepare(&call, params->prepared[i]);
    }
    if (hoisted) {
        op->forward(&call);
    }
}

double sali_params_addend(const sali_params *params, int32_t i, int64_t k)
{
    const sali_node *node = &params->program->nodes[i];
    return node->op == SALI_OP_constant ? node->reals[k]
                                        : sali_load(params->program->dtype, params->value[i], k);
}

/* Recompute params->offset, the sum of the addends, and raise the version. */
static void finish_update(sali_params *params)
{
    params->offset = -0.0; /* which leaves every number as it is, 0 too */
    for (int32_t a = params->program->n_addends - 1; a >= 0; a--) {
        params->offset += sali_params_addend(params, params->program->addends[a], 0);
    }
    params->version++;
}

static void evaluate_hoisted(sali_params *params)
{
    for (int32_t i = 0; i < params->program->n_nodes; i++) {
        evaluate_node(params, i);
    }
    finish_update(params);
}

/* Take memory for the values and saved values of nodes that do not vary, for prepared inputs and
 * for scratch. An alias shares the value of its input. */
static void allocate_values(sali_params *params)
{
    const sali_program *program = params->program;
    sali_memory *m = &params->memory;
    size_t element = sali_dtype_size(program->dtype);
    params->value = SALI_TAKE(m, void *, program->n_nodes);
    params->saved = SALI_TAKE(m, void *, program->n_nodes);
    params->prepared = SALI_TAKE(m, void *, program->n_nodes);
    for (int32_t i = 0; !m->refused && i < program->n_nodes; i++) {
        const sali_node *node = &program->nodes[i];
        const sali_step *step = &program->steps[i];
        if (step->op->prepare) {
            int64_t size = step->op->prepared_size(node, step->in);
            params->prepared[i] = sali_memory_take(m, size, element);
        }
        if (node->varying) {
            continue;
        }
        if (step->storage != i) {
            params->value[i] = params->value[step->storage];
            continue;
        }
        params->value[i] = sali_memory_take(m, step->size, element);
        params->saved[i] = sali_memory_take(m, step->saved_size, element);
    }
    params->scratch = sali_memory_take(m, sali_program_scratch(program, 1), element);
    params->args = SALI_TAKE(m, sali_arg, program->max_inputs);
    params->stale = SALI_TAKE(m, bool, program->n_nodes);
}

sal_status sali_params_create(const sali_program *program, sali_params **out, sal_error *err)
{
    sali_params *params = SALI_NEW(sali_params);
    if (!params) {
        return sali_fail_memory(err);
    }
    params->program = program;
    allocate_values(params);
    if (params->memory.refused) {
        sali_params_destroy(params);
        return sali_fail_memory(err);
    }
    for (int32_t i = 0; i < program->n_nodes; i++) {
        if (program->nodes[i].op == SALI_OP_constant) {
            store_all(program->dtype, program->steps[i].size, program->nodes[i].reals,
                      params->value[i]);
        }
    }
    evaluate_hoisted(params);
    *out = params;
    return SAL_OK;
}

void sali_params_destroy(sali_params *params)
{
    if (params) {
        sali_memory_free(&params->memory);
        sali_free(params);
    }
}

void sali_params_set(sali_params *params, const double *flat)
{
    const sali_program *program = params->program;
    for (int32_t p = 0; p < program->n_parameters; p++) {
        const sali_parameter *place = &program->parameters[p];
        store_all(program->dtype, place->size, flat + place->first, params->value[place->node]);
    }
    evaluate_hoisted(params);
}

void sali_params_set_one(sali_params *params, int32_t p, const double *values)
{
    const sali_program *program = params->program;
    const sali_parameter *place = &program->parameters[p];
    store_all(program->dtype, place->size, values, params->value[place->node]);
    for (int32_t i = 0; i < program->n_nodes; i++) {
        const sali_node *node = &program->nodes[i];
        bool stale = i == place->node;
        for (int32_t k = 0; k < node->n_in; k++) {
            stale |= params->stale[node->in[k]];
        }
        if (stale) {
            evaluate_node(params, i);
        }
        params->stale[i] = stale && !node->varying; /* values that vary are not kept here */
    }
    finish_update(params);
}

void sali_params_get(const sali_params *params, double *flat)
{
    const sali_program *program = params->program;
    for (int32_t p = 0; p < program->n_parameters; p++) {
        const sali_parameter *place = &program->parameters[p];
        for (int64_t k = 0; k < place->size; k++) {
            flat[place->first + k] = sali_load(program->dtype, params->value[place->node], k);
        }
    }
}
