/* SPDX-License-Identifier: MIT */
#include "models/make/tape_copy.h"

#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"

/* The formula of a program on a tape of type `dtype`; NULL when out of memory. */
static sal_tape *reopen_tape(const sali_program *program, const sal_space *space, sal_dtype dtype)
{
    sal_tape *tape = sal_tape_create(space, dtype);
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

sal_tape *sali_tape_reopen(const sali_program *program)
{
    return reopen_tape(program, program->space, program->dtype);
}

sal_tape *sali_tape_reopen_over(const sali_program *program, const sal_space *space)
{
    return reopen_tape(program, space, program->dtype);
}

sal_status sali_tape_model_remake(const sal_model *of, const sal_tape *tape, sal_expr f,
                                  sal_model **out, sal_error *err)
{
    const sali_tape_model *content = sali_model_tape(of);
    double *flat = SALI_NEW_ARRAY(double, content->program->parameters_size);
    sal_model *made = NULL;
    sal_status status = flat ? SAL_OK : sali_fail_memory(err);
    status = status ? status : sal_model_from_tape(tape, f, &made, err);
    status = status ? status : sal_model_set_name(made, of->name, err);
    if (status == SAL_OK) {
        sali_params_get(content->params, flat);
        sali_params_set(sali_model_tape(made)->params, flat);
        *out = made;
    } else {
        sal_model_destroy(made);
    }
    sali_free(flat);
    return status;
}

/* A model of the tape of `of`, unclamped, in type `dtype`, with `passes` added to the tape's own
 * and the same name and values of parameters. */
static sal_status copy_model(const sal_model *of, uint32_t passes, sal_dtype dtype, sal_model **out,
                             sal_error *err)
{
    const sali_program *program = sali_model_tape(of)->program;
    sal_tape *tape = reopen_tape(program, program->space, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    tape->passes |= passes;
    sal_status status = sali_tape_model_remake(
        of, tape, (sal_expr){ .tape = tape, .node = program->output }, out, err);
    sal_tape_destroy(tape);
    return status;
}

sal_status sali_tape_model_copy(const sal_model *of, sal_model **out, sal_error *err)
{
    return copy_model(of, 0, of->dtype, out, err);
}

sal_status sali_tape_model_canonical(const sal_model *of, sal_model **out, sal_error *err)
{
    return copy_model(of, SAL_PASS_CANONICAL | SAL_PASS_DEAD_CODE, of->dtype, out, err);
}

sal_status sali_tape_model_bare(const sal_model *of, sal_model **out, sal_error *err)
{
    sal_model *made = NULL;
    *out = NULL;
    if (!sali_model_tape(of)) {
        return SAL_OK;
    }
    sal_status status = copy_model(of, 0, SAL_F64, &made, err);
    if (status == SAL_OK && isfinite(sali_model_offset(made))) {
        sali_model_tape(made)->params->offset = -0.0;
    }
    if (status != SAL_OK || sali_clamp_inner(of) == of) {
        *out = made;
        return status;
    }
    status = sali_clamp_alike(of, made, out, err);
    sal_model_destroy(made);
    return status;
}
