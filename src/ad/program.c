#include "ad/program.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "ad/layout.h"

/* Mark the nodes that f needs, and all parameters: they keep their places in the flat vector. */
static void mark_live(const sal_tape *tape, int32_t output, bool *live)
{
    live[output] = true;
    for (int64_t i = tape->n_nodes - 1; i >= 0; i--) {
        const sali_node *node = &tape->nodes[i];
        live[i] |= node->op == SALI_OP_param;
        for (int32_t k = 0; live[i] && k < node->n_in; k++) {
            live[node->in[k]] = true;
        }
    }
}

/* Copy the live nodes, in order. */
static sal_status copy_live(sali_program *program, const sal_tape *tape, int32_t output,
                            sal_error *err)
{
    sal_status status = SAL_ERR_MEMORY;
    bool *live = SALI_NEW_ARRAY(bool, tape->n_nodes);
    int32_t *map = SALI_NEW_ARRAY(int32_t, tape->n_nodes);
    program->nodes = SALI_NEW_ARRAY(sali_node, tape->n_nodes);
    program->steps = SALI_NEW_ARRAY(sali_step, tape->n_nodes);
    if (!live || !map || !program->nodes || !program->steps) {
        goto done;
    }
    mark_live(tape, output, live);
    for (int64_t i = 0; i < tape->n_nodes; i++) {
        if (live[i]) {
            if (!sali_node_copy(&program->nodes[program->n_nodes], &tape->nodes[i], map)) {
                goto done;
            }
            map[i] = program->n_nodes++;
        }
    }
    program->output = map[output];
    status = SAL_OK;
done:
    sali_free(live);
    sali_free(map);
    return status == SAL_OK ? SAL_OK : sali_fail_memory(err);
}

/* Sizes, degrees, paths and plan of node i, from those of its inputs. `degrees` has room for the
 * inputs'. */
static sal_status make_step(sali_program *program, int32_t i, sali_degree *degrees, sal_error *err)
{
    const sali_node *node = &program->nodes[i];
    const sali_op *op = sali_op_of(program->dtype, node->op);
    sali_step *step = &program->steps[i];
    *step = (sali_step){
        .op = op,
        .in = SALI_NEW_ARRAY(const sali_node *, node->n_in),
        .size = sali_shape_size(&node->shape),
        .state_path = node->varying,
        .param_path = node->op == SALI_OP_param,
        .storage = op->alias ? program->steps[node->in[0]].storage : i,
    };
    if (!step->in) {
        return sali_fail_memory(err);
    }
    for (int32_t k = 0; k < node->n_in; k++) {
        step->in[k] = &program->nodes[node->in[k]];
        degrees[k] = program->steps[node->in[k]].degree;
        step->param_path |= program->steps[node->in[k]].param_path;
    }
    if (!node->varying) {
        step->degree = SALI_CONSTANT;
    } else {
        step->degree = op->degree ? op->degree(node, step->in, degrees, program->space)
                                  : sali_degree_linear(node, step->in, degrees, program->space);
    }
    if (op->saved_size) {
        step->saved_size = op->saved_size(node, step->in);
    }
    return op->plan_create ? op->plan_create(node, step->in, program->space, &step->plan, err)
                           : SAL_OK;
}

static sal_status make_steps(sali_program *program, sal_error *err)
{
    for (int32_t i = 0; i < program->n_nodes; i++) {
        int32_t n_in = program->nodes[i].n_in;
        program->max_inputs = n_in > program->max_inputs ? n_in : program->max_inputs;
    }
    sali_degree *degrees = SALI_NEW_ARRAY(sali_degree, program->max_inputs);
    sal_status status = degrees ? SAL_OK : sali_fail_memory(err);
    for (int32_t i = 0; status == SAL_OK && i < program->n_nodes; i++) {
        status = make_step(program, i, degrees, err);
    }
    sali_free(degrees);
    return status;
}

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
    status = program->space ? copy_live(program, tape, f.node, err) : sali_fail_memory(err);
    if (status == SAL_OK) {
        sali_choose_layouts(program);
    }
    status = status == SAL_OK ? make_steps(program, err) : status;
    status = status == SAL_OK ? list_parameters(program, err) : status;
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
    sali_free(program->nodes);
    sali_free(program->steps);
    sali_free(program->parameters);
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

bool sali_program_is_multilinear(const sali_program *program)
{
    return program->steps[program->output].degree <= SALI_MULTILINEAR;
}
