/* SPDX-License-Identifier: MIT */
#include "models/structure/multilinear.h"

#include "ad/polynomial.h"
#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/tape_model.h"

/* The nodes of a program as a tape, with one pass more; NULL when out of memory. */
static sal_tape *canonical_tape(const sali_program *program)
{
    sal_tape *tape = sal_tape_create(program->space, program->dtype);
    bool good = tape && sali_grow((void **)&tape->nodes, &tape->nodes_room, program->n_nodes,
                                  sizeof *tape->nodes) == 0;
    for (int32_t i = 0; good && i < program->n_nodes; i++) {
        good = sali_node_copy(&tape->nodes[i], &program->nodes[i], NULL);
        tape->n_nodes += good;
    }
    if (!good) {
        sal_tape_destroy(tape);
        return NULL;
    }
    tape->passes = program->passes | SAL_PASS_CANONICAL | SAL_PASS_DEAD_CODE;
    return tape;
}

static sal_status make_canonical(const sali_program *program, sal_model **out, sal_error *err)
{
    sal_tape *tape = canonical_tape(program);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr f = { .tape = tape, .node = program->output };
    sal_status status = sal_model_from_tape(tape, f, out, err);
    sal_tape_destroy(tape);
    return status;
}

sal_status sali_multilinear_form(sal_model *model, sal_model **out, sal_error *err)
{
    const sali_tape_model *tape = sali_model_tape(model);
    sal_model *form = NULL;
    *out = NULL;
    if (!tape || sali_clamp_inner(model) != model || !sali_program_is_quadratic(tape->program) ||
        sali_program_forbids(tape->program, tape->params)) {
        return SAL_OK;
    }
    if (model->multilinear) {
        *out = sali_model_hold(model);
        return SAL_OK;
    }
    sal_status status = make_canonical(tape->program, &form, err);
    if (status == SAL_OK && form->multilinear &&
        sali_program_is_quadratic(sali_model_tape(form)->program)) {
        *out = form;
        return SAL_OK;
    }
    sal_model_destroy(form);
    return status;
}
