/* SPDX-License-Identifier: MIT */
/* Tape models made again from a tape model's program. */
#include "core/alloc.h"
#include "core/error.h"
#include "models/tape_model.h"

sal_tape *sali_tape_reopen(const sali_program *program)
{
    sal_tape *tape = sal_tape_create(program->space, program->dtype);
    if (!tape) {
        return NULL;
    }
    tape->passes = program->passes;
    bool good = sali_grow((void **)&tape->nodes, &tape->nodes_room, program->n_nodes,
                          sizeof(sali_node)) == 0;
    while (good && tape->n_nodes < program->n_nodes) {
        good = sali_node_copy(&tape->nodes[tape->n_nodes], &program->nodes[tape->n_nodes], NULL);
        tape->n_nodes += good;
    }
    if (!good) {
        sal_tape_destroy(tape);
        return NULL;
    }
    return tape;
}

static sal_status copy(const sal_model *of, uint32_t passes, sal_model **out, sal_error *err)
{
    const sali_tape_model *content = sali_model_tape(of);
    sal_tape *tape = sali_tape_reopen(content->program);
    double *flat = SALI_NEW_ARRAY(double, content->program->parameters_size);
    sal_model *made = NULL;
    sal_status status = tape && flat ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK) {
        tape->passes |= passes;
        sal_expr f = { .tape = tape, .node = content->program->output };
        status = sal_model_from_tape(tape, f, &made, err);
        status = status ? status : sal_model_set_name(made, of->name, err);
    }
    if (status == SAL_OK) {
        sali_params_get(content->params, flat);
        sali_params_set(sali_model_tape(made)->params, flat);
        *out = made;
    } else {
        sal_model_destroy(made);
    }
    sal_tape_destroy(tape);
    sali_free(flat);
    return status;
}

sal_status sali_tape_model_copy(const sal_model *of, sal_model **out, sal_error *err)
{
    return copy(of, 0, out, err);
}

sal_status sali_tape_model_canonical(const sal_model *of, sal_model **out, sal_error *err)
{
    return copy(of, SAL_PASS_CANONICAL | SAL_PASS_DEAD_CODE, out, err);
}
