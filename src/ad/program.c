/* SPDX-License-Identifier: MIT */
#include "ad/program.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "ad/layout.h"
#include "ad/passes.h"

/* Store the degree of every node in the state, degree [n_nodes]. Returns: SAL_ERR_MEMORY. */
static sal_status infer_degrees(const sal_tape *tape, sali_degree *degree)
{
    int32_t most = 0;
    for (int64_t i = 0; i < tape->n_nodes; i++) {
        most = tape->nodes[i].n_in > most ? tape->nodes[i].n_in : most;
    }
    const sali_node **in = SALI_NEW_ARRAY(const sali_node *, most);
    sali_degree *in_degree = SALI_NEW_ARRAY(sali_degree, most);
    sal_status status = in && in_degree ? SAL_OK : SAL_ERR_MEMORY;
    for (int64_t i = 0; status == SAL_OK && i < tape->n_nodes; i++) {
        const sali_node *node = &tape->nodes[i];
        const sali_op *op = sali_op_of(tape->dtype, node->op);
        for (int32_t k = 0; k < node->n_in; k++) {
            in[k] = &tape->nodes[node->in[k]];
            in_degree[k] = degree[node->in[k]];
        }
        degree[i] = !node->varying ? SALI_CONSTANT
                    : op->degree   ? op->degree(node, in, in_degree, tape->space)
                                   : sali_degree_linear(node, in, in_degree, tape->space);
    }
    sali_free(in);
    sali_free(in_degree);
    return status;
}

/* Fill `listing` with copies of a tape's nodes, without their numbers, and with their degrees.
 * Returns: SAL_ERR_MEMORY. */
static sal_status make_listing(const sal_tape *tape, int32_t output, sali_listing *listing)
{
    listing->nodes = SALI_NEW_ARRAY(sali_node, tape->n_nodes);
    listing->degree = SALI_NEW_ARRAY(sali_degree, tape->n_nodes);
    listing->output = output;
    if (!listing->nodes || !listing->degree) {
        return SAL_ERR_MEMORY;
    }
    for (; listing->n_nodes < tape->n_nodes; listing->n_nodes++) {
        sali_node bare = tape->nodes[listing->n_nodes];
        bare.n_ints = bare.n_reals = 0;
        if (!sali_node_copy(&listing->nodes[listing->n_nodes], &bare, NULL)) {
            return SAL_ERR_MEMORY;
        }
    }
    return infer_degrees(tape, listing->degree);
}

static void clear_listing(sali_listing *listing)
{
    for (int32_t i = 0; i < listing->n_nodes; i++) {
        sali_node_clear(&listing->nodes[i]);
    }
    sali_free(listing->nodes);
    sali_free(listing->degree);
}

/* Run the passes on a copy of the tape, and move the nodes that they leave to the program, with
 * their degrees. */
static sal_status take_nodes(sali_program *program, const sal_tape *tape, int32_t output,
                             sal_error *err)
{
    sal_tape *work = sali_tape_clone(tape);
    sali_degree *degree = NULL;
    sal_status status = work ? make_listing(work, output, &program->recorded) : SAL_ERR_MEMORY;
    if (status != SAL_OK) {
        sali_fail_memory(err);
        goto done;
    }
    status = sali_passes_run(work, work->passes, &output, err);
    if (status != SAL_OK) {
        goto done;
    }
    degree = SALI_NEW_ARRAY(sali_degree, work->n_nodes);
    program->steps = SALI_NEW_ARRAY(sali_step, work->n_nodes);
    status = degree && program->steps ? infer_degrees(work, degree) : SAL_ERR_MEMORY;
    if (status != SAL_OK) {
        sali_fail_memory(err);
        goto done;
    }
    for (int64_t i = 0; i < work->n_nodes; i++) {
        program->steps[i].degree = degree[i];
    }
    program->passes = work->passes;
    program->output = output;
    program->nodes = work->nodes;
    program->n_nodes = (int32_t)work->n_nodes;
    work->nodes = NULL;
    work->n_nodes = 0;
done:
    sali_free(degree);
    sal_tape_destroy(work);
    return status;
}

