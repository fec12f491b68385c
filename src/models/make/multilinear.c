/* SPDX-License-Identifier: MIT */
#include "models/make/multilinear.h"

#include "ad/polynomial.h"
#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/make/tape_copy.h"
#include "models/tape_model.h"

/* Make a new model of the program, rewritten by SAL_PASS_CANONICAL. */
static sal_status make_canonical(const sali_program *program, sal_model **out, sal_error *err)
{
    sal_tape *tape = sali_tape_reopen(program);
    if (!tape) {
        return sali_fail_memory(err);
    }
    tape->passes |= SAL_PASS_CANONICAL | SAL_PASS_DEAD_CODE;
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
