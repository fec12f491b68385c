/* SPDX-License-Identifier: MIT */
#include "models/tape_model.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "ad/workspace.h"
#include "core/alloc.h"
#include "core/error.h"
#include "core/text.h"
#include "models/clamp.h"

static sal_status tape_open(const sal_model *model, int64_t chains, unsigned wants, void **ws,
                            sal_error *err)
{
    const sali_tape_model *tape = model->content;
    sali_workspace *made = NULL;
    sal_status status =
        sali_workspace_create(tape->program, tape->params, chains,
                              ((wants & SALI_WANT_GRADIENT) ? SALI_WANT_STATE_GRADIENT : 0) |
                                  ((wants & SALI_WANT_NO_LIMITS) ? SALI_WANT_UNLIMITED : 0),
                              &made, err);
    *ws = made;
    return status;
}

static void tape_close(void *ws)
{
    sali_workspace_destroy(ws);
}

static void tape_value(void *ws, int64_t chains, const int32_t *codes, const void *x, double *f)
{
    sali_workspace_value(ws, chains, codes, x, f);
}

static void tape_gradient(void *ws, int64_t chains, const int32_t *codes, const void *x, double *f,
                          void *gradient)
{
    sali_workspace_gradient(ws, chains, codes, x, f, gradient);
}

static uint64_t tape_version(const sal_model *model)
{
    return ((const sali_tape_model *)model->content)->params->version;
}

static void tape_destroy(void *content)
{
    sali_tape_model *tape = content;
    sali_params_destroy(tape->params);
    sali_program_destroy(tape->program);
    sali_free(tape);
}

/* ---- feasibility: minus the number of forbidden entries that the state selects */

/* Record on `guide` the table node `node` of the program with -1 for each -inf and 0 elsewhere;
 * adds it to *sum. Nothing is recorded for a table without -inf. */
static sal_status count_forbidden(const sali_tape_model *tape, const sali_node *node,
                                  sal_tape *guide, sal_expr *sum)
{
    int32_t T = node->in[1];
    int64_t size = tape->program->steps[T].size;
    const void *values = tape->params->value[T];
    double *marks = SALI_NEW_ARRAY(double, size);
    if (!marks) {
        return SAL_ERR_MEMORY;
    }
    bool any = false;
    for (int64_t k = 0; k < size; k++) {
        marks[k] = sali_load(tape->program->dtype, values, k) == -INFINITY ? -1.0 : 0.0;
        any |= marks[k] != 0;
    }
    if (any) {
        sal_expr s = sal_state(guide), constant = sal_constant(guide, marks, SAL_SHAPE(size));
        sal_expr count = sali_record(guide, &(sali_node_spec){ .op = node->op,
                                                               .n_in = 2,
                                                               .in = (sal_expr[]){ s, constant },
                                                               .n_ints = node->n_ints,
                                                               .ints = node->ints });
        *sum = sum->tape ? sal_add(*sum, count) : count;
    }
    sali_free(marks);
    return SAL_OK;
}

static sal_status tape_feasibility(const sal_model *model, sal_model **out, sal_error *err)
{
    const sali_tape_model *tape = model->content;
    sal_tape *guide = sal_tape_create(model->space, SAL_F64);
    sal_expr sum = { 0 };
    sal_status status = guide ? SAL_OK : sali_fail_memory(err);
    for (int32_t i = 0; status == SAL_OK && i < tape->program->n_nodes; i++) {
        if (tape->program->steps[i].op->next_table) {
            status = count_forbidden(tape, &tape->program->nodes[i], guide, &sum);
            status = status == SAL_OK ? SAL_OK : sali_fail_memory(err);
        }
    }
    *out = NULL;
    if (status == SAL_OK && sum.tape) {
        status = sali_tape_model_create(guide, sum, out, err);
    }
    sal_tape_destroy(guide);
    return status;
}

/* Index, among the values of all tables, of the entry of `table` that `codes` [V] select. */
static int64_t select_entry(const sal_space *space, const int32_t *codes,
                            const sali_op_table *table)
{
    int64_t entry = 0;
    for (int64_t k = 0; k < table->length; k++) {
        int64_t v = table->scope[k];
        entry = entry * space->variables[v].states + codes[v];
    }
    return table->start + entry;
}

/* Factors are numbered through all table ops, in the order of the program's nodes. */
static int64_t tape_violated(const sal_model *model, const int32_t *codes, int64_t most,
                             int64_t *factors)
{
    const sali_tape_model *tape = model->content;
    int64_t found = 0, factor = 0;
    for (int32_t i = 0; i < tape->program->n_nodes; i++) {
        const sali_node *node = &tape->program->nodes[i];
        const sali_op *op = tape->program->steps[i].op;
        sali_op_table table = { .index = -1 };
        while (op->next_table && op->next_table(node, model->space, &table)) {
            const void *T = tape->params->value[node->in[1]];
            int64_t entry = select_entry(model->space, codes, &table);
            if (sali_load(tape->program->dtype, T, entry) == -INFINITY && found < most) {
                factors[found++] = factor;
            }
            factor++;
        }
    }
    return found;
}

static const sali_model_ops tape_ops = {
    .open = tape_open,
    .close = tape_close,
    .value = tape_value,
    .gradient = tape_gradient,
    .feasibility = tape_feasibility,
    .violated = tape_violated,
    .version = tape_version,
    .destroy = tape_destroy,
};