/* Fill the step of node i, from the steps of its inputs. */
static sal_status make_step(sali_program *program, int32_t i, sal_error *err)
{
    const sali_node *node = &program->nodes[i];
    const sali_op *op = sali_op_of(program->dtype, node->op);
    sali_step *step = &program->steps[i];
    step->op = op;
    step->in = SALI_NEW_ARRAY(const sali_node *, node->n_in);
    step->size = sali_shape_size(&node->shape);
    step->state_path = node->varying;
    step->param_path = node->op == SALI_OP_param;
    step->storage = op->alias ? program->steps[node->in[0]].storage : i;
    if (!step->in) {
        return sali_fail_memory(err);
    }
    for (int32_t k = 0; k < node->n_in; k++) {
        step->in[k] = &program->nodes[node->in[k]];
        step->param_path |= program->steps[node->in[k]].param_path;
    }
    if (op->saved_size) {
        step->saved_size = op->saved_size(node, step->in);
    }
    return op->plan_create ? op->plan_create(node, step->in, program->space, &step->plan, err)
                           : SAL_OK;
}

/* Fill the steps of all nodes, in program order; count the inputs of nodes. */
static sal_status make_steps(sali_program *program, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int32_t i = 0; status == SAL_OK && i < program->n_nodes; i++) {
        int32_t n_in = program->nodes[i].n_in;
        program->max_inputs = n_in > program->max_inputs ? n_in : program->max_inputs;
        program->n_inputs += n_in;
        status = make_step(program, i, err);
    }
    return status;
}

/* List the parameters in program order, with their places in the flat vector; find the state's
 * node. */
static sal_status list_parameters(sali_program *program, sal_error *err)
{
    program->parameters = SALI_NEW_ARRAY(sali_parameter, program->n_nodes);
    if (!program->parameters) {
        return sali_fail_memory(err);
    }
    for (int32_t i = 0; i < program->n_nodes; i++) {
        if (program->nodes[i].op == SALI_OP_param) {
            program->parameters[program->n_parameters++] = (sali_parameter){
                .node = i,
                .first = program->parameters_size,
                .size = program->steps[i].size,
            };
            program->parameters_size += program->steps[i].size;
        } else if (program->nodes[i].op == SALI_OP_state) {
            program->state = i;
        }
    }
    return SAL_OK;
}

/* Which input of node i is a single number to be added to the other input, if the node is a sum
 * that varies; -1: none. */
static int32_t addend_of(const sali_program *program, int32_t i)
{
    const sali_node *node = &program->nodes[i];
    for (int32_t k = 0; node->op == SALI_OP_add && node->varying && k < 2; k++) {
        int32_t j = node->in[k];
        if (!program->nodes[j].varying && program->steps[j].size == 1) {
            return k;
        }
    }
    return -1;
}

/* Set root and addends: from the output on, a sum with a number is left to the end, unless another
 * node reads the sum too. */
static sal_status find_root(sali_program *program, sal_error *err)
{
    int32_t *readers = SALI_NEW_ARRAY(int32_t, program->n_nodes), k;
    program->addends = SALI_NEW_ARRAY(int32_t, program->n_nodes);
    program->root = program->output;
    if (!readers || !program->addends) {
        sali_free(readers);
        return sali_fail_memory(err);
    }
    for (int32_t i = 0; i < program->n_nodes; i++) {
        for (k = 0; k < program->nodes[i].n_in; k++) {
            readers[program->nodes[i].in[k]]++;
        }
    }
    while (readers[program->root] == (program->root != program->output) &&
           (k = addend_of(program, program->root)) >= 0) {
        const sali_node *sum = &program->nodes[program->root];
        program->steps[program->root].in_double = true;
        program->addends[program->n_addends++] = sum->in[k];
        program->root = sum->in[1 - k];
    }
    sali_free(readers);
    return SAL_OK;
}

