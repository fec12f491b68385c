/* SPDX-License-Identifier: MIT */
/* The public functions that record expressions. Each is one call of sali_record. */
#include <stdio.h>
#include <string.h>

#include "ad/tape.h"
#include "core/alloc.h"

/* Axis counted from the front; INT64_MAX if it is out of range, which the shape rule refuses. */
static int64_t normal_axis(sal_expr a, int64_t axis)
{
    int32_t rank = sal_expr_shape(a).rank;
    int64_t from_front = axis < 0 && axis >= -rank ? rank + axis : axis;
    return from_front < 0 ? INT64_MAX : from_front;
}

/* Copy the integers of an operation, the first of which may be axes. */
static void copy_ints(const sali_op *op, const sal_operation *o, int64_t *ints)
{
    ints[0] = -1; /* over all elements, unless an axis is given */
    for (int64_t k = 0; k < o->n_ints; k++) {
        ints[k] = k < op->axes ? normal_axis(o->in[0], o->ints[k]) : o->ints[k];
    }
}

/* Record an operation whose arguments were checked; inputs that the op wants symmetric become
 * symmetrise nodes. */
static sal_expr record_operation(const char *file, int line, sali_op_id id, const sal_operation *o,
                                 int64_t n_ints, const int64_t *ints)
{
    enum { MOST = 3 };
    sal_expr fixed[MOST];
    uint32_t symmetric = sali_op_f64(id)->symmetric_inputs;
    for (int32_t k = 0; symmetric && k < o->n_in && k < MOST; k++) {
        bool wanted = symmetric >> k & 1;
        fixed[k] = wanted ? sal_op1_at(file, line, "symmetrise", o->in[k]) : o->in[k];
    }
    return sali_record(o->in[0].tape, &(sali_node_spec){ .op = id,
                                                         .n_in = o->n_in,
                                                         .in = symmetric ? fixed : o->in,
                                                         .n_ints = n_ints,
                                                         .ints = ints,
                                                         .n_reals = o->n_reals,
                                                         .reals = o->reals,
                                                         .file = file,
                                                         .line = line });
}

static sal_expr refuse_operation(const char *file, int line, const sal_operation *o,
                                 const char *why)
{
    char text[120];
    snprintf(text, sizeof text, "%.40s: %s", o->op ? o->op : "operation", why);
    return sali_record_error(o->in[0].tape, file, line, SAL_ERR_ARGUMENT, text);
}

sal_expr sal_operation_at(const char *file, int line, const sal_operation *o)
{
    sali_op_id id;
    if (!o || !o->in || o->n_in < 1) {
        return (sal_expr){ .tape = NULL, .node = -1 };
    }
    if (!o->op || !sali_op_find(o->op, &id)) {
        return refuse_operation(file, line, o,
                                "there is no such operation ('saltus list ops' names them)");
    }
    if (!sali_arity_fits(sali_op_f64(id), o->n_in)) {
        return refuse_operation(file, line, o, "wrong number of inputs");
    }
    if (o->n_ints < 0 || o->n_ints > INT64_MAX / 16 || (o->n_ints > 0 && !o->ints) ||
        o->n_reals < 0 || (o->n_reals > 0 && !o->reals)) {
        return refuse_operation(file, line, o, "a list of attributes is missing");
    }
    const sali_op *op = sali_op_f64(id);
    if (op->axes == 0) {
        return record_operation(file, line, id, o, o->n_ints, o->ints);
    }
    int64_t n_ints = o->n_ints > 0 ? o->n_ints : 1, few[4];
    int64_t *many = n_ints > 4 ? SALI_NEW_ARRAY(int64_t, n_ints) : few;
    if (!many) {
        return sali_record_error(o->in[0].tape, file, line, SAL_ERR_MEMORY, "out of memory");
    }
    copy_ints(op, o, many);
    sal_expr made = record_operation(file, line, id, o, n_ints, many);
    if (many != few) {
        sali_free(many);
    }
    return made;
}

/* The whole embedded state of a tape: one node, whoever asks first. */
static sal_expr whole_state(const char *file, int line, sal_tape *tape)
{
    for (int64_t i = 0; tape && i < tape->n_nodes; i++) {
        if (tape->nodes[i].op == SALI_OP_state) {
            return (sal_expr){ .tape = tape, .node = (int32_t)i };
        }
    }
    return sali_record(tape, &(sali_node_spec){ .op = SALI_OP_state, .file = file, .line = line });
}

