/* SPDX-License-Identifier: MIT */
#include "models/structure/recognise.h"

#include "core/error.h"
#include "models/structure/sum_form.h"

/* Give the model the structure of the first form that f has; SAL_ERR_UNSUPPORTED: none. */
static sal_status recognise_form(sal_model *model, const sali_sum_form *form,
                                 const double *log_base)
{
    sal_status status = sali_recognise_layers(model, form, log_base);
    if (form->rest) {
        return status;
    }
    status = status == SAL_ERR_UNSUPPORTED ? sali_recognise_chain(model, form) : status;
    status = status == SAL_ERR_UNSUPPORTED ? sali_recognise_chains(model, form) : status;
    return status == SAL_ERR_UNSUPPORTED ? sali_recognise_mixture(model, form) : status;
}

sal_status sali_structure_recognise(sal_model *model, const double *log_base, sal_error *err)
{
    const sali_tape_model *tape = sali_model_tape(model);
    sali_sum_form form;
    if (tape->program->state < 0) {
        return SAL_OK;
    }
    sal_status status = sali_sum_form_find(tape, &form);
    status = status == SAL_OK ? recognise_form(model, &form, log_base) : status;
    return status == SAL_ERR_MEMORY ? sali_fail_memory(err) : SAL_OK;
}