sal_status sali_program_create(const sal_tape *tape, sal_expr f, sali_program **out, sal_error *err)
{
    sal_status status = sal_tape_check(tape, err);
    if (status != SAL_OK) {
        return status;
    }
    if (f.tape != tape || f.node < 0 || f.node >= tape->n_nodes) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "f is not an expression of this tape");
    }
    const sali_node *node = &tape->nodes[f.node];
    if (sali_shape_size(&node->shape) != 1) {
        char text[SALI_SHAPE_TEXT];
        sali_shape_text(&node->shape, text);
        sal_status wrong =
            sali_fail(err, SAL_ERR_SHAPE, "f has shape %s; expected a scalar (sum it?)", text);
        return node->file[0] ? sali_fail_prefix(err, wrong, "%s:%d", node->file, node->line)
                             : wrong;
    }
    sali_program *program = SALI_NEW(sali_program);
    if (!program) {
        return sali_fail_memory(err);
    }
    program->dtype = tape->dtype;
    program->state = -1;
    program->space = sali_space_clone(tape->space);
    status = program->space ? take_nodes(program, tape, f.node, err) : sali_fail_memory(err);
    if (status == SAL_OK) {
        sali_choose_layouts(program);
    }
    status = status == SAL_OK ? make_steps(program, err) : status;
    status = status == SAL_OK ? list_parameters(program, err) : status;
    status = status == SAL_OK ? find_root(program, err) : status;
    status = status == SAL_OK ? sali_fusion_create(program, &program->fusion, err) : status;
    if (status != SAL_OK) {
        sali_program_destroy(program);
        return status;
    }
    *out = program;
    return SAL_OK;
}

void sali_program_destroy(sali_program *program)
{
    if (!program) {
        return;
    }
    for (int32_t i = 0; i < program->n_nodes; i++) {
        sali_node_clear(&program->nodes[i]);
        sali_free(program->steps[i].plan);
        sali_free(program->steps[i].in);
    }
    clear_listing(&program->recorded);
    sali_fusion_clear(&program->fusion);
    sali_free(program->nodes);
    sali_free(program->steps);
    sali_free(program->parameters);
    sali_free(program->addends);
    sal_space_destroy(program->space);
    sali_free(program);
}

int32_t sali_program_find(const sali_program *program, const char *name)
{
    for (int32_t p = 0; name && p < program->n_parameters; p++) {
        if (strcmp(program->nodes[program->parameters[p].node].name, name) == 0) {
            return p;
        }
    }
    return -1;
}

int64_t sali_program_scratch(const sali_program *program, int64_t chains)
{
    int64_t most = 0;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        const sali_step *step = &program->steps[i];
        int64_t need = step->op->scratch_size
                           ? step->op->scratch_size(&program->nodes[i], step->in, chains)
                           : 0;
        most = need > most ? need : most;
    }
    return most;
}

bool sali_program_is_multilinear(const sali_program *program)
{
    return program->steps[program->output].degree <= SALI_MULTILINEAR;
}

bool sali_program_is_limited(const sali_program *program)
{
    for (int32_t i = 0; i < program->n_nodes; i++) {
        if (program->steps[i].op->limit && program->nodes[i].varying) {
            return true;
        }
    }
    return false;
}

/* Whether node i is an op, such as a matrix product or a convolution, in which one changed element
 * of the input changes many elements of the output. */
static bool is_product(const sali_program *program, int32_t i)
{
    sali_op_reach reach = program->steps[i].op->reach;
    return reach == SALI_REACHES_MANY ||
           (reach == SALI_REACHES_MANY_UNPLANNED && !program->steps[i].plan);
}

/* Whether a move of one variable changes many elements of node i; `dense` has the answers for
 * earlier nodes. A product of a dense node is recomputed whole, and then tracking does not pay. */
static bool becomes_dense(const sali_program *program, int32_t i, const bool *dense)
{
    const sali_node *node = &program->nodes[i];
    bool any = is_product(program, i);
    for (int32_t k = 0; k < node->n_in; k++) {
        any |= dense[node->in[k]];
    }
    return any && program->steps[i].size > 1;
}

sal_status sali_program_is_trackable(const sali_program *program, bool *trackable, sal_error *err)
{
    bool *dense = SALI_NEW_ARRAY(bool, program->n_nodes);
    if (!dense) {
        return sali_fail_memory(err);
    }
    *trackable = program->state >= 0;
    for (int32_t i = 0; *trackable && i < program->n_nodes; i++) {
        const sali_node *node = &program->nodes[i];
        const sali_op *op = program->steps[i].op;
        for (int32_t k = 0; k < node->n_in; k++) {
            *trackable &= !(is_product(program, i) && dense[node->in[k]]);
        }
        *trackable &= !node->varying || node->n_in == 0 || op->alias || op->change;
        dense[i] = becomes_dense(program, i, dense);
    }
    sali_free(dense);
    return SAL_OK;
}