sal_expr sal_state_block_at(const char *file, int line, sal_tape *tape, const char *name)
{
    if (!name) {
        return whole_state(file, line, tape);
    }
    for (int64_t b = 0; tape && tape->space && b < tape->space->n_blocks; b++) {
        const sal_block *block = &tape->space->blocks[b];
        if (strcmp(block->name, name) == 0) {
            sal_expr s = whole_state(file, line, tape);
            bool one_hot = block->kind == SAL_CATEGORICAL;
            int64_t length = one_hot ? block->count * block->states : block->count;
            if (tape->space->n_blocks > 1) { /* one block is the state itself, as models know it */
                s = sal_op_ints_at(file, line, "slice", s, 3, 0, tape->space->stretches[b].offset,
                                   length);
            }
            return one_hot ? sal_reshape_at(file, line, s, SAL_SHAPE(block->count, block->states))
                           : s;
        }
    }
    return sali_record_error(tape, file, line, SAL_ERR_ARGUMENT,
                             "state_block: the space has no block of that name");
}

sal_expr sal_param_at(const char *file, int line, sal_tape *tape, const char *name, sal_shape shape)
{
    for (int64_t i = 0; tape && name && i < tape->n_nodes; i++) {
        const sali_node *node = &tape->nodes[i];
        if (node->op == SALI_OP_param && strcmp(node->name, name) == 0) {
            return sali_shape_equal(&node->shape, &shape)
                       ? (sal_expr){ .tape = tape, .node = (int32_t)i }
                       : sali_record_error(tape, file, line, SAL_ERR_SHAPE,
                                           "param: the name exists with another shape");
        }
    }
    return sali_record(
        tape, &(sali_node_spec){
                  .op = SALI_OP_param, .name = name, .shape = &shape, .file = file, .line = line });
}

sal_expr sal_constant_at(const char *file, int line, sal_tape *tape, const double *values,
                         sal_shape shape)
{
    int64_t size = sali_shape_checked_size(&shape);
    return sali_record(tape,
                       &(sali_node_spec){ .op = SALI_OP_constant,
                                          .n_reals = size < 0 ? 0 : size, /* the shape rule fails */
                                          .reals = values,
                                          .shape = &shape,
                                          .file = file,
                                          .line = line });
}

/* The attributes of a table node: n_factors, then for each factor its length and its scope. */
sal_expr sal_table_at(const char *file, int line, sal_tape *tape, sal_expr T, int64_t n_factors,
                      const int64_t *scope_begin, const int64_t *scope)
{
    if (n_factors < 1 || !scope_begin || !scope || scope_begin[0] != 0) {
        return sali_record_error(tape, file, line, SAL_ERR_ARGUMENT,
                                 "table: expected at least one factor, scope_begin from 0");
    }
    for (int64_t m = 0; m < n_factors; m++) {
        if (scope_begin[m + 1] < scope_begin[m]) {
            return sali_record_error(tape, file, line, SAL_ERR_ARGUMENT,
                                     "table: scope_begin must not decrease");
        }
    }
    int64_t n_ints = 1 + n_factors + scope_begin[n_factors], at = 0;
    int64_t *ints = SALI_NEW_ARRAY(int64_t, n_ints);
    if (!ints) {
        return sali_record_error(tape, file, line, SAL_ERR_MEMORY, "out of memory");
    }
    ints[at++] = n_factors;
    for (int64_t m = 0; m < n_factors; m++) {
        int64_t length = scope_begin[m + 1] - scope_begin[m];
        ints[at++] = length;
        memcpy(ints + at, scope + scope_begin[m], (size_t)length * sizeof *ints);
        at += length;
    }
    sal_expr s = whole_state(file, line, tape);
    sal_expr f = sal_operation_at(
        file, line,
        &(sal_operation){
            .op = "table", .n_in = 2, .in = (sal_expr[]){ s, T }, .n_ints = n_ints, .ints = ints });
    sali_free(ints);
    return f;
}

sal_expr sal_gather_at(const char *file, int line, sal_expr a, int axis, int64_t n_indices,
                       const int64_t *indices)
{
    if (n_indices < 1 || n_indices > INT64_MAX / 16 || !indices) {
        return sali_record_error(a.tape, file, line, SAL_ERR_ARGUMENT, "gather: no indices");
    }
    int64_t *ints = SALI_NEW_ARRAY(int64_t, n_indices + 1);
    if (!ints) {
        return sali_record_error(a.tape, file, line, SAL_ERR_MEMORY, "out of memory");
    }
    ints[0] = axis;
    memcpy(ints + 1, indices, (size_t)n_indices * sizeof *ints);
    sal_expr y = sal_operation_at(
        file, line,
        &(sal_operation){
            .op = "gather", .n_in = 1, .in = &a, .n_ints = n_indices + 1, .ints = ints });
    sali_free(ints);
    return y;
}
