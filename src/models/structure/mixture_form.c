/* SPDX-License-Identifier: MIT */
/* Recognition of mixtures of independent variables, f = log sum_k exp(c_k + W_k x). */
#include "core/alloc.h"
#include "models/structure/affine_form.h"
#include "models/structure/product_draws.h"
#include "models/structure/recognise.h"
#include "models/structure/sum_form.h"

static int64_t count_components(const sal_model *model)
{
    return ((const sali_affine_form *)model->structure_data)->size;
}

/* Set log_weight [K] to c, and log_table [K x R] to the values of W_k x for each state of each
 * variable. */
static sal_status read_mixture(const sal_model *model, double *log_weight, double *log_table,
                               sal_error *err)
{
    const sali_affine_form *form = model->structure_data;
    const sali_params *params = sali_model_tape(model)->params;
    const sal_space *space = model->space;
    const void *W = params->value[form->W];
    (void)err;
    sali_affine_form_bias(form, params, log_weight);
    for (int64_t k = 0; k < form->size; k++) {
        for (int64_t i = 0; i < space->n_variables; i++) {
            const sali_variable *v = &space->variables[i];
            int64_t first = k * space->width + v->offset;
            for (int32_t s = 0; s < v->states; s++) {
                bool one_hot = v->kind == SAL_CATEGORICAL;
                double real = one_hot ? 1 : sali_level(v, s);
                *log_table++ =
                    form->factor * real * sali_load(model->dtype, W, first + (one_hot ? s : 0));
            }
        }
    }
    return SAL_OK;
}

static const struct sali_products_rule rule = { count_components, read_mixture };

sal_status sali_recognise_mixture(sal_model *model, const sali_sum_form *sum)
{
    const sali_program *program = sali_model_tape(model)->program;
    int32_t i = program->steps[program->output].storage;
    sali_affine_form form;
    if (i != sum->core || program->steps[i].op->hidden != SALI_HIDES_INDEX ||
        program->space->unbounded ||
        !sali_affine_form_find(program, program->nodes[i].in[0], &form)) {
        return SAL_ERR_UNSUPPORTED;
    }
    sali_affine_form *data = sali_memdup(&form, 1, sizeof form);
    if (!data) {
        return SAL_ERR_MEMORY;
    }
    model->products = &rule;
    sali_model_set_structure(model, &sali_product_draws, data);
    return SAL_OK;
}
