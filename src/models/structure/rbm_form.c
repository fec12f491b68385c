/* SPDX-License-Identifier: MIT */
/* Recognition of RBMs with their hidden units summed out: bits or spins, whose terms are softplus,
 * Gaussian units, whose terms are squares, or dReLU units. Visible units are of any kind with a
 * bounded number of states. Bits over binary variables or spins may have other terms beside them.
 */
#include "core/alloc.h"
#include "models/base.h"
#include "models/structure/rbm_layers.h"
#include "models/structure/recognise.h"

/* The kinds of variables with two states, whose layers are in rbm_layers.c. */
#define TWO_LEVELS (1u << SAL_BINARY | 1u << SAL_SPIN)

/* SAL_ERR_UNSUPPORTED unless every hidden unit has weight 1 in f now or, if it is Gaussian, the
 * same positive weight as the others. For a bridge this holds at its end, and all units have the
 * same weight elsewhere. */
static sal_status check_weights(const sali_tape_model *tape, sali_rbm_form *form, bool normal)
{
    sali_sum_reader sum;
    sal_status status = sali_sum_reader_open(tape, &form->sum, &sum);
    for (int64_t k = 0; status == SAL_OK && k < form->units.size; k++) {
        const double wanted = normal ? sum.weight[0] : 1;
        status = sum.weight[k] == wanted && wanted > 0 ? SAL_OK : SAL_ERR_UNSUPPORTED;
    }
    form->end = status == SAL_OK ? sum.weight[0] : 0;
    sali_sum_reader_close(&sum);
    return status;
}

/* A copy of a form, in one block of memory with the kinks of a bridge from `log_base`, or without
 * kinks (NULL); NULL: no memory. */
static sali_rbm_form *copy_form(const sal_space *space, const sali_rbm_form *form,
                                const double *log_base)
{
    const int64_t kinks = log_base ? space->n_states : 0;
    const size_t bytes = sizeof *form + (size_t)kinks * sizeof *form->kinks;
    sali_rbm_form *copy = sali_alloc(1, bytes);
    if (copy) {
        *copy = *form;
    }
    if (copy && log_base) {
        double *at = (double *)(copy + 1);
        sali_base_kinks(space, log_base, at);
        copy->kinks = at;
    }
    return copy;
}

/* The layers of a form in models of this type: `weighed` for weights that vary, or a rest. */
static const sali_structure *layers_of(sali_hidden hidden, bool two_levels, bool weighed, bool f32)
{
    if (hidden == SALI_HIDES_NORMAL) {
        return f32 ? &sali_normal_layers_f32 : &sali_normal_layers_f64;
    }
    if (hidden == SALI_HIDES_DRELU) {
        return weighed ? f32 ? &sali_weighed_drelu_layers_f32 : &sali_weighed_drelu_layers_f64
               : f32   ? &sali_drelu_layers_f32
                       : &sali_drelu_layers_f64;
    }
    if (two_levels) {
        return weighed ? f32 ? &sali_weighed_layers_f32 : &sali_weighed_layers_f64
               : f32   ? &sali_rbm_layers_f32
                       : &sali_rbm_layers_f64;
    }
    return weighed ? f32 ? &sali_weighed_softmax_layers_f32 : &sali_weighed_softmax_layers_f64
           : f32   ? &sali_softmax_layers_f32
                   : &sali_softmax_layers_f64;
}

sal_status sali_recognise_layers(sal_model *model, const sali_sum_form *sum, const double *log_base)
{
    const sali_tape_model *tape = sali_model_tape(model);
    const sali_program *program = tape->program;
    sali_rbm_form form = { .sum = *sum };
    const sali_hidden hidden =
        sum->core >= 0 ? program->steps[sum->core].op->hidden : SALI_HIDES_NOTHING;
    const bool normal = hidden == SALI_HIDES_NORMAL, drelu = hidden == SALI_HIDES_DRELU;
    const bool two_levels = (sali_space_kinds(program->space) & ~TWO_LEVELS) == 0;
    /* only what a bridge adds */
    const bool rest = sum->rest && (normal || drelu || !two_levels);
    if (!(normal || drelu || hidden == SALI_HIDES_BITS) || !(sum->plain || log_base) ||
        program->space->unbounded || (rest && !log_base) ||
        !sali_affine_form_find(program, program->nodes[sum->core].in[0], &form.units)) {
        return SAL_ERR_UNSUPPORTED;
    }
    sal_status status = check_weights(tape, &form, normal);
    sali_rbm_form *data =
        status == SAL_OK ? copy_form(program->space, &form, rest ? log_base : NULL) : NULL;
    if (status != SAL_OK || !data) {
        return status ? status : SAL_ERR_MEMORY;
    }
    const bool weighed = !sum->plain || sum->rest; /* bridges of all kinds are weighed */
    sali_model_set_structure(model, layers_of(hidden, two_levels, weighed, model->dtype == SAL_F32),
                             data);
    return SAL_OK;
}
