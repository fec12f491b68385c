/* SPDX-License-Identifier: MIT */
/* Recognition of RBMs with their hidden units summed out, over binary variables or spins, by
 * themselves or beside other terms. */
#include "core/alloc.h"
#include "models/structure/rbm_layers.h"
#include "models/structure/recognise.h"

/* The kinds of variables that the layers draw. */
#define KINDS (1u << SAL_BINARY | 1u << SAL_SPIN)

/* SAL_ERR_UNSUPPORTED unless every hidden unit has weight 1 in f now. For a bridge this holds at
 * its end, and all units have the same weight elsewhere. */
static sal_status check_weights(const sali_tape_model *tape, const sali_rbm_form *form)
{
    sali_sum_reader sum;
    sal_status status = sali_sum_reader_open(tape, &form->sum, &sum);
    for (int64_t k = 0; status == SAL_OK && k < form->units.size; k++) {
        status = sum.weight[k] == 1 ? SAL_OK : SAL_ERR_UNSUPPORTED;
    }
    sali_sum_reader_close(&sum);
    return status;
}

sal_status sali_recognise_layers(sal_model *model, const sali_sum_form *sum, bool bridge)
{
    const sali_tape_model *tape = sali_model_tape(model);
    const sali_program *program = tape->program;
    sali_rbm_form form = { .sum = *sum };
    if (sum->core < 0 || program->steps[sum->core].op->hidden != SALI_HIDES_BITS ||
        !(sum->plain || bridge) || (sali_space_kinds(program->space) & ~KINDS) != 0 ||
        !sali_affine_form_find(program, program->nodes[sum->core].in[0], &form.units)) {
        return SAL_ERR_UNSUPPORTED;
    }
    sal_status status = check_weights(tape, &form);
    sali_rbm_form *data = status == SAL_OK ? sali_memdup(&form, 1, sizeof form) : NULL;
    if (status != SAL_OK || !data) {
        return status ? status : SAL_ERR_MEMORY;
    }
    bool f32 = model->dtype == SAL_F32;
    const sali_structure *layers = f32 ? &sali_rbm_layers_f32 : &sali_rbm_layers_f64;
    if (!sum->plain || sum->rest) {
        layers = f32 ? &sali_weighed_layers_f32 : &sali_weighed_layers_f64;
    }
    sali_model_set_structure(model, layers, data);
    return SAL_OK;
}
