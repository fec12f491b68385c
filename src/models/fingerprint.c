/* SPDX-License-Identifier: MIT */
#include "models/fingerprint.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/tape_model.h"

uint64_t sali_hash(uint64_t h, const void *data, int64_t bytes)
{
    const unsigned char *byte = data;
    for (int64_t i = 0; i < bytes; i++) {
        h = (h ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return h;
}

uint64_t sali_hash_whole(uint64_t h, int64_t value)
{
    return sali_hash(h, &value, sizeof value);
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    return text ? sali_hash(h, text, (int64_t)strlen(text) + 1) : sali_hash_whole(h, -1);
}

/* h extended by the kind, the number of states and the levels of each variable. */
static uint64_t hash_space(uint64_t h, const sal_space *space)
{
    for (int64_t i = 0; i < space->n_variables; i++) {
        const sali_variable *v = &space->variables[i];
        h = sali_hash_whole(sali_hash_whole(h, v->kind), v->states);
        if (v->levels) {
            h = sali_hash(h, v->levels, v->states * (int64_t)sizeof *v->levels);
        }
    }
    for (int64_t b = 0; space->fixed && b < space->n_blocks; b++) {
        const sali_stretch *s = &space->stretches[b];
        h = sali_hash_whole(sali_hash_whole(h, s->first), s->fixed_total);
        if (s->fixed_codes) {
            h = sali_hash(h, s->fixed_codes, s->states * (int64_t)sizeof *s->fixed_codes);
        }
    }
    return h;
}

/* h extended by a node's op (by name), name, inputs, shape and numbers. */
static uint64_t hash_node(uint64_t h, const sali_node *node)
{
    h = hash_text(h, sali_op_of(SAL_F64, node->op)->name);
    h = hash_text(h, node->name);
    h = sali_hash(h, node->in, node->n_in * (int64_t)sizeof *node->in);
    h = sali_hash(h, node->shape.dim, node->shape.rank * (int64_t)sizeof *node->shape.dim);
    h = sali_hash(h, node->ints, node->n_ints * (int64_t)sizeof *node->ints);
    return sali_hash(h, node->reals, node->n_reals * (int64_t)sizeof *node->reals);
}

uint64_t sali_model_structure(const sal_model *model)
{
    const sali_tape_model *tape = sali_model_tape(model);
    uint64_t h = hash_space(SALI_HASH_START, sali_clamp_inner(model)->space);
    for (int32_t i = 0; tape && i < tape->program->n_nodes; i++) {
        h = hash_node(h, &tape->program->nodes[i]);
    }
    return tape ? sali_hash_whole(h, tape->program->output) : h;
}

/* Extend *h by which variables of the inner model are fixed, and by their codes. */
static sal_status hash_clamps(const sal_model *model, uint64_t *h, sal_error *err)
{
    int64_t V = sali_clamp_inner(model)->space->n_variables;
    int32_t *index = SALI_NEW_ARRAY(int32_t, V), *code = SALI_NEW_ARRAY(int32_t, V);
    sal_status status =
        index && code ? sali_clamp_index(model, index, code) : sali_fail_memory(err);
    if (status == SAL_OK) {
        *h = sali_hash(*h, index, V * (int64_t)sizeof *index);
        *h = sali_hash(*h, code, V * (int64_t)sizeof *code);
    }
    sali_free(index);
    sali_free(code);
    return status;
}

/* Extend *h by the values of all parameters. */
static sal_status hash_parameters(const sali_tape_model *tape, uint64_t *h, sal_error *err)
{
    int64_t n = tape->program->parameters_size;
    double *values = SALI_NEW_ARRAY(double, n);
    if (!values) {
        return sali_fail_memory(err);
    }
    sali_params_get(tape->params, values);
    *h = sali_hash(*h, values, n * (int64_t)sizeof *values);
    sali_free(values);
    return SAL_OK;
}

sal_status sali_model_fingerprint(const sal_model *model, uint64_t *out, sal_error *err)
{
    const sali_tape_model *tape = sali_model_tape(model);
    uint64_t h = sali_hash_whole(sali_model_structure(model), model->dtype);
    sal_status status = sali_clamp_inner(model) == model ? SAL_OK : hash_clamps(model, &h, err);
    status = status || !tape ? status : hash_parameters(tape, &h, err);
    if (status == SAL_OK) {
        *out = h;
    }
    return status;
}
