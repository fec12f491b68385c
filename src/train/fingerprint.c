/* What a resumed training must share with the one that was saved. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/json_text.h"
#include "train/trainer.h"

/* ---- hashes: FNV-1a, 64 bits */

#define START UINT64_C(0xcbf29ce484222325)

static uint64_t hash(uint64_t h, const void *data, int64_t bytes)
{
    const unsigned char *byte = data;
    for (int64_t i = 0; i < bytes; i++) {
        h = (h ^ byte[i]) * UINT64_C(0x100000001b3);
    }
    return h;
}

static uint64_t hash_whole(uint64_t h, int64_t value)
{
    return hash(h, &value, sizeof value);
}

static uint64_t hash_text(uint64_t h, const char *text)
{
    return text ? hash(h, text, (int64_t)strlen(text) + 1) : hash_whole(h, -1);
}

static uint64_t hash_data(const sal_data *data)
{
    uint64_t h = hash_whole(START, data->rows);
    h = hash(h, data->codes, data->rows * data->variables);
    if (data->intensity) {
        h = hash(h, data->intensity,
                 data->rows * data->variables * (int64_t)sizeof *data->intensity);
    }
    return data->weight ? hash(h, data->weight, data->rows * (int64_t)sizeof *data->weight) : h;
}

static uint64_t hash_space(uint64_t h, const sal_space *space)
{
    for (int64_t i = 0; i < space->n_variables; i++) {
        const sali_variable *v = &space->variables[i];
        h = hash_whole(hash_whole(h, v->kind), v->states);
        if (v->levels) {
            h = hash(h, v->levels, v->states * (int64_t)sizeof *v->levels);
        }
    }
    return h;
}

/* Ops, shapes, names and all their numbers, constants among them, but not what parameters are. */
static uint64_t hash_model(const sal_model *model)
{
    const sali_program *program = sali_model_tape(model)->program;
    uint64_t h = hash_space(START, model->space);
    for (int32_t i = 0; i < program->n_nodes; i++) {
        const sali_node *node = &program->nodes[i];
        h = hash_text(h, sali_op_of(SAL_F64, node->op)->name);
        h = hash_text(h, node->name);
        h = hash(h, node->in, node->n_in * (int64_t)sizeof *node->in);
        h = hash(h, node->shape.dim, node->shape.rank * (int64_t)sizeof *node->shape.dim);
        h = hash(h, node->ints, node->n_ints * (int64_t)sizeof *node->ints);
        h = hash(h, node->reals, node->n_reals * (int64_t)sizeof *node->reals);
    }
    return hash_whole(h, program->output);
}

static uint64_t hash_matrix(const double *matrix, int64_t side)
{
    return matrix ? hash(START, matrix, side * side * (int64_t)sizeof *matrix) : 0;
}

/* ---- the whole */

static json_t *hexadecimal(uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)value);
    return json_string(text);
}

json_t *sali_train_fingerprint(const sal_model *model, const sal_data *data,
                               const sal_train_options *o)
{
    return json_pack(
        "{s:o, s:o, s:s, s:o, s:i, s:I, s:o, s:s, s:I, s:f, s:o, s:I, s:i, s:f, s:i, s:f, s:I, "
        "s:f, s:f, s:f, s:f, s:f, s:s?, s:f, s:b, s:f, s:s?}",
        "model", sali_json_text(model->name), "structure", hexadecimal(hash_model(model)), "dtype",
        model->dtype == SAL_F32 ? "f32" : "f64", "data", hexadecimal(hash_data(data)), "objective",
        (int)o->objective, "batch", (json_int_t)o->batch, "seed", hexadecimal(o->seed), "sampler",
        o->sampler, "steps", (json_int_t)o->steps, "step_size", o->step_size, "preconditioner",
        hexadecimal(hash_matrix(o->preconditioner, model->space->width)), "buffer",
        (json_int_t)o->buffer, "buffer_start", (int)o->buffer_start, "restart", o->restart,
        "optimiser", (int)o->optimiser, "learning_rate", o->learning_rate, "rate_warmup",
        (json_int_t)o->rate_warmup, "momentum", o->momentum, "beta2", o->beta2, "epsilon",
        o->epsilon, "weight_decay", o->weight_decay, "averaging", o->averaging, "couplings",
        o->couplings, "l1", o->l1, "zero_diagonal", (int)o->zero_diagonal, "magnitude_penalty",
        o->magnitude_penalty, "fixed", o->fixed);
}

static sal_status differs(const char *path, const char *key, const json_t *before,
                          const json_t *now, sal_error *err)
{
    const size_t form = JSON_ENCODE_ANY | JSON_REAL_PRECISION(17);
    char *was = before ? json_dumps(before, form) : NULL, *is = json_dumps(now, form);
    sal_status status = sali_fail(err, SAL_ERR_DATA,
                                  "%s: the training was saved with %s %.60s and is to go on with "
                                  "%.60s; give the same options, or another directory",
                                  path, key, was ? was : "(none)", is ? is : "?");
    free(was);
    free(is);
    return status;
}

sal_status sali_train_compare(const char *path, const json_t *saved, const json_t *now,
                              sal_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)now, key, value)
    {
        const json_t *before = json_object_get(saved, key);
        if (!before || !json_equal(before, value)) {
            return differs(path, key, before, value, err);
        }
    }
    return SAL_OK;
}
