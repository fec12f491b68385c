/* SPDX-License-Identifier: MIT */
#include "ad/tape.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

/* Most elements of one node: far above any model, and products of two such numbers cannot
 * overflow. */
#define MAX_ELEMENTS (INT64_C(1) << 31)

sal_tape *sal_tape_create(const sal_space *space, sal_dtype dtype)
{
    sal_tape *tape = SALI_NEW(sal_tape);
    if (!tape) {
        return NULL;
    }
    tape->dtype = dtype;
    tape->passes = SAL_PASS_DEFAULT;
    if (space && space->n_variables > 0) {
        tape->space = sali_space_clone(space);
        if (!tape->space) {
            sali_free(tape);
            return NULL;
        }
    } else {
        tape->status = sali_fail(&tape->error, SAL_ERR_ARGUMENT,
                                 "sal_tape_create: the space has no variables");
    }
    if (dtype != SAL_F32 && dtype != SAL_F64) {
        tape->status =
            sali_fail(&tape->error, SAL_ERR_ARGUMENT,
                      "sal_tape_create: dtype %d; expected SAL_F32 or SAL_F64", (int)dtype);
    }
    return tape;
}

void sali_node_clear(sali_node *node)
{
    sali_free(node->in);
    sali_free(node->ints);
    sali_free(node->reals);
    sali_free(node->name);
    memset(node, 0, sizeof *node);
}

bool sali_node_copy(sali_node *to, const sali_node *from, const int32_t *map)
{
    *to = *from;
    to->in = sali_memdup(from->in, from->n_in, sizeof *from->in);
    to->ints = sali_memdup(from->ints, from->n_ints, sizeof *from->ints);
    to->reals = sali_memdup(from->reals, from->n_reals, sizeof *from->reals);
    to->name = sali_strdup(from->name);
    if (!to->in || !to->ints || !to->reals || (from->name && !to->name)) {
        sali_node_clear(to);
        return false;
    }
    for (int32_t k = 0; map && k < to->n_in; k++) {
        to->in[k] = map[to->in[k]];
    }
    return true;
}

sal_tape *sali_tape_clone(const sal_tape *tape)
{
    sal_tape *clone = sal_tape_create(tape->space, tape->dtype);
    if (!clone) {
        return NULL;
    }
    clone->passes = tape->passes;
    bool good = sali_grow((void **)&clone->nodes, &clone->nodes_room, tape->n_nodes,
                          sizeof(sali_node)) == 0;
    while (good && clone->n_nodes < tape->n_nodes) {
        good = sali_node_copy(&clone->nodes[clone->n_nodes], &tape->nodes[clone->n_nodes], NULL);
        clone->n_nodes += good;
    }
    if (!good) {
        sal_tape_destroy(clone);
        return NULL;
    }
    return clone;
}

int32_t sali_tape_keep(sal_tape *tape, int64_t i, const int32_t *map)
{
    sali_node node = tape->nodes[i];
    for (int32_t k = 0; k < node.n_in; k++) {
        node.in[k] = map[node.in[k]];
    }
    tape->nodes[tape->n_nodes] = node;
    return (int32_t)tape->n_nodes++;
}

void sal_tape_destroy(sal_tape *tape)
{
    if (!tape) {
        return;
    }
    for (int64_t i = 0; i < tape->n_nodes; i++) {
        sali_node_clear(&tape->nodes[i]);
    }
    sali_free(tape->nodes);
    sal_space_destroy(tape->space);
    sali_free(tape);
}

sal_status sal_tape_check(const sal_tape *tape, sal_error *err)
{
    if (!tape) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "the tape is NULL (out of memory?)");
    }
    if (tape->status != SAL_OK && err) {
        *err = tape->error;
    }
    return tape->status;
}

sal_shape sal_expr_shape(sal_expr a)
{
    if (!a.tape || a.node < 0) {
        return (sal_shape){ .rank = -1 };
    }
    return a.tape->nodes[a.node].shape;
}

sal_expr sali_record_error(sal_tape *tape, const char *file, int line, sal_status status,
                           const char *message)
{
    if (tape && tape->status == SAL_OK) {
        tape->status = file && file[0]
                           ? sali_fail(&tape->error, status, "%s:%d: %s", file, line, message)
                           : sali_fail(&tape->error, status, "%s", message);
    }
    return (sal_expr){ .tape = tape, .node = -1 };
}

/* Inputs must be valid expressions of this tape. */
static bool inputs_are_good(sal_tape *tape, const sali_node_spec *spec)
{
    for (int32_t k = 0; k < spec->n_in; k++) {
        if (spec->in[k].tape != tape) {
            sali_record_error(tape, spec->file, spec->line, SAL_ERR_ARGUMENT,
                              "expressions of two tapes are mixed");
            return false;
        }
        if (spec->in[k].node < 0 || spec->in[k].node >= tape->n_nodes) {
            sali_record_error(tape, spec->file, spec->line, SAL_ERR_ARGUMENT,
                              "an invalid expression is used");
            return false;
        }
    }
    return true;
}

/* Fill a node with copies of what `spec` lists; `infer_shape` sets the shape and whether inputs
 * vary. False: out of memory, and the caller clears the node. */