sali_tape_model *sali_model_tape(const sal_model *model)
{
    model = sali_clamp_inner(model);
    return model->ops == &tape_ops ? model->content : NULL;
}

double sali_model_offset(const sal_model *model)
{
    const sali_tape_model *tape = sali_model_tape(model);
    return tape ? tape->params->offset : -0.0;
}

sal_status sali_tape_model_create(const sal_tape *tape, sal_expr f, sal_model **model,
                                  sal_error *err)
{
    sali_tape_model *content = SALI_NEW(sali_tape_model);
    if (!content) {
        return sali_fail_memory(err);
    }
    sal_status status = sali_program_create(tape, f, &content->program, err);
    bool trackable = false;
    if (status == SAL_OK) {
        status = sali_params_create(content->program, &content->params, err);
    }
    if (status == SAL_OK) {
        status = sali_program_is_trackable(content->program, &trackable, err);
    }
    if (status != SAL_OK) {
        tape_destroy(content);
        return status;
    }
    sal_model *made = NULL;
    status = sali_model_create(&tape_ops, content, sali_space_clone(tape->space), tape->dtype,
                               "tape", &made, err);
    if (status == SAL_OK) {
        made->has_gradient = true;
        made->multilinear = sali_program_is_multilinear(content->program);
        made->trackable = trackable;
        made->limited = sali_program_is_limited(content->program);
        *model = made;
    }
    return status;
}

/* ---- users of the parameters */

void sali_model_use(const sal_model *model)
{
    sali_tape_model *tape = sali_model_tape(model);
    int64_t users = tape && tape->users > 0 ? tape->users : 0;
    while (tape && !atomic_compare_exchange_weak(&tape->users, &users, users + 1)) {
        if (users < 0) { /* setting parameters takes a moment */
            sched_yield();
            users = 0;
        }
    }
}

void sali_model_release(const sal_model *model)
{
    sali_tape_model *tape = sali_model_tape(model);
    if (tape) {
        tape->users--;
    }
}

/* ---- parameters */

int64_t sal_model_parameters_size(const sal_model *model)
{
    const sali_tape_model *tape = sali_model_tape(model);
    return tape ? tape->program->parameters_size : 0;
}

const char *sal_model_parameter(const sal_model *model, int64_t index, sal_shape *shape)
{
    const sali_tape_model *tape = sali_model_tape(model);
    if (!tape || index < 0 || index >= tape->program->n_parameters) {
        return NULL;
    }
    const sali_node *node = &tape->program->nodes[tape->program->parameters[index].node];
    if (shape) {
        *shape = node->shape;
    }
    return node->name;
}

/* Set *place to where parameter `name` is in the flat vector; for a NULL name, to the whole vector.
 * Returns: SAL_ERR_NOT_FOUND. */
static sal_status find_place(const sal_model *model, const char *name, sali_parameter *place,
                             sal_error *err)
{
    const sali_tape_model *tape = sali_model_tape(model);
    int32_t p = tape ? sali_program_find(tape->program, name) : -1;
    if (!name) {
        *place = (sali_parameter){ .size = sal_model_parameters_size(model) };
        return SAL_OK;
    }
    if (p >= 0) {
        *place = tape->program->parameters[p];
        return SAL_OK;
    }
    char known[512] = "";
    const char *other;
    for (int64_t k = 0; (other = sal_model_parameter(model, k, NULL)); k++) {
        sali_list_name(known, sizeof known, other);
    }
    return sali_fail(err, SAL_ERR_NOT_FOUND, "%s has no parameter '%s'; it has: %s", model->name,
                     name, known[0] ? known : "none");
}

/* Set *place as find_place does. If it has any elements, also set *flat to the vector of all
 * parameters, which the caller frees. */
static sal_status read_flat(const sal_model *model, const char *name, sali_parameter *place,
                            double **flat, sal_error *err)
{
    sal_status status = find_place(model, name, place, err);
    if (status != SAL_OK || place->size == 0) {
        return status;
    }
    *flat = SALI_NEW_ARRAY(double, sal_model_parameters_size(model));
    if (!*flat) {
        return sali_fail_memory(err);
    }
    sali_params_get(sali_model_tape(model)->params, *flat);
    return SAL_OK;
}

sal_status sal_model_get_params(const sal_model *model, const char *name, double *values,
                                sal_error *err)
{
    sali_parameter place = { 0 };
    double *flat = NULL;
    sali_model_use(model);
    sal_status status = read_flat(model, name, &place, &flat, err);
    sali_model_release(model);
    if (flat) {
        memcpy(values, flat + place.first, (size_t)place.size * sizeof *values);
    }
    sali_free(flat);
    return status;
}

sal_status sal_model_set_params(sal_model *model, const char *name, const double *values,
                                sal_error *err)
{
    sali_parameter place = { 0 };
    double *flat = NULL;
    sali_tape_model *tape = sali_model_tape(model);
    int64_t nobody = 0;
    if (tape && !atomic_compare_exchange_strong(&tape->users, &nobody, -1)) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT,
            "%s is being sampled, and its parameters cannot change meanwhile: wait, or "
            "set those of a model of your own",
            model->name);
    }
    sal_status status = read_flat(model, name, &place, &flat, err);
    if (flat) {
        memcpy(flat + place.first, values, (size_t)place.size * sizeof *values);
        sali_params_set(tape->params, flat);
    }
    sali_free(flat);
    if (tape) {
        tape->users = 0;
    }
    return status;
}