static bool fill_node(sali_node *node, const sali_node_spec *spec)
{
    *node = (sali_node){
        .op = spec->op,
        .n_in = spec->n_in,
        .in = SALI_NEW_ARRAY(int32_t, spec->n_in),
        .n_ints = spec->n_ints,
        .ints = sali_memdup(spec->ints, spec->n_ints, sizeof(int64_t)),
        .n_reals = spec->n_reals,
        .reals = sali_memdup(spec->reals, spec->n_reals, sizeof(double)),
        .name = sali_strdup(spec->name),
        .file = spec->file ? spec->file : "",
        .line = spec->line,
        .varying = spec->op == SALI_OP_state,
    };
    if (spec->shape) {
        node->shape = *spec->shape;
    }
    for (int32_t k = 0; node->in && k < spec->n_in; k++) {
        node->in[k] = spec->in[k].node;
    }
    return node->in && node->ints && node->reals && (!spec->name || node->name);
}

/* Fail unless the shape of a node has 1 to MAX_ELEMENTS elements. */
static sal_status check_size(const sali_node *node, sal_error *err)
{
    double size = 1;
    for (int32_t i = 0; i < node->shape.rank; i++) {
        size *= (double)node->shape.dim[i];
    }
    char text[SALI_SHAPE_TEXT];
    if (!(size >= 1 && size <= (double)MAX_ELEMENTS)) {
        return sali_fail(err, SAL_ERR_SHAPE, "%s: shape %s has no elements or too many",
                         sali_op_f64(node->op)->name, sali_shape_text(&node->shape, text));
    }
    return SAL_OK;
}

/* Whether bit k of an op's mask of inputs is set. */
static bool is_in(uint32_t mask, int32_t k)
{
    return k < 32 && ((mask >> k) & 1);
}

/* Fail if an input that must not depend on the state does. */
static sal_status check_inputs(const sali_node *node, const sali_shape_context *context)
{
    const sali_op *op = sali_op_f64(node->op);
    for (int32_t k = 0; k < node->n_in; k++) {
        if (is_in(op->param_inputs, k) && context->in[k]->varying) {
            return sali_fail(context->err, SAL_ERR_ARGUMENT,
                             "%s: input %d must not depend on the state", op->name, k);
        }
    }
    return SAL_OK;
}

/* Fail unless every input that must be symmetric is a symmetrise node: kernels and gradients of the
 * op rely on the symmetry. */
static sal_status check_symmetry(const sali_node *node, const sali_shape_context *context)
{
    const sali_op *op = sali_op_f64(node->op);
    for (int32_t k = 0; k < node->n_in; k++) {
        if (is_in(op->symmetric_inputs, k) && context->in[k]->op != SALI_OP_symmetrise) {
            return sali_fail(context->err, SAL_ERR_ARGUMENT, "%s: input %d is no symmetrise node",
                             op->name, k);
        }
    }
    return SAL_OK;
}

/* Set the shape of a node by its op's shape rule, and whether the node varies; check what all ops
 * must obey. */
static sal_status infer_shape(sal_tape *tape, sali_node *node, sal_error *err)
{
    const sali_node **in = SALI_NEW_ARRAY(const sali_node *, node->n_in);
    if (!in) {
        return sali_fail_memory(err);
    }
    for (int32_t k = 0; k < node->n_in; k++) {
        in[k] = &tape->nodes[node->in[k]];
        node->varying |= in[k]->varying;
    }
    sali_shape_context context = { .space = tape->space, .in = in, .err = err };
    sal_status status = check_inputs(node, &context);
    status = status == SAL_OK ? sali_op_f64(node->op)->shape(node, &context) : status;
    status = status == SAL_OK ? check_symmetry(node, &context) : status;
    sali_free(in);
    return status == SAL_OK ? check_size(node, err) : status;
}

sal_expr sali_record(sal_tape *tape, const sali_node_spec *spec)
{
    sal_expr invalid = { .tape = tape, .node = -1 };
    if (!tape || tape->status != SAL_OK || !inputs_are_good(tape, spec)) {
        return invalid;
    }
    if (!sali_arity_fits(sali_op_f64(spec->op), spec->n_in) || tape->n_nodes >= INT32_MAX) {
        return sali_record_error(tape, spec->file, spec->line, SAL_ERR_ARGUMENT,
                                 "wrong number of inputs");
    }
    sali_node node;
    if (sali_grow((void **)&tape->nodes, &tape->nodes_room, tape->n_nodes + 1, sizeof(sali_node)) !=
        0) {
        return sali_record_error(tape, spec->file, spec->line, SAL_ERR_MEMORY, "out of memory");
    }
    if (!fill_node(&node, spec)) {
        sali_node_clear(&node);
        return sali_record_error(tape, spec->file, spec->line, SAL_ERR_MEMORY, "out of memory");
    }
    sal_error error = { 0 };
    sal_status status = infer_shape(tape, &node, &error);
    if (status != SAL_OK) {
        sali_node_clear(&node);
        return sali_record_error(tape, spec->file, spec->line, status, error.message);
    }
    tape->nodes[tape->n_nodes] = node;
    return (sal_expr){ .tape = tape, .node = (int32_t)tape->n_nodes++ };
}
